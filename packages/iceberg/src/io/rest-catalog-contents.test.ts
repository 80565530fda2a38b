import { describe, expect, it } from 'vitest'
import { connectCatalog } from './rest-catalog-connection.ts'
import { readCatalogContents } from './rest-catalog-contents.ts'
import { registerInCatalog } from './rest-catalog-registration.ts'

type Answers = (path: string) => unknown

/** A catalog that answers by path with JSON, or with a Response; the requests are kept. */
function catalogThat(answers: Answers, config: unknown = {}) {
  const requests: Request[] = []
  const send = async (request: Request): Promise<Response> => {
    requests.push(request)
    const path = request.url.replace('http://catalog/v1/', '')
    const answer = path.startsWith('config') ? config : answers(path)
    return answer instanceof Response ? answer : new Response(JSON.stringify(answer))
  }
  const connection = connectCatalog({ baseUri: 'http://catalog', send })
  const paths = () => requests.map(({ url }) => url.replace('http://catalog/v1/', '')).slice(1)
  return {
    requests,
    paths,
    contents: readCatalogContents(connection),
    registration: registerInCatalog(connection),
  }
}

const all = async <T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> => {
  const items: T[] = []
  for await (const page of pages) items.push(...page)
  return items
}

const DOTTED = { overrides: { 'namespace-separator': '%2E', prefix: 'p' } }
const TABLE = {
  'metadata-location': 's3://lake/t/1.json',
  metadata: { 'table-uuid': 'u', location: 's3://lake/t', 'last-updated-ms': 5 },
}

describe('readCatalogContents', () => {
  it('joins levels as the catalog announces it, in paths and in the parent', async () => {
    const { contents, paths } = catalogThat(() => ({ namespaces: [], identifiers: [] }), DOTTED)
    await all(contents.listNames('table', ['a b', 'c']))
    await all(contents.listNamespaces(['a', 'b']))
    expect(paths()).toEqual([
      'p/namespaces/a%20b%2Ec/tables?pageToken=&pageSize=1000',
      'p/namespaces?pageToken=&pageSize=1000&parent=a%2Eb',
    ])
  })

  it('joins levels that hold the announced separator by U+001F', async () => {
    const { contents, paths } = catalogThat(() => ({ identifiers: [] }), DOTTED)
    await all(contents.listNames('view', ['a.b', 'c']))
    await all(contents.listNames('view', ['a.b']))
    expect(paths().map((path) => path.split('?')[0])).toEqual([
      'p/namespaces/a.b%1Fc/views',
      'p/namespaces/a.b/views',
    ])
  })

  it('follows the pages to the end', async () => {
    const { contents } = catalogThat((path) => {
      const isLast = path.includes('pageToken=more%20')
      const name = isLast ? 'z' : 'a'
      return { identifiers: [{ namespace: ['n'], name }], 'next-page-token': isLast ? '' : 'more ' }
    })
    expect(await all(contents.listNames('table', ['n']))).toEqual(['a', 'z'])
  })

  it('refuses a catalog that gives one page again and again', async () => {
    const { contents } = catalogThat(() => ({ namespaces: [['a']], 'next-page-token': 'x' }))
    await expect(all(contents.listNamespaces([]))).rejects.toThrow('repeats the page "x"')
  })

  it('lists names that this catalog could not hold itself', async () => {
    const { contents } = catalogThat(() => ({ identifiers: [{ namespace: [], name: '' }] }))
    expect(await all(contents.listNames('table', ['n']))).toEqual([''])
  })

  it.each([
    ['nothing', {}, true, false],
    ['an empty list', { endpoints: [] }, true, false],
    ['its routes', { endpoints: ['GET /v1/{prefix}/namespaces/{namespace}/views'] }, false, true],
  ])('knows what a catalog serves that announces %s', async (_, config, tables, views) => {
    const { contents } = catalogThat(() => ({}), config)
    expect(await contents.serves('GET /v1/{prefix}/namespaces/{namespace}/tables')).toBe(tables)
    expect(await contents.serves('GET /v1/{prefix}/namespaces/{namespace}/views')).toBe(views)
  })

  it('tells absent from refused', async () => {
    const { contents } = catalogThat(
      (path) => new Response('{}', { status: path.includes('gone') ? 404 : 403 }),
    )
    const gone = { namespace: ['n'], name: 'gone' }
    expect(await contents.findEntry('table', gone)).toBeUndefined()
    expect(await contents.findNamespace(['gone'])).toBeUndefined()
    expect(await all(contents.listNames('table', ['gone']))).toEqual([])
    await expect(contents.findEntry('table', { ...gone, name: 't' })).rejects.toMatchObject({
      name: 'CatalogRefusedError',
      status: 403,
    })
  })

  it('reads the pointer of a table, and names what is missing of it', async () => {
    const { contents } = catalogThat((path) =>
      path.includes('bare') ? { ...TABLE, metadata: { location: 's3://lake/t' } } : TABLE,
    )
    expect(await contents.findEntry('table', { namespace: ['n'], name: 't' })).toEqual({
      kind: 'table',
      uuid: 'u',
      metadataLocation: 's3://lake/t/1.json',
      location: 's3://lake/t',
      lastUpdatedMs: 5,
      earlierLocations: [],
    })
    const bare = contents.findEntry('table', { namespace: ['n'], name: 'bare' })
    await expect(bare).rejects.toThrow('metadata.table-uuid: expected string, got nothing')
  })
})

describe('registerInCatalog', () => {
  const table = { kind: 'table', identifier: { namespace: ['n'], name: 't' } } as const

  it('asks for an overwrite only when it is wanted', async () => {
    const { registration, requests } = catalogThat(() => TABLE)
    const wanted = { ...table, metadataLocation: 's3://lake/t/1.json' }
    await registration.register({ ...wanted, overwrite: false })
    await registration.register({ ...wanted, overwrite: true })
    const bodies = await Promise.all(requests.slice(1).map((request) => request.json()))
    expect(bodies).toEqual([
      { name: 't', 'metadata-location': 's3://lake/t/1.json' },
      { name: 't', 'metadata-location': 's3://lake/t/1.json', overwrite: true },
    ])
  })

  it.each([
    [409, undefined],
    [400, 'CatalogRefusedError'],
    [503, 'CatalogUnavailableError'],
  ])('takes %i for what it says', async (status, error) => {
    const { registration } = catalogThat(() => new Response('{}', { status }))
    const made = registration.register({ ...table, metadataLocation: 'x', overwrite: false })
    if (error === undefined) expect(await made).toBe('exists')
    else await expect(made).rejects.toMatchObject({ name: error })
  })
})

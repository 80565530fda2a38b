import { describe, expect, it } from 'vitest'
import { createRestCatalog, type SendRequest } from './rest-catalog.ts'

const METADATA = {
  'format-version': 2,
  'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c1',
  location: 'file:///lake/t',
  'last-sequence-number': 0,
  'last-updated-ms': 1,
  'last-column-id': 1,
  'current-schema-id': 0,
  schemas: [
    {
      type: 'struct',
      'schema-id': 0,
      fields: [{ id: 1, name: 'x', required: false, type: 'int' }],
    },
  ],
  'default-spec-id': 0,
  'partition-specs': [{ 'spec-id': 0, fields: [] }],
  'last-partition-id': 999,
  'default-sort-order-id': 0,
  'sort-orders': [{ 'order-id': 0, fields: [] }],
}
const LOADED = JSON.stringify({ 'metadata-location': 'file:///lake/t/m.json', metadata: METADATA })
const CONFIG = JSON.stringify({ defaults: {}, overrides: { prefix: 'a%20b' } })
const TABLE = { namespace: ['n/1', 'ü'], name: 't +' }
const COMMIT = { requirements: [], updates: [] }

/** A catalog whose table route gives one answer; the requests are kept. */
function catalogThat(answer: () => Response): {
  requests: Request[]
  catalog: ReturnType<typeof createRestCatalog>
} {
  const requests: Request[] = []
  const send: SendRequest = async (request) => {
    requests.push(request)
    return request.url.includes('/v1/config') ? new Response(CONFIG) : answer()
  }
  const options = { baseUri: 'http://catalog', warehouse: 'main', token: 'secret', send }
  return { requests, catalog: createRestCatalog(options) }
}

const error = (status: number, message: string): Response =>
  new Response(JSON.stringify({ error: { message, type: 'X', code: status } }), { status })

describe('createRestCatalog', () => {
  it('asks for the prefix once and encodes names of any kind', async () => {
    const { requests, catalog } = catalogThat(() => new Response(LOADED))
    await catalog.loadTable(TABLE)
    const { metadataLocation, metadata } = await catalog.loadTable(TABLE)
    expect(metadataLocation).toBe('file:///lake/t/m.json')
    expect(metadata.location).toBe('file:///lake/t')
    expect(requests.map(({ url }) => url)).toEqual([
      'http://catalog/v1/config?warehouse=main',
      ...Array.from(
        { length: 2 },
        () => 'http://catalog/v1/a%20b/namespaces/n%2F1%1F%C3%BC/tables/t%20%2B',
      ),
    ])
    expect(requests[1]?.headers.get('authorization')).toBe('Bearer secret')
  })

  it('sends the idempotency key with a commit', async () => {
    const { requests, catalog } = catalogThat(() => new Response(LOADED))
    await catalog.commitTable(TABLE, COMMIT, { idempotencyKey: 'k' })
    expect(requests[1]?.headers.get('idempotency-key')).toBe('k')
    expect(await requests[1]?.text()).toBe('{"requirements":[],"updates":[]}')
  })

  it.each([
    [409, 'CommitFailedError', 'lost'],
    [404, 'NoSuchTableError', 'no table n/1.ü.t +: lost'],
    [400, 'CatalogRefusedError', 'cannot use table n/1.ü.t +: the catalog answered 400: lost'],
    [403, 'CatalogRefusedError', 'cannot use table n/1.ü.t +: the catalog answered 403: lost'],
    [500, 'CommitStateUnknownError', 'the commit was answered 500: lost'],
    [503, 'CommitStateUnknownError', 'the commit was answered 503: lost'],
  ])('turns a commit answered %i into %s', async (status, name, message) => {
    const { catalog } = catalogThat(() => error(status, 'lost'))
    await expect(catalog.commitTable(TABLE, COMMIT, { idempotencyKey: 'k' })).rejects.toMatchObject(
      { name, message },
    )
  })

  it.each([
    [
      'is lost',
      () => {
        throw new Error('reset')
      },
    ],
    ['is garbage', () => new Response('<html>')],
  ])('does not know the outcome of a commit whose answer %s', async (_, answer) => {
    const { catalog } = catalogThat(answer)
    await expect(catalog.commitTable(TABLE, COMMIT, { idempotencyKey: 'k' })).rejects.toMatchObject(
      {
        name: 'CommitStateUnknownError',
      },
    )
  })

  it('calls a failing load a catalog that is not available', async () => {
    const { catalog } = catalogThat(() => new Response('<html>bad gateway', { status: 502 }))
    await expect(catalog.loadTable(TABLE)).rejects.toMatchObject({
      name: 'CatalogUnavailableError',
      message: 'the catalog answered 502: <html>bad gateway',
    })
  })
})

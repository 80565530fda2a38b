import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, member } from '../test-json.ts'
import { makeNamespace, makeTable, segment } from '../test-tables.ts'
import { makeView } from '../test-views.ts'

const VIEW_COUNT = 12
const PAGE_SIZE = 4

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.stop())

async function walk(path: string, list: string, onPage = async (): Promise<void> => {}) {
  const items: unknown[] = []
  const tokens: string[] = []
  let token = ''
  do {
    const separator = path.includes('?') ? '&' : '?'
    const answer = await catalog.call(
      'GET',
      `${path}${separator}pageSize=${PAGE_SIZE}&pageToken=${token}`,
    )
    if (answer.status !== 200) return { items, tokens, answer }
    items.push(...(member(answer.json, list) as JsonObject[]))
    token = String((answer.json as JsonObject)['next-page-token'] ?? '')
    tokens.push(token)
    await onPage()
  } while (token !== '')
  return { items, tokens, answer: undefined }
}

it('lists views and tables apart, in the order of names', async () => {
  const ns = await makeNamespace(catalog, ['both'])
  for (const name of ['b', 'a', 'ä', 'B']) {
    await makeView(catalog, { levels: ['both'], name: `v${name}` })
    await makeTable(catalog, { levels: ['both'], name: `t${name}` })
  }
  const names = async (kind: string) => {
    const { json } = await catalog.call('GET', `${ns}/${kind}`)
    expect(member(json, 'next-page-token')).toBeNull()
    return (member(json, 'identifiers') as JsonObject[]).map(({ name }) => name)
  }
  expect(await names('views')).toEqual(['vB', 'va', 'vb', 'vä'])
  expect(await names('tables')).toEqual(['tB', 'ta', 'tb', 'tä'])
})

it('is empty for a namespace without views', async () => {
  const ns = await makeNamespace(catalog, ['empty'])
  expect((await catalog.call('GET', `${ns}/views`)).json).toEqual({
    identifiers: [],
    'next-page-token': null,
  })
})

it('pages as tables do, and a full last page is the last (B017)', async () => {
  const ns = await makeNamespace(catalog, ['paged'])
  for (let index = 0; index < VIEW_COUNT; index += 1) {
    await makeView(catalog, { levels: ['paged'], name: `v${index}` })
    await makeNamespace(catalog, ['paged', `n${index}`])
  }
  const views = await walk(`${ns}/views`, 'identifiers')
  const children = await walk(`/v1/main/namespaces?parent=${segment('paged')}`, 'namespaces')
  for (const { items, tokens, answer } of [views, children]) {
    expect(answer).toBeUndefined()
    expect(items).toHaveLength(VIEW_COUNT)
    expect(new Set(items.map((item) => JSON.stringify(item))).size).toBe(VIEW_COUNT)
    expect(tokens).toHaveLength(VIEW_COUNT / PAGE_SIZE)
    expect(new Set(tokens).size).toBe(tokens.length)
  }
  const all = await catalog.call('GET', `${ns}/views`)
  expect(member(all.json, 'identifiers')).toHaveLength(VIEW_COUNT)
})

it('answers 404 when the namespace is dropped during a walk (B017)', async () => {
  const outer = await makeNamespace(catalog, ['dropped'])
  const names = Array.from({ length: PAGE_SIZE + 1 }, (_, index) => `x${index}`)
  for (const name of names) {
    await makeView(catalog, { levels: ['dropped'], name })
    await makeNamespace(catalog, ['dropped', name])
  }
  const viewPage = await catalog.call('GET', `${outer}/views?pageSize=${PAGE_SIZE}&pageToken=`)
  const viewToken = String(member(viewPage.json, 'next-page-token'))
  const children = '/v1/main/namespaces?parent=dropped'
  const childPage = await catalog.call('GET', `${children}&pageSize=${PAGE_SIZE}&pageToken=`)
  const childToken = String(member(childPage.json, 'next-page-token'))
  for (const name of names) {
    await catalog.call('DELETE', `${outer}/views/${name}`)
    await catalog.call('DELETE', `${outer}%1F${name}`)
  }
  expect((await catalog.call('DELETE', outer)).status).toBe(204)
  for (const next of [
    `${outer}/views?pageToken=${viewToken}`,
    `${children}&pageToken=${childToken}`,
  ]) {
    const answer = await catalog.call('GET', next)
    expect(errorOf(answer)).toMatchObject({ type: 'NoSuchNamespaceException', code: 404 })
  }
})

it('refuses a missing namespace and a page that makes no sense', async () => {
  const missing = await catalog.call('GET', '/v1/main/namespaces/nope/views')
  expect(errorOf(missing)).toEqual({
    type: 'NoSuchNamespaceException',
    code: 404,
    message: 'Cannot list views for namespace. Namespace does not exist: nope',
  })
  const ns = await makeNamespace(catalog, ['strict'])
  for (const query of ['pageSize=0', 'pageSize=x', 'pageToken=nonsense']) {
    expect((await catalog.call('GET', `${ns}/views?${query}`)).status, query).toBe(400)
  }
})

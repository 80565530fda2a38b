import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'
import { makeView } from '../test-views.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
  await makeNamespace(catalog, ['ns', 'inner'])
})
afterAll(() => catalog.stop())

const identifier = (...names: readonly string[]): JsonObject => ({
  namespace: names.slice(0, -1),
  name: names.at(-1) ?? '',
})
const rename = (kind: 'tables' | 'views', source: JsonObject, destination: JsonObject) =>
  catalog.call('POST', `/v1/main/${kind}/rename`, { body: { source, destination } })

it('moves a view into another namespace and keeps its UUID and metadata', async () => {
  const view = await makeView(catalog, { levels: ['ns'], name: 'v' })
  const before = (await catalog.call('GET', view.path)).text
  const answer = await rename('views', identifier('ns', 'v'), identifier('ns', 'inner', 'w'))
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect((await catalog.call('GET', view.path)).status).toBe(404)
  const there = await catalog.call('GET', '/v1/main/namespaces/ns%1Finner/views/w')
  expect(there.text).toBe(before)
  const [event] = await catalog.database.query<{ kind: string; name: string }>(
    'select kind, name from outbox_event where table_uuid = $1 order by seq desc limit 1',
    [view.uuid],
  )
  expect(event).toEqual({ kind: 'view-renamed', name: 'w' })
})

it('onto itself changes nothing', async () => {
  await makeView(catalog, { levels: ['ns'], name: 'self' })
  const answer = await rename('views', identifier('ns', 'self'), identifier('ns', 'self'))
  expect(answer.status).toBe(204)
})

it.each([
  ['views', 'a-view', 'view-there', 'View'],
  ['views', 'a-view', 'table-there', 'Table'],
  ['tables', 'a-table', 'view-there', 'View'],
  ['tables', 'a-table', 'table-there', 'Table'],
] as const)('of %s: %s onto %s is refused, naming the kind', async (kind, from, to, what) => {
  for (const name of [from, to]) {
    const make = name.includes('table') ? makeTable : makeView
    const path = `/v1/main/namespaces/ns/${name.includes('table') ? 'tables' : 'views'}/${name}`
    if ((await catalog.call('HEAD', path)).status === 404)
      await make(catalog, { levels: ['ns'], name })
  }
  const answer = await rename(kind, identifier('ns', from), identifier('ns', to))
  expect(errorOf(answer)).toEqual({
    type: 'AlreadyExistsException',
    code: 409,
    message: `Cannot rename ns.${from} to ns.${to}. ${what} already exists`,
  })
})

it('never crosses kinds', async () => {
  await makeView(catalog, { levels: ['ns'], name: 'is-view' })
  await makeTable(catalog, { levels: ['ns'], name: 'is-table' })
  const asView = await rename('views', identifier('ns', 'is-table'), identifier('ns', 'x'))
  expect(errorOf(asView)).toEqual({
    type: 'NoSuchViewException',
    code: 404,
    message: 'Cannot rename ns.is-table to ns.x. View does not exist',
  })
  const asTable = await rename('tables', identifier('ns', 'is-view'), identifier('ns', 'x'))
  expect(errorOf(asTable)).toEqual({
    type: 'NoSuchTableException',
    code: 404,
    message: 'Cannot rename ns.is-view to ns.x. Table does not exist',
  })
})

it('refuses a missing source, a missing namespace and impossible names', async () => {
  await makeView(catalog, { levels: ['ns'], name: 'stays' })
  const missing = await rename('views', identifier('ns', 'none'), identifier('ns', 'x'))
  expect(errorOf(missing).message).toBe('Cannot rename ns.none to ns.x. View does not exist')
  const nowhere = await rename('views', identifier('ns', 'stays'), identifier('non_existing', 'x'))
  expect(errorOf(nowhere)).toMatchObject({ type: 'NoSuchNamespaceException', code: 404 })
  expect(errorOf(nowhere).message).toContain('Namespace does not exist: non_existing')
  const dots = await rename('views', identifier('ns', 'stays'), identifier('ns', '..'))
  expect(dots.status).toBe(400)
  expect((await catalog.call('POST', '/v1/main/views/rename', { body: {} })).status).toBe(400)
  expect((await catalog.call('HEAD', '/v1/main/namespaces/ns/views/stays')).status).toBe(204)
})

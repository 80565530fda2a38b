import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { createCommitBody, SCHEMA } from '../test-bodies.ts'
import { errorOf } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'
import { makeView } from '../test-views.ts'

let catalog: TestCatalog
let ns: string
beforeAll(async () => {
  catalog = await openTestCatalog()
  ns = await makeNamespace(catalog, ['ns'])
  await makeView(catalog, { levels: ['ns'], name: 'v' })
  await makeTable(catalog, { levels: ['ns'], name: 't' })
})
afterAll(() => catalog.stop())

const taken = {
  type: 'AlreadyExistsException',
  code: 409,
  message: 'View with same name already exists: ns.v',
}
const noTable = { type: 'NoSuchTableException', code: 404, message: 'Table does not exist: ns.v' }

describe('under the name of a view', () => {
  it.each([
    ['created', {}],
    ['staged', { 'stage-create': true }],
  ] as [string, JsonObject][])('no table is %s', async (_how, more) => {
    const body = { name: 'v', schema: SCHEMA, ...more }
    const answer = await catalog.call('POST', `${ns}/tables`, { body })
    expect(errorOf(answer)).toEqual(taken)
  })

  it('no table is created by a commit', async () => {
    const body = createCommitBody({
      uuid: '11111111-0000-4000-8000-000000000000',
      location: `file://${catalog.directory}/by-commit`,
    })
    expect(errorOf(await catalog.call('POST', `${ns}/tables/v`, { body }))).toEqual(taken)
  })

  it.each([false, true])('no table is registered, with overwrite %s', async (overwrite) => {
    const { json } = await catalog.call('GET', `${ns}/tables/t`)
    const body = {
      name: 'v',
      'metadata-location': (json as JsonObject)['metadata-location'] ?? null,
      overwrite,
    }
    expect(errorOf(await catalog.call('POST', `${ns}/register`, { body }))).toEqual(taken)
  })

  it.each([
    ['GET', undefined],
    ['POST', { updates: [{ action: 'set-properties', updates: { a: 'b' } }] }],
    ['POST', { requirements: [{ type: 'assert-table-uuid', uuid: 'x' }], updates: [] }],
    ['DELETE', undefined],
  ] as [string, JsonObject | undefined][])('%s finds no table', async (method, body) => {
    const answer = await catalog.call(method, `${ns}/tables/v`, body === undefined ? {} : { body })
    expect(errorOf(answer)).toEqual(noTable)
  })
})

it('the same name may have a table after its view was dropped, and the other way round', async () => {
  const view = await makeView(catalog, { levels: ['ns'], name: 'turn' })
  await catalog.call('DELETE', view.path)
  const table = await makeTable(catalog, { levels: ['ns'], name: 'turn' })
  expect((await catalog.call('GET', view.path)).status).toBe(404)
  await catalog.call('DELETE', table.path)
  await makeView(catalog, { levels: ['ns'], name: 'turn' })
  expect((await catalog.call('GET', table.path)).status).toBe(404)
})

it('one of a table and a view that are created at once gets the name', async () => {
  for (const round of [1, 2, 3, 4, 5]) {
    const name = `both-${round}`
    const results = await Promise.allSettled([
      makeTable(catalog, { levels: ['ns'], name }),
      makeView(catalog, { levels: ['ns'], name }),
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const found = [`${ns}/tables/${name}`, `${ns}/views/${name}`].map((path) =>
      catalog.call('HEAD', path),
    )
    const statuses = (await Promise.all(found)).map(({ status }) => status).sort()
    expect(statuses).toEqual([204, 404])
  }
})

it('a namespace with nothing but views is not empty, and says so (B226)', async () => {
  const path = await makeNamespace(catalog, ['full'])
  const views = [
    await makeView(catalog, { levels: ['full'], name: 'a' }),
    await makeView(catalog, { levels: ['full'], name: 'b' }),
  ]
  const refused = await catalog.call('DELETE', path)
  expect(errorOf(refused)).toEqual({
    type: 'NamespaceNotEmptyException',
    code: 409,
    message: 'Namespace full is not empty. Contains 2 view(s).',
  })
  await makeTable(catalog, { levels: ['full'], name: 't' })
  await makeNamespace(catalog, ['full', 'inner'])
  expect(errorOf(await catalog.call('DELETE', path)).message).toBe(
    'Namespace full is not empty. Contains 1 table(s) and 2 view(s) and 1 namespace(s).',
  )
  for (const view of views) await catalog.call('DELETE', view.path)
  await catalog.call('DELETE', `${path}/tables/t`)
  await catalog.call('DELETE', `${path}%1Finner`)
  expect((await catalog.call('DELETE', path)).status).toBe(204)
})

it('B079: a drop purges only when it is asked to, whatever the spelling', async () => {
  const wish = async (query: string) => {
    const name = `purge ${query}`
    const { path, uuid } = await makeTable(catalog, { levels: ['ns'], name })
    const { status } = await catalog.call('DELETE', `${path}${query}`)
    const [dropped] = await catalog.database.query<{ purge_requested: boolean }>(
      'select purge_requested from dropped_table where table_uuid = $1',
      [uuid],
    )
    return [status, dropped?.purge_requested]
  }
  expect(await wish('')).toEqual([204, false])
  expect(await wish('?purgeRequested=false')).toEqual([204, false])
  expect(await wish('?purgeRequested=False')).toEqual([204, false])
  expect(await wish('?purgeRequested=true')).toEqual([204, true])
  expect(await wish('?purgeRequested=TRUE')).toEqual([204, true])
  expect(await wish('?purgeRequested=maybe')).toEqual([400, undefined])
})

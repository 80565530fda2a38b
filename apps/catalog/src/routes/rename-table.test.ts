import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
  await makeNamespace(catalog, ['ns', 'inner'])
})
afterAll(() => catalog.stop())

const identifier = (...names: readonly string[]) => ({
  namespace: names.slice(0, -1),
  name: names.at(-1) ?? '',
})
const rename = (source: JsonObject, destination: JsonObject) =>
  catalog.call('POST', '/v1/main/tables/rename', { body: { source, destination } })

it('moves a table into another namespace and keeps its UUID and location', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 't' })
  const answer = await rename(identifier('ns', 't'), identifier('ns', 'inner', 'u'))
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect((await catalog.call('GET', table.path)).status).toBe(404)
  const { json } = await catalog.call('GET', '/v1/main/namespaces/ns%1Finner/tables/u')
  expect(json).toMatchObject({
    'metadata-location': table.metadataLocation,
    metadata: { 'table-uuid': table.uuid, location: table.location },
  })
})

it('commits under the new name afterwards, and never under the old one', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'before' })
  const body = { updates: [{ action: 'set-properties', updates: { a: 'b' } }] }
  const [, commit] = await Promise.all([
    rename(identifier('ns', 'before'), identifier('ns', 'after')),
    catalog.call('POST', table.path, { body }),
  ])
  expect([200, 404]).toContain(commit.status)
  expect((await catalog.call('GET', table.path)).status).toBe(404)
  const after = table.path.replace('before', 'after')
  expect((await catalog.call('POST', after, { body })).status).toBe(200)
})

it('lets a new table take the old name in another folder', async () => {
  const first = await makeTable(catalog, { levels: ['ns'], name: 'name' })
  await rename(identifier('ns', 'name'), identifier('ns', 'renamed'))
  const second = await makeTable(catalog, { levels: ['ns'], name: 'name' })
  expect(second.location).not.toBe(first.location)
})

it('answers 404 for a missing table and a missing namespace', async () => {
  const table = await rename(identifier('ns', 'nope'), identifier('ns', 'x'))
  expect(table.status).toBe(404)
  expect(errorOf(table)).toMatchObject({
    type: 'NoSuchTableException',
    message: 'Cannot rename ns.nope to ns.x. Table does not exist',
  })
  await makeTable(catalog, { levels: ['ns'], name: 'source' })
  const namespace = await rename(identifier('ns', 'source'), identifier('nope', 'x'))
  expect(namespace.status).toBe(404)
  expect(errorOf(namespace)).toMatchObject({
    type: 'NoSuchNamespaceException',
    message: 'Cannot rename ns.source to nope.x. Namespace does not exist: nope',
  })
})

it('answers 409 for a name that is taken, and changes nothing for the same name', async () => {
  await makeTable(catalog, { levels: ['ns'], name: 'a' })
  await makeTable(catalog, { levels: ['ns'], name: 'b' })
  const taken = await rename(identifier('ns', 'a'), identifier('ns', 'b'))
  expect(taken.status).toBe(409)
  expect(errorOf(taken)).toMatchObject({
    type: 'AlreadyExistsException',
    message: 'Cannot rename ns.a to ns.b. Table already exists',
  })
  expect((await rename(identifier('ns', 'a'), identifier('ns', 'a'))).status).toBe(204)
})

it('refuses bad bodies', async () => {
  for (const body of ['{}', '{"source":{"namespace":["ns"],"name":"a"}}', '[]']) {
    expect((await catalog.call('POST', '/v1/main/tables/rename', { body })).status).toBe(400)
  }
  expect((await rename(identifier('ns', 'a'), identifier('ns', '..'))).status).toBe(400)
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import { renameSync, writeFileSync } from 'node:fs'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, member } from '../test-json.ts'
import { makeNamespace, makeTable, segment } from '../test-tables.ts'
import { makeView, propertyBody } from '../test-views.ts'

let catalog: TestCatalog
let objectReads = 0
let queries = 0
beforeAll(async () => {
  catalog = await openTestCatalog({
    config: { isOnlyWriter: true },
    wrapStore: (store) => ({
      ...store,
      get: (...call) => ((objectReads += 1), store.get(...call)),
      stat: (...call) => ((objectReads += 1), store.stat(...call)),
    }),
    wrapDatabase: (database) => ({
      ...database,
      query: (...call) => ((queries += 1), database.query(...call)),
      transaction: (run) => database.transaction(run),
      runScript: (text) => database.runScript(text),
      close: () => database.close(),
    }),
  })
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

it('answers metadata, its location and a config, and no ETag', async () => {
  const view = await makeView(catalog, { levels: ['ns'], name: 'v' })
  const answer = await catalog.call('GET', view.path)
  expect(answer.status).toBe(200)
  expect(answer.headers['etag']).toBeUndefined()
  expect(answer.json).toMatchObject({
    'metadata-location': view.metadataLocation,
    metadata: { 'view-uuid': view.uuid, location: view.location },
    config: {},
  })
  const chained = await catalog.call('GET', `${view.path}?referenced-by=ns%1Fouter`)
  expect(chained.text).toBe(answer.text)
})

it('finds names of any kind by their raw path', async () => {
  await makeNamespace(catalog, ['a b'])
  await makeNamespace(catalog, ['a b', 'c.d'])
  const view = await makeView(catalog, { levels: ['a b', 'c.d'], name: 'x/y+z %' })
  expect((await catalog.call('GET', view.path)).status).toBe(200)
  expect((await catalog.call('GET', view.path.replaceAll('%20', '+'))).status).toBe(200)
})

it.each([
  ['a free name', 'free', 'ns.free'],
  ['a table', 'table', 'ns.table'],
])('finds no view at %s', async (_what, name, text) => {
  if (name === 'table') await makeTable(catalog, { levels: ['ns'], name })
  const answer = await catalog.call('GET', `/v1/main/namespaces/ns/views/${name}`)
  expect(errorOf(answer)).toEqual({
    type: 'NoSuchViewException',
    code: 404,
    message: `View does not exist: ${text}`,
  })
})

it('finds no view in a missing namespace', async () => {
  const answer = await catalog.call('GET', '/v1/main/namespaces/nope/views/v')
  expect(errorOf(answer).type).toBe('NoSuchViewException')
})

it('misses cheaply: one query at most, none the second time, and no object read', async () => {
  const path = `/v1/main/namespaces/ns/views/${segment('missed')}`
  await catalog.call('GET', path)
  const before = { objectReads, queries }
  const first = await catalog.call('GET', `${path}2`)
  expect(first.status).toBe(404)
  expect(first.text.length).toBeLessThan(200)
  expect(queries - before.queries).toBeLessThanOrEqual(1)
  const asked = queries
  expect((await catalog.call('GET', `${path}2`)).status).toBe(404)
  expect((await catalog.call('HEAD', `${path}2`)).status).toBe(404)
  // The table of the same name: one look-up serves both kinds.
  expect((await catalog.call('GET', path.replace('/views/', '/tables/'))).status).toBe(404)
  expect(queries).toBe(asked)
  expect(objectReads).toBe(before.objectReads)
})

it('says that the metadata file is gone, and reads it again when it is back', async () => {
  const view = await makeView(catalog, { levels: ['ns'], name: 'gone' })
  const file = view.metadataLocation.replace('file://', '')
  renameSync(file, `${file}.away`)
  const answer = await catalog.call('GET', view.path)
  expect(errorOf(answer)).toMatchObject({ type: 'NotFoundException', code: 404 })
  expect(errorOf(answer).message).toBe(
    `Failed to open input stream for file: ${view.metadataLocation}`,
  )
  renameSync(`${file}.away`, file)
  expect((await catalog.call('GET', view.path)).status).toBe(200)
})

it('says that the metadata file is broken', async () => {
  const view = await makeView(catalog, { levels: ['ns'], name: 'broken' })
  const file = view.metadataLocation.replace('file://', '')
  renameSync(file, `${file}.away`)
  expect((await catalog.call('GET', view.path)).status).toBe(404)
  writeFileSync(file, '{"format-version":1}')
  const answer = await catalog.call('GET', view.path)
  expect(errorOf(answer)).toMatchObject({ type: 'CorruptFileException', code: 422 })
})

it('shows every commit to the next load', async () => {
  const view = await makeView(catalog, { levels: ['ns'], name: 'fresh' })
  for (const value of ['1', '2', '3']) {
    await catalog.call('POST', view.path, { body: propertyBody(value) })
    const { json } = await catalog.call('GET', view.path)
    expect(member(json, 'metadata', 'properties', 'value')).toBe(value)
  }
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'
import { makeView, viewBody, viewVersion } from '../test-views.ts'

let catalog: TestCatalog
let views: string
beforeAll(async () => {
  catalog = await openTestCatalog()
  views = `${await makeNamespace(catalog, ['ns'])}/views`
})
afterAll(() => catalog.stop())

const create = (body: JsonObject) => catalog.call('POST', views, { body })
const pathOf = (location: string) => location.replace('file://', '')

it('answers the metadata that was stored, with the ids that the client gave its columns', async () => {
  const { status, json, headers } = await create(
    viewBody('answer', { properties: { comment: 'ü' } }),
  )
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('application/json')
  expect(json).toMatchObject({
    config: {},
    metadata: {
      'format-version': 1n,
      properties: { comment: 'ü' },
      'current-version-id': 1n,
      schemas: [{ 'schema-id': 0n, fields: [{ id: 10n }, { id: 20n }] }],
      versions: [{ 'version-id': 1n, 'schema-id': 0n, 'default-namespace': ['ns'] }],
      'version-log': [{ 'version-id': 1n, 'timestamp-ms': 1_700_000_000_000n }],
    },
  })
  const file = textAt(json, 'metadata-location')
  expect(file).toMatch(/\/metadata\/00000-[0-9a-f-]{36}\.metadata\.json$/)
  expect(parseJson(readFileSync(pathOf(file), 'utf8'))).toEqual(member(json, 'metadata'))
  expect((await catalog.call('GET', `${views}/answer`)).json).toEqual(json)
})

it.each([-1n, 0n, 7n, 99n])('puts the id of the schema for schema id %s (B072)', async (id) => {
  const body = viewBody(`schema${id}`, {
    'view-version': viewVersion('select 1', { 'schema-id': id }),
  })
  const { json } = await create(body)
  expect(json).toMatchObject({
    metadata: { versions: [{ 'schema-id': 0n }], schemas: [{ 'schema-id': 0n }] },
  })
})

it('never names a folder after the raw name, and gives each view its own', async () => {
  const first = await makeView(catalog, { levels: ['ns'], name: 'q?mark#hash/..' })
  expect(first.location).toMatch(/\/q_mark_hash_-[0-9a-f]{32}$/)
})

it('writes where and how the properties say', async () => {
  const location = `file://${catalog.directory}/own/place`
  const { json } = await create(
    viewBody('own', {
      location: `${location}/`,
      properties: {
        'write.metadata.path': `${location}/custom`,
        'write.metadata.compression-codec': 'gzip',
      },
    }),
  )
  expect(textAt(json, 'metadata', 'location')).toBe(location)
  const file = textAt(json, 'metadata-location')
  expect(file).toMatch(/\/own\/place\/custom\/00000-.*\.gz\.metadata\.json$/)
  const content = gunzipSync(readFileSync(pathOf(file))).toString()
  expect(parseJson(content)).toEqual(member(json, 'metadata'))
  expect((await catalog.call('GET', `${views}/own`)).json).toEqual(json)
})

it('keeps representations of every type and members that it does not know (B074)', async () => {
  const representations = [
    { type: 'sql', sql: 'select 1', dialect: 'trino', 'x-hint': 1n },
    { type: 'substrait', plan: 'AA==' },
  ]
  await create(
    viewBody('types', { 'view-version': viewVersion('', { representations, 'x-v': true }) }),
  )
  const { json } = await catalog.call('GET', `${views}/types`)
  expect(json).toMatchObject({ metadata: { versions: [{ representations, 'x-v': true }] } })
})

describe('refuses', () => {
  const sql = (...dialects: readonly string[]) => ({
    'view-version': viewVersion('', {
      representations: dialects.map((dialect) => ({ type: 'sql', sql: 'select 1', dialect })),
    }),
  })

  it.each([
    ['two queries for one dialect (B074)', sql('trino', 'trino'), 'for dialect trino'],
    ['dialects that differ by case (B074)', sql('trino', 'Trino'), 'for dialect trino'],
    ['no representation (B074)', sql(), 'it has no representation'],
    ['a location outside the warehouse', { location: 'file:///etc/view' }, 'view location'],
    ['a relative location', { location: 'view' }, 'invalid location'],
    [
      'metadata outside the warehouse',
      { properties: { 'write.metadata.path': 's3://elsewhere/m' } },
      'view location s3://elsewhere/m is outside',
    ],
    ['no version', { 'view-version': null }, 'view-version: expected object'],
    ['an empty name', { name: '' }, 'name: a name must not be empty'],
    ['a name that no path can hold', { name: '..' }, 'name: .. is not a name'],
  ] as [string, JsonObject, string][])('%s', async (_name, more, message) => {
    const answer = await create(viewBody('refused', more))
    expect(answer.status, answer.text).toBe(400)
    expect(errorOf(answer)).toMatchObject({ type: 'IllegalArgumentException', code: 400 })
    expect(errorOf(answer).message).toContain(message)
    expect((await catalog.call('GET', `${views}/refused`)).status).toBe(404)
  })

  it('a place inside, above or at a table, or in the server’s own folder', async () => {
    const table = await makeTable(catalog, { levels: ['ns'], name: 'placed' })
    const above = table.location.slice(0, table.location.lastIndexOf('/'))
    const own = `file://${catalog.directory}/.timelake/v`
    for (const location of [table.location, `${table.location}/v`, above, own]) {
      const answer = await create(viewBody('inside', { location }))
      expect(answer.status, location).toBe(400)
    }
    const folder = { 'write.metadata.path': `${table.location}/metadata` }
    expect((await create(viewBody('inside', { properties: folder }))).status).toBe(400)
    expect(countFiles(pathOf(table.location))).toBe(1)
  })

  it('a missing namespace', async () => {
    const answer = await catalog.call('POST', '/v1/main/namespaces/nope/views', {
      body: viewBody('v'),
    })
    expect(errorOf(answer)).toEqual({
      type: 'NoSuchNamespaceException',
      code: 404,
      message: 'Cannot create view nope.v. Namespace does not exist: nope',
    })
  })

  it('a name that is taken, naming what has it', async () => {
    await makeView(catalog, { levels: ['ns'], name: 'taken' })
    await makeTable(catalog, { levels: ['ns'], name: 'table' })
    const [again, table] = [await create(viewBody('taken')), await create(viewBody('table'))]
    expect(errorOf(again)).toEqual({
      type: 'AlreadyExistsException',
      code: 409,
      message: 'View already exists: ns.taken',
    })
    expect(errorOf(table)).toEqual({
      type: 'AlreadyExistsException',
      code: 409,
      message: 'Table with same name already exists: ns.table',
    })
  })
})

it('lets views share a folder', async () => {
  const location = `file://${catalog.directory}/shared`
  for (const name of ['one', 'two']) {
    expect((await create(viewBody(name, { location }))).status).toBe(200)
  }
  expect((await create(viewBody('three', { location: `${location}/below` }))).status).toBe(200)
  const table = await catalog.call('POST', views.replace(/views$/, 'tables'), {
    body: { name: 'late', schema: { type: 'struct', fields: [] }, location },
  })
  expect(table.status).toBe(400)
})

it('makes one of two views that are created at once', async () => {
  const answers = await Promise.all([create(viewBody('race')), create(viewBody('race'))])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
})

it('tells what it made in an event', async () => {
  const view = await makeView(catalog, { levels: ['ns'], name: 'told' })
  const [event] = await catalog.database.query<{ kind: string; payload: string }>(
    `select kind, payload from outbox_event where table_uuid = $1`,
    [view.uuid],
  )
  expect(event?.kind).toBe('view-created')
  expect(parseJson(event?.payload ?? '')).toEqual({
    'metadata-location': view.metadataLocation,
    'current-version-id': 1n,
  })
})

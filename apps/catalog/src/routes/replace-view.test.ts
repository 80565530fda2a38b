import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'
import { makeView, propertyBody, replaceBody, viewVersion } from '../test-views.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const view = (name: string, more?: JsonObject) =>
  makeView(catalog, { levels: ['ns'], name, ...(more === undefined ? {} : { more }) })
const commit = (path: string, body: JsonObject) => catalog.call('POST', path, { body })
const filesOf = ({ location }: { location: string }) => countFiles(location.replace('file://', ''))

it('replaces the query, writes the next file and tells it in an event', async () => {
  const made = await view('replaced')
  const { status, json } = await commit(made.path, replaceBody(made.uuid, 'select 2'))
  expect(status).toBe(200)
  expect(json).toMatchObject({
    config: {},
    metadata: {
      'view-uuid': made.uuid,
      'current-version-id': 2n,
      'version-log': [{ 'version-id': 1n }, { 'version-id': 2n }],
    },
  })
  expect(textAt(json, 'metadata-location')).toMatch(/\/00001-[^/]*\.metadata\.json$/)
  expect((await catalog.call('GET', made.path)).json).toEqual(json)
  const events = await catalog.database.query<{ kind: string; payload: string }>(
    'select kind, payload from outbox_event where table_uuid = $1 order by seq',
    [made.uuid],
  )
  expect(events.map(({ kind }) => kind)).toEqual(['view-created', 'view-committed'])
  expect(parseJson(events[1]?.payload ?? '')).toEqual({
    'metadata-location': textAt(json, 'metadata-location'),
    'previous-metadata-location': made.metadataLocation,
    'current-version-id': 2n,
  })
})

it('takes −1 for the schema and version of the same request (B072)', async () => {
  const made = await view('last-added')
  const { json } = await commit(made.path, {
    updates: [
      {
        action: 'add-schema',
        schema: {
          type: 'struct',
          'schema-id': 9n,
          fields: [{ id: 1n, name: 'x', required: false, type: 'long' }],
        },
      },
      {
        action: 'add-view-version',
        'view-version': viewVersion('select x', { 'version-id': 2n, 'schema-id': -1n }),
      },
      { action: 'set-current-view-version', 'view-version-id': -1n },
    ],
  })
  expect(json).toMatchObject({
    metadata: { 'current-version-id': 2n, versions: [{}, { 'version-id': 2n, 'schema-id': 1n }] },
  })
})

it('renumbers the version of a writer that came second, and loses neither', async () => {
  const made = await view('two-writers')
  const answers = await Promise.all(
    ['select 2', 'select 3'].map((sql) =>
      commit(made.path, replaceBody(made.uuid, sql, { 'version-id': 2n })),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const { json } = await catalog.call('GET', made.path)
  expect(member(json, 'metadata', 'current-version-id')).toBe(3n)
  expect(member(json, 'metadata', 'versions')).toHaveLength(3)
})

it('writes nothing for a commit that changes nothing', async () => {
  const made = await view('unchanged')
  const before = (await catalog.call('GET', made.path)).text
  for (const updates of [[], [{ action: 'assign-uuid', uuid: made.uuid }]]) {
    const answer = await commit(made.path, { updates })
    expect([answer.status, answer.text]).toEqual([200, before])
  }
  expect(filesOf(made)).toBe(1)
})

it('keeps history as the view says, the current version always (B075)', async () => {
  const made = await view('history', { properties: { 'version.history.num-entries': '2' } })
  const versions = async () => {
    const { json } = await catalog.call('GET', made.path)
    const ids = (name: string) =>
      (member(json, 'metadata', name) as JsonObject[]).map((entry) => Number(entry['version-id']))
    return [ids('versions'), ids('version-log')]
  }
  for (const id of [2n, 3n, 4n, 5n]) {
    await commit(made.path, replaceBody(made.uuid, `select ${id}`, { 'version-id': id }))
  }
  expect(await versions()).toEqual([
    [4, 5],
    [4, 5],
  ])
  const back = (id: bigint) => ({
    updates: [{ action: 'set-current-view-version', 'view-version-id': id }],
  })
  expect((await commit(made.path, back(1n))).status).toBe(400)
  expect((await commit(made.path, back(4n))).status).toBe(200)
  expect(await versions()).toEqual([
    [4, 5],
    [4, 5, 4],
  ])
  await commit(made.path, replaceBody(made.uuid, 'select 6', { 'version-id': 6n }))
  expect(await versions()).toEqual([[5, 6], [6]])
})

it('moves a view, and later files with it', async () => {
  const made = await view('moved')
  const location = `file://${catalog.directory}/moved/there`
  const { json } = await commit(made.path, { updates: [{ action: 'set-location', location }] })
  expect(textAt(json, 'metadata', 'location')).toBe(location)
  expect(textAt(json, 'metadata-location')).toMatch(/\/moved\/there\/metadata\/00001-/)
})

describe('refuses', () => {
  it.each<[string, JsonObject, number, string, string]>([
    [
      'another UUID',
      { requirements: [{ type: 'assert-view-uuid', uuid: '0'.repeat(8) }] },
      409,
      'CommitFailedException',
      'Requirement failed: view UUID does not match',
    ],
    [
      'an update of tables',
      { updates: [{ action: 'remove-snapshots', 'snapshot-ids': [] }] },
      400,
      'IllegalArgumentException',
      'unknown update action',
    ],
    [
      'a requirement of tables',
      { requirements: [{ type: 'assert-create' }] },
      400,
      'IllegalArgumentException',
      'unknown requirement type',
    ],
    [
      'two queries for one dialect (B074)',
      {
        updates: [
          {
            action: 'add-view-version',
            'view-version': viewVersion('', {
              'schema-id': 0n,
              representations: ['trino', 'TRINO'].map((dialect) => ({
                type: 'sql',
                sql: 'x',
                dialect,
              })),
            }),
          },
        ],
      },
      400,
      'IllegalArgumentException',
      'Invalid view version: Cannot add multiple queries for dialect trino',
    ],
    [
      'the loss of a dialect',
      {
        updates: [
          {
            action: 'add-view-version',
            'view-version': viewVersion('', {
              'schema-id': 0n,
              representations: [{ type: 'sql', sql: 'x', dialect: 'trino' }],
            }),
          },
          { action: 'set-current-view-version', 'view-version-id': -1n },
        ],
      },
      400,
      'IllegalArgumentException',
      'Cannot replace view due to loss of view dialects',
    ],
    [
      'an unknown schema (B072)',
      {
        updates: [
          {
            action: 'add-view-version',
            'view-version': viewVersion('x', { 'schema-id': 5n }),
          },
        ],
      },
      400,
      'IllegalArgumentException',
      'unknown schema: 5',
    ],
    [
      '−1 without a version of the request',
      { updates: [{ action: 'set-current-view-version', 'view-version-id': -1n }] },
      400,
      'ValidationException',
      'Cannot set last version id',
    ],
    [
      'a place outside the warehouse',
      { updates: [{ action: 'set-location', location: 'file:///etc' }] },
      400,
      'IllegalArgumentException',
      'outside the allowed locations',
    ],
    [
      'metadata outside the warehouse',
      {
        updates: [
          { action: 'set-properties', updates: { 'write.metadata.path': 'file:///etc/m' } },
        ],
      },
      400,
      'IllegalArgumentException',
      'outside the allowed locations',
    ],
  ])('%s, with nothing applied', async (name, body, status, type, message) => {
    const made = await view(`refused ${name}`)
    const before = (await catalog.call('GET', made.path)).text
    const good = { action: 'set-properties', updates: { first: 'x' } }
    const answer = await commit(made.path, {
      ...body,
      updates: [good, ...((body['updates'] as JsonObject[] | undefined) ?? [])],
    })
    expect(answer.status, answer.text).toBe(status)
    expect(errorOf(answer).type).toBe(type)
    expect(errorOf(answer).message).toContain(message)
    expect((await catalog.call('GET', made.path)).text).toBe(before)
    expect(filesOf(made)).toBe(1)
  })

  it('a place inside a table', async () => {
    const made = await view('not-inside')
    const table = await makeTable(catalog, { levels: ['ns'], name: 'inside' })
    const answer = await commit(made.path, {
      updates: [{ action: 'set-location', location: `${table.location}/v` }],
    })
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toContain('overlaps with the location of a table')
  })

  it('a view that is not there, and a table', async () => {
    const table = await makeTable(catalog, { levels: ['ns'], name: 'table' })
    for (const path of [
      '/v1/main/namespaces/ns/views/none',
      table.path.replace('/tables/', '/views/'),
    ]) {
      const answer = await commit(path, propertyBody('1'))
      expect(errorOf(answer)).toMatchObject({ type: 'NoSuchViewException', code: 404 })
    }
  })

  it('a commit for the view that had the name before', async () => {
    const old = await view('again')
    await catalog.call('DELETE', old.path)
    expect((await commit(old.path, replaceBody(old.uuid, 'select 2'))).status).toBe(404)
    await view('again')
    const answer = await commit(old.path, replaceBody(old.uuid, 'select 2'))
    expect(errorOf(answer)).toMatchObject({ type: 'CommitFailedException', code: 409 })
  })
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody, createCommitBody, SCHEMA } from '../test-bodies.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, textAt } from '../test-json.ts'
import { makeNamespace } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const UUID = '0189aaaa-0000-7000-8000-00000000000'
const pathOf = (name: string) => `/v1/main/namespaces/ns/tables/${name}`
const place = (name: string) => `${catalog.warehouse.location}/by-commit/${name}`
const commit = (name: string, body: JsonObject) => catalog.call('POST', pathOf(name), { body })

const snapshotUpdates = (location: string): JsonObject[] => {
  const { updates } = appendBody({ id: 77n, sequenceNumber: 1n, location })
  return updates as JsonObject[]
}

it('B023: makes the table and its first snapshot in one step, with the ids of the client', async () => {
  const location = place('ctas')
  const body = createCommitBody({ uuid: `${UUID}1`, location, more: snapshotUpdates(location) })
  const { status, json } = await commit('ctas', body)
  expect(status).toBe(200)
  expect(json).toMatchObject({
    'metadata-location': expect.stringMatching(/\/00000-/),
    metadata: {
      'table-uuid': `${UUID}1`,
      'last-column-id': 20n,
      schemas: [{ fields: [{ id: 10n }, { id: 20n }] }],
      'current-snapshot-id': 77n,
      'metadata-log': [],
    },
  })
})

it.each(['plain', 'with-snapshot'])(
  'answers a repetition of the same create with success: %s',
  async (name) => {
    const location = place(name)
    const more = name === 'plain' ? [] : snapshotUpdates(location)
    const body = createCommitBody({ uuid: `${UUID}2`, location, more })
    const first = await commit(name, body)
    const files = countFiles(catalog.directory)
    const second = await commit(name, body)
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.text).toBe(first.text)
    expect(countFiles(catalog.directory)).toBe(files)
  },
)

it('refuses another create of the same name', async () => {
  await commit('one', createCommitBody({ uuid: `${UUID}3`, location: place('one') }))
  const other = await commit('one', createCommitBody({ uuid: `${UUID}4`, location: place('two') }))
  expect(other.status).toBe(409)
  expect(errorOf(other)).toMatchObject({
    type: 'CommitFailedException',
    message: 'Requirement failed: table already exists',
  })
})

it('lets one of several concurrent creates win', async () => {
  const answers = await Promise.all(
    [5, 6, 7, 8].map((n) =>
      commit('race', createCommitBody({ uuid: `${UUID}${n}`, location: place(`race${n}`) })),
    ),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
})

it('answers 404 for a missing namespace, and 400 for requirements beside assert-create', async () => {
  const body = createCommitBody({ uuid: `${UUID}9`, location: place('x') })
  const missing = await catalog.call('POST', '/v1/main/namespaces/nope/tables/t', { body })
  expect(missing.status).toBe(404)
  expect(errorOf(missing).type).toBe('NoSuchNamespaceException')
  const requirements = [
    { type: 'assert-create' },
    { type: 'assert-current-schema-id', 'current-schema-id': 0n },
  ]
  expect((await commit('x', { ...body, requirements })).status).toBe(400)
})

it.each(['s3://a/b', 'file:///etc/x'])('refuses the location %s', async (location) => {
  const body = createCommitBody({ uuid: `${UUID}0`, location })
  expect((await commit('outside', body)).status).toBe(400)
})

it('follows a staged create', async () => {
  const stage = { name: 'staged', schema: SCHEMA, 'stage-create': true }
  const { json } = await catalog.call('POST', '/v1/main/namespaces/ns/tables', { body: stage })
  const location = textAt(json, 'metadata', 'location')
  const uuid = textAt(json, 'metadata', 'table-uuid')
  expect((await commit('staged', createCommitBody({ uuid, location }))).status).toBe(200)
})

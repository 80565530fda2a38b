import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { heapBytesInUse } from '@timelake/testing/heap-in-use'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { printJson } from '@timelake/iceberg/spec/json'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { SCHEMA } from '../test-bodies.ts'
import { errorOf, member } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

const SNAPSHOT_COUNT = 10_000
const METADATA_BYTES_MAX = 5_000_000
const TABLES = '/v1/main/namespaces/ns/tables'

let catalog: TestCatalog
let readCount = 0
beforeAll(async () => {
  catalog = await openTestCatalog({
    config: { metadataBytesMax: METADATA_BYTES_MAX, metadataCacheBytesMax: 10_000_000 },
    wrapStore: (store) => ({
      ...store,
      get: (...request) => {
        readCount += 1
        return store.get(...request)
      },
    }),
  })
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

/** A table with a long history, written by somebody else. */
function writeHistory(name: string): string {
  const directory = `${catalog.directory}/${name}`
  const nowMs = BigInt(catalog.clock.nowMs())
  const last = BigInt(SNAPSHOT_COUNT)
  const ids = Array.from({ length: SNAPSHOT_COUNT }, (_, index) => BigInt(index + 1))
  mkdirSync(`${directory}/metadata`, { recursive: true })
  const text = printJson({
    'format-version': 2n,
    'table-uuid': randomUUID(),
    location: `file://${directory}`,
    'last-sequence-number': last,
    'last-updated-ms': nowMs,
    'last-column-id': 20n,
    'current-schema-id': 0n,
    schemas: [SCHEMA],
    'default-spec-id': 0n,
    'partition-specs': [{ 'spec-id': 0n, fields: [] }],
    'last-partition-id': 999n,
    'default-sort-order-id': 0n,
    'sort-orders': [{ 'order-id': 0n, fields: [] }],
    'current-snapshot-id': last,
    snapshots: ids.map((id) => ({
      'snapshot-id': id,
      'sequence-number': id,
      'timestamp-ms': nowMs - last + id,
      'manifest-list': `file://${directory}/metadata/snap-${id}-1-11111111-2222-3333-4444-555555555555.avro`,
      summary: { operation: 'append', 'added-records': '1', 'total-data-files': `${id}` },
    })),
    'snapshot-log': ids.map((id) => ({ 'snapshot-id': id, 'timestamp-ms': nowMs - last + id })),
  })
  const file = `${directory}/metadata/00001-a.metadata.json`
  writeFileSync(file, text)
  return `file://${file}`
}

const commit = (path: string, ...updates: JsonObject[]) =>
  catalog.call('POST', path, { body: { updates } })

/** Answers are dropped here, so that they do not count as memory of the server. */
async function loadInEveryWay(path: string): Promise<void> {
  const { headers: tags, text } = await catalog.call('GET', path)
  const readsBefore = readCount
  const headers = { 'if-none-match': String(tags.etag) }
  expect((await catalog.call('GET', path, { headers })).status).toBe(304)
  expect(readCount).toBe(readsBefore)
  const refs = await catalog.call('GET', `${path}?snapshots=refs`)
  expect(member(refs.json, 'metadata', 'snapshots')).toHaveLength(1)
  const loads = await Promise.all([1, 2, 3, 4, 5].map(() => catalog.call('GET', path)))
  expect(loads.map((load) => load.text === text)).toEqual(Array(5).fill(true))
}

async function outgrow(path: string): Promise<void> {
  const comment = 'x'.repeat(METADATA_BYTES_MAX - 1_000_000)
  const refused = await commit(path, { action: 'set-properties', updates: { comment } })
  expect(refused.status).toBe(400)
  expect(errorOf(refused).message).toContain('expire snapshots first')
}

async function expireToTen(path: string): Promise<void> {
  const ids = Array.from({ length: SNAPSHOT_COUNT - 10 }, (_, index) => BigInt(index + 1))
  const expired = await commit(path, { action: 'remove-snapshots', 'snapshot-ids': ids })
  expect(expired.status).toBe(200)
  expect(member(expired.json, 'metadata', 'snapshots')).toHaveLength(10)
}

/** A table of that name comes with its long history, is used, outgrows the limit, and is left with ten snapshots. */
async function liveThrough(name: string): Promise<void> {
  const path = `${TABLES}/${name}`
  const body = { name, 'metadata-location': writeHistory(name) }
  expect((await catalog.call('POST', '/v1/main/namespaces/ns/register', { body })).status).toBe(200)
  await loadInEveryWay(path)
  await outgrow(path)
  await expireToTen(path)
}

it('a long history is loaded, refused where it outgrows the limit, and leaves the memory when it is expired (B093)', async () => {
  const small = await makeTable(catalog, { levels: ['ns'], name: 'small' })
  // The first one also brings code and pools into memory, which stay.
  await liveThrough('first')
  const beforeBytes = heapBytesInUse()
  await liveThrough('second')
  expect((await catalog.call('GET', small.path)).status).toBe(200)
  expect(heapBytesInUse() - beforeBytes).toBeLessThan(2_000_000)
}, 120_000)

it('appends with expiry keep the metadata as small as it was (B094)', async () => {
  const { path, location } = await makeTable(catalog, { levels: ['ns'], name: 'rolling' })
  const sizesBytes: number[] = []
  const schema = { action: 'add-schema', schema: { ...SCHEMA, fields: RENUMBERED } }
  for (let id = 1n; id <= 60n; id += 1n) {
    const updates: JsonObject[] = [
      schema,
      { action: 'add-spec', spec: { fields: [] } },
      { action: 'add-snapshot', snapshot: snapshotOf(id, location) },
      { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': id },
      { action: 'remove-snapshots', 'snapshot-ids': [id - 10n] },
    ]
    const answer = await catalog.call('POST', path, { body: { updates } })
    expect(answer.status, answer.text).toBe(200)
    sizesBytes.push(answer.text.length)
    if (id === 60n) {
      expect(member(answer.json, 'metadata', 'schemas')).toHaveLength(1)
      expect(member(answer.json, 'metadata', 'partition-specs')).toHaveLength(1)
      expect(member(answer.json, 'metadata', 'snapshot-log')).toHaveLength(10)
    }
  }
  const limitBytes = Math.max(...sizesBytes.slice(0, 20)) + METADATA_LOG_BYTES
  expect(Math.max(...sizesBytes)).toBeLessThan(limitBytes)
})

/** The metadata log alone grows on, to its own limit of 100 entries. */
const METADATA_LOG_BYTES = 100 * 250
const RENUMBERED = [
  { id: 1n, name: 'ts', required: true, type: 'timestamptz' },
  { id: 2n, name: 'value', required: false, type: 'double' },
]

const snapshotOf = (id: bigint, location: string): JsonObject => ({
  'snapshot-id': id,
  'sequence-number': id,
  'timestamp-ms': BigInt(catalog.clock.nowMs()),
  'manifest-list': `${location}/metadata/snap-${id}.avro`,
  summary: { operation: 'append' },
  'schema-id': 0n,
})

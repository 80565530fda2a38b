import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody } from '../test-bodies.ts'
import { errorOf, member } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const FIRST = 5184430069070270604n
const SECOND = 9223372036854775807n
const SEQUENCE = 9007199254740993n

it('I10 every update and requirement that names an id means exactly this id, in refs, logs, statistics and errors (B086)', async () => {
  const { path, location } = await makeTable(catalog, { levels: ['ns'], name: 'ids' })
  const update = (...updates: JsonObject[]) => catalog.call('POST', path, { body: { updates } })
  const first = appendBody({ id: FIRST, sequenceNumber: SEQUENCE, location })
  const second = appendBody({ id: SECOND, sequenceNumber: SEQUENCE + 1n, parent: FIRST, location })
  for (const body of [first, second]) {
    expect((await catalog.call('POST', path, { body })).status).toBe(200)
  }
  const statistics = {
    'snapshot-id': FIRST,
    'statistics-path': `${location}/metadata/s.puffin`,
    'file-size-in-bytes': SEQUENCE,
    'file-footer-size-in-bytes': 1n,
    'blob-metadata': [],
  }
  const tag = { action: 'set-snapshot-ref', 'ref-name': 'old', type: 'tag', 'snapshot-id': FIRST }
  const { text, json } = await update(tag, { action: 'set-statistics', statistics })
  expect(json).toMatchObject({
    metadata: {
      'current-snapshot-id': SECOND,
      'last-sequence-number': SEQUENCE + 1n,
      refs: { main: { 'snapshot-id': SECOND }, old: { 'snapshot-id': FIRST } },
      'snapshot-log': [{ 'snapshot-id': FIRST }, { 'snapshot-id': SECOND }],
      statistics: [statistics],
    },
  })
  expect(text).not.toMatch(/[:,[]-?[\d.]+[eE]/)

  const near: JsonObject = { type: 'assert-ref-snapshot-id', ref: 'old', 'snapshot-id': FIRST - 4n }
  const refused = await catalog.call('POST', path, { body: { requirements: [near], updates: [] } })
  expect(refused.status).toBe(409)
  expect(errorOf(refused).message).toContain(String(FIRST))
  expect(errorOf(refused).message).toContain(String(FIRST - 4n))

  await update({ action: 'remove-snapshots', 'snapshot-ids': [FIRST - 4n] })
  const kept = await catalog.call('GET', path)
  expect(member(kept.json, 'metadata', 'snapshots')).toHaveLength(2)
  const expired = await update({ action: 'remove-snapshots', 'snapshot-ids': [FIRST] })
  expect(expired.json).toMatchObject({
    metadata: { snapshots: [{ 'snapshot-id': SECOND }], statistics: [] },
  })
})

it.each([-1n, 0n, -5n, 2n ** 63n])(
  'the snapshot id %s is refused and nothing is stored (B088)',
  async (id) => {
    const { path, location } = await makeTable(catalog, { levels: ['ns'], name: `id${id}` })
    const before = await catalog.call('GET', path)
    const body = appendBody({ id, sequenceNumber: 1n, location })
    expect((await catalog.call('POST', path, { body })).status).toBe(400)
    expect((await catalog.call('GET', path)).text).toBe(before.text)
  },
)

it('empty updates are answered by their requirements: 200 without a new file, or 409 (B055)', async () => {
  const { path, uuid, metadataLocation } = await makeTable(catalog, {
    levels: ['ns'],
    name: 'empty',
  })
  const check = (wanted: string) =>
    catalog.call('POST', path, {
      body: { requirements: [{ type: 'assert-table-uuid', uuid: wanted }], updates: [] },
    })
  const passed = await check(uuid)
  expect(passed.status).toBe(200)
  expect(passed.json).toMatchObject({ 'metadata-location': metadataLocation })
  expect((await check(uuid.replace(/^./, (digit) => (digit === '0' ? '1' : '0')))).status).toBe(409)
})

import { takeUndispatchedEvents } from '@timelake/database/outbox'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { decodeLoadTableResult } from '@timelake/iceberg/rest/load-table-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from './open-test-catalog.ts'
import { appendBody } from './test-bodies.ts'
import { makeNamespace, makeTable, type TestTable } from './test-tables.ts'

const WRITERS = 16
const APPENDS_PER_WRITER = 40
const ATTEMPTS_MAX = 100_000

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['race'])
})
afterAll(() => catalog.stop())

async function load(table: TestTable): Promise<TableMetadata> {
  const { text } = await catalog.call('GET', table.path)
  return decodeLoadTableResult(text).metadata
}

/** One append as a client makes it: load, build on what was seen, send, and start over after a lost race. */
async function append(table: TestTable, id: bigint): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const { lastSequenceNumber, currentSnapshotId } = await load(table)
    const parent = currentSnapshotId === undefined ? {} : { parent: currentSnapshotId }
    const snapshot = { id, sequenceNumber: lastSequenceNumber + 1n, location: table.location }
    const body: JsonObject = appendBody({ ...snapshot, ...parent })
    const { status, text } = await catalog.call('POST', table.path, { body })
    if (status === 200) return
    expect(status, text).toBe(409)
  }
  throw new Error(`append ${id} lost ${ATTEMPTS_MAX} races`)
}

it('keeps every acknowledged append of many racing writers once, in one line of history', async () => {
  const table = await makeTable(catalog, { levels: ['race'], name: 't' })
  const ids = Array.from({ length: WRITERS * APPENDS_PER_WRITER }, (_, at) => BigInt(at + 1))
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (const id of ids.filter((one) => Number(one) % WRITERS === writer)) await append(table, id)
  })
  await Promise.all(writers)

  const { snapshots, snapshotLog, currentSnapshotId, lastSequenceNumber } = await load(table)
  const line: bigint[] = []
  const byId = new Map(snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]))
  for (let at = currentSnapshotId; at !== undefined; at = byId.get(at)?.parentSnapshotId)
    line.push(at)
  expect([...line].sort((a, b) => Number(a - b))).toEqual(ids)
  const numbers = [...line].reverse().map((id) => byId.get(id)?.sequenceNumber)
  expect(numbers).toEqual(ids)
  expect(lastSequenceNumber).toBe(BigInt(ids.length))
  expect(snapshotLog.map(({ snapshotId }) => snapshotId)).toEqual([...line].reverse())
  const times = snapshotLog.map(({ timestampMs }) => timestampMs)
  expect(times).toEqual([...times].sort((a, b) => a - b))

  const events = await takeUndispatchedEvents(catalog.database, { limit: 2 * ids.length })
  const own = events.filter(({ tableId, name }) => tableId !== undefined && name === 't')
  expect(own.map(({ eventNumber }) => eventNumber)).toEqual(
    own.map((_, at) => BigInt(at) + (own[0]?.eventNumber ?? 0n)),
  )
  expect(own).toHaveLength(ids.length + 1)
}, 600_000)

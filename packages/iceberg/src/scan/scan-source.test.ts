import { describe, expect, it } from 'vitest'
import { appended, sampleTable, snapshotOf } from '../commit/sample-table.ts'
import { InvalidInputError } from '../spec/errors.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { type ScanAsk, scanSource } from './scan-source.ts'

/** Snapshots 1 to 5 on main; 3 is a compaction and 4 an overwrite. */
function history(): TableMetadata {
  const table = appended(sampleTable(), 1n, 2n, 3n, 4n, 5n)
  const operations = new Map([
    [3n, 'replace'],
    [4n, 'overwrite'],
  ])
  const snapshots = table.snapshots.map((snapshot): Snapshot => {
    const operation = operations.get(snapshot.snapshotId)
    return operation === undefined ? snapshot : { ...snapshot, summary: { operation } }
  })
  return { ...table, snapshots }
}

const idsOf = (metadata: TableMetadata, ask: ScanAsk) => {
  const { snapshots, addedIn } = scanSource(metadata, ask)
  return { snapshots: snapshots.map(({ snapshotId }) => snapshotId), addedIn }
}

describe('a scan of one point in time', () => {
  it('reads the head of main', () => {
    expect(idsOf(history(), {})).toEqual({ snapshots: [5n], addedIn: undefined })
  })

  it('reads an older snapshot, and one that no branch has', () => {
    const table = history()
    const lonely = { ...snapshotOf(table, 9n), parentSnapshotId: 1n }
    const wider = { ...table, snapshots: [...table.snapshots, lonely] }
    expect(idsOf(wider, { snapshotId: 2n }).snapshots).toEqual([2n])
    expect(idsOf(wider, { snapshotId: 9n }).snapshots).toEqual([9n])
  })

  it('reads nothing of a table without snapshots', () => {
    expect(idsOf(sampleTable(), {})).toEqual({ snapshots: [], addedIn: undefined })
  })

  it('has the current schema, or that of the snapshot where that is asked and known', () => {
    const table = history()
    const [first] = table.schemas
    const older = { ...table, schemas: [...table.schemas, { ...first, schemaId: 1 }] as const }
    const metadata = {
      ...older,
      currentSchemaId: 1,
      snapshots: table.snapshots.map((snapshot) =>
        snapshot.snapshotId === 2n ? { ...snapshot, schemaId: 0 } : snapshot,
      ),
    } as unknown as TableMetadata
    const schemaId = (ask: ScanAsk) => scanSource(metadata, ask).schema.schemaId
    expect(schemaId({ snapshotId: 2n })).toBe(1)
    expect(schemaId({ snapshotId: 2n, useSnapshotSchema: true })).toBe(0)
    expect(schemaId({ snapshotId: 1n, useSnapshotSchema: true })).toBe(1)
    expect(schemaId({ startSnapshotId: 1n, endSnapshotId: 2n, useSnapshotSchema: true })).toBe(0)
  })
})

describe('an incremental scan', () => {
  it.each([
    ['what was appended after the start, the end included', 1n, 5n, [2n, 5n]],
    ['nothing between a snapshot and itself', 5n, 5n, []],
    ['nothing of a compaction', 2n, 3n, []],
    ['the one snapshot after its parent', 4n, 5n, [5n]],
  ])('reads %s', (_, startSnapshotId, endSnapshotId, expected) => {
    const found = idsOf(history(), { startSnapshotId, endSnapshotId })
    expect(found).toEqual({ snapshots: expected, addedIn: new Set(expected) })
  })

  it('starts after a snapshot that was expired, while its child is there', () => {
    const table = history()
    const kept = { ...table, snapshots: table.snapshots.filter((each) => each.snapshotId > 1n) }
    expect(idsOf(kept, { startSnapshotId: 1n, endSnapshotId: 2n }).snapshots).toEqual([2n])
    const less = { ...table, snapshots: table.snapshots.filter((each) => each.snapshotId > 2n) }
    expect(() => scanSource(less, { startSnapshotId: 1n, endSnapshotId: 5n })).toThrow('ancestor')
  })

  it('ends when the history goes in circles', () => {
    const table = history()
    const snapshots = table.snapshots.map((each) => ({ ...each, parentSnapshotId: 5n }))
    const ask = { startSnapshotId: 1n, endSnapshotId: 5n }
    expect(() => scanSource({ ...table, snapshots }, ask)).toThrow('ancestor')
  })

  it.each<[string, ScanAsk, string]>([
    ['an unknown snapshot', { snapshotId: 77n }, 'expected a snapshot of the table, got 77'],
    ['an unknown end', { startSnapshotId: 1n, endSnapshotId: 77n }, 'got 77'],
    [
      'an unknown start',
      { startSnapshotId: 77n, endSnapshotId: 5n },
      'ancestor of snapshot 5, got 77',
    ],
    ['a start after the end', { startSnapshotId: 5n, endSnapshotId: 2n }, 'ancestor of snapshot 2'],
    ['a start alone', { startSnapshotId: 1n }, 'expected end-snapshot-id'],
    ['an end alone', { endSnapshotId: 1n }, 'expected start-snapshot-id'],
    ['both kinds', { snapshotId: 1n, startSnapshotId: 1n, endSnapshotId: 2n }, 'got both'],
  ])('refuses %s', (_, ask, message) => {
    expect(() => scanSource(history(), ask)).toThrow(InvalidInputError)
    expect(() => scanSource(history(), ask)).toThrow(message)
  })
})

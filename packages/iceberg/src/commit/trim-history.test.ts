import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Snapshot, SnapshotRef } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { appended, appendOf, commit, NOW_MS, sampleTable, snapshotOf } from './sample-table.ts'
import { trimHistory } from './trim-history.ts'

const DAY_MS = 86_400_000
const ASKED = { 'timelake.history.trim.enabled': 'true' }

const withProperties = (
  table: TableMetadata,
  properties: Readonly<Record<string, string>>,
): TableMetadata => ({ ...table, properties: { ...table.properties, ...properties } })
const withRefs = (
  table: TableMetadata,
  refs: Readonly<Record<string, SnapshotRef>>,
): TableMetadata => ({ ...table, refs: { ...table.refs, ...refs } })
const idsOf = ({ snapshots }: TableMetadata): readonly bigint[] =>
  snapshots.map(({ snapshotId }) => snapshotId)

/** A table whose snapshots 1, 2, … on main are a day apart; the last one is of NOW_MS. */
function daily(count: number): TableMetadata {
  let table = sampleTable()
  for (let id = 1; id <= count; id += 1) {
    const timestampMs = NOW_MS - (count - id) * DAY_MS
    table = commit(table, appendOf(snapshotOf(table, BigInt(id), { timestampMs })))
  }
  return table
}

const trimmed = (
  table: TableMetadata,
  properties: Readonly<Record<string, string>>,
  addedIds: readonly bigint[] = [],
) => trimHistory(withProperties(table, { ...ASKED, ...properties }), { nowMs: NOW_MS, addedIds })

describe('trimming the history in a commit', () => {
  it.each([
    ['does not ask', {}],
    ['says no', { 'timelake.history.trim.enabled': 'false' }],
    ['keeps its garbage', { ...ASKED, 'gc.enabled': 'false' }],
  ])('leaves a table alone that %s', (_, properties) => {
    const table = withProperties(daily(20), properties)
    expect(trimHistory(table, { nowMs: NOW_MS })).toEqual({ metadata: table, trimmed: [] })
  })

  it('leaves an encrypted table alone', () => {
    const encryptionKeys = [{ keyId: 'k', encryptedKeyMetadata: 'AAAA' }]
    const table = { ...withProperties(daily(20), ASKED), encryptionKeys }
    expect(trimHistory(table, { nowMs: NOW_MS }).metadata).toBe(table)
  })

  it.each<[string, Record<string, string>, number]>([
    ['five days by default', {}, 6],
    ['the age that the table says', { 'history.expire.max-snapshot-age-ms': String(DAY_MS) }, 2],
    ['the least number, however old', { 'history.expire.min-snapshots-to-keep': '9' }, 9],
    ['the most number, however young', { 'timelake.history.max-snapshots': '3' }, 3],
    [
      'the least number where the two meet',
      { 'timelake.history.max-snapshots': '3', 'history.expire.min-snapshots-to-keep': '4' },
      4,
    ],
    ['five days when the text is no number', { 'history.expire.max-snapshot-age-ms': 'week' }, 6],
    ['five days when the number is no long', { 'history.expire.max-snapshot-age-ms': '9e99' }, 6],
  ])('keeps %s', (_, properties, count) => {
    const { metadata, trimmed: gone } = trimmed(daily(12), properties)
    expect(metadata.snapshots).toHaveLength(count)
    expect([...idsOf({ ...metadata, snapshots: gone }), ...idsOf(metadata)]).toEqual(
      idsOf(daily(12)),
    )
    expect(metadata.snapshotLog.map(({ snapshotId }) => snapshotId)).toEqual(idsOf(metadata))
  })

  it('B061: keeps the head of every branch when the table wants to keep none', () => {
    const table = withRefs(daily(12), { audit: { snapshotId: 2n, type: 'branch' } })
    const { metadata } = trimmed(table, {
      'history.expire.min-snapshots-to-keep': '0',
      'history.expire.max-snapshot-age-ms': '1',
    })
    expect(idsOf(metadata)).toEqual([2n, 12n])
    expect(metadata.refs).toEqual(table.refs)
  })

  it('lets a branch say for itself what it keeps', () => {
    const table = withRefs(daily(12), {
      main: { snapshotId: 12n, type: 'branch', maxSnapshotAgeMs: DAY_MS },
      slow: { snapshotId: 5n, type: 'branch', minSnapshotsToKeep: 3 },
    })
    expect(idsOf(trimmed(table, {}).metadata)).toEqual([3n, 4n, 5n, 11n, 12n])
  })

  it('keeps of a tag its snapshot, and nothing before it', () => {
    const table = withRefs(daily(12), { q1: { snapshotId: 8n, type: 'tag' } })
    const { metadata } = trimmed(table, { 'timelake.history.max-snapshots': '2' })
    expect(idsOf(metadata)).toEqual([8n, 11n, 12n])
  })

  it('keeps a staged snapshot until it is too old', () => {
    const staged = (id: bigint, ageMs: number): Snapshot =>
      snapshotOf(daily(3), id, { timestampMs: NOW_MS - ageMs })
    const table = {
      ...daily(3),
      snapshots: [...daily(3).snapshots, staged(50n, 6 * DAY_MS), staged(51n, DAY_MS)],
    }
    const { metadata } = trimmed(table, { 'timelake.history.max-snapshots': '1' })
    expect(idsOf(metadata)).toEqual([3n, 51n])
  })

  it('keeps every snapshot of the commit, whatever its clock and the limits say', () => {
    const { metadata } = trimmed(daily(12), { 'timelake.history.max-snapshots': '1' }, [3n, 11n])
    expect(idsOf(metadata)).toEqual([3n, 11n, 12n])
  })

  it('takes the statistics of a trimmed snapshot along', () => {
    const statistics = [2n, 12n].map((snapshotId) => ({
      snapshotId,
      statisticsPath: `s${snapshotId}`,
      fileSizeBytes: 1n,
      fileFooterSizeBytes: 1n,
      blobMetadata: [],
    }))
    const table = { ...daily(12), statistics, partitionStatistics: statistics }
    const { metadata } = trimmed(table, {})
    expect(metadata.statistics).toEqual([statistics[1]])
    expect(metadata.partitionStatistics).toEqual([statistics[1]])
  })

  it('trims main of an old file that has no refs', () => {
    const table = { ...daily(12), refs: {} }
    expect(idsOf(trimmed(table, { 'timelake.history.max-snapshots': '2' }).metadata)).toEqual([
      11n,
      12n,
    ])
  })

  it('ends on a file whose snapshots are chained into a circle', () => {
    const table = daily(4)
    const [first, ...others] = table.snapshots
    if (first === undefined) throw new Error('expected snapshots')
    const circle = { ...table, snapshots: [{ ...first, parentSnapshotId: 4n }, ...others] }
    expect(idsOf(trimmed(circle, { 'timelake.history.max-snapshots': '2' }).metadata)).toEqual([
      3n,
      4n,
    ])
  })

  it('hands the table back as it is when nothing is old', () => {
    const table = withProperties(appended(sampleTable(), 1n, 2n), ASKED)
    expect(trimHistory(table, { nowMs: NOW_MS }).metadata).toBe(table)
  })

  it('I40 has nothing left to do after it was done, and loses no ref (property)', () => {
    const refsOf12 = fc.dictionary(
      fc.constantFrom('a', 'b', 'main'),
      fc.record({
        snapshotId: fc.bigInt(1n, 12n),
        type: fc.constantFrom<('branch' | 'tag')[]>('branch', 'tag'),
      }),
    )
    const limits = fc.record({
      'timelake.history.max-snapshots': fc.integer({ min: 0, max: 13 }).map(String),
      'history.expire.min-snapshots-to-keep': fc.integer({ min: 0, max: 13 }).map(String),
      'history.expire.max-snapshot-age-ms': fc
        .integer({ min: 0, max: 13 })
        .map((days) => String(days * DAY_MS)),
    })
    fc.assert(
      fc.property(refsOf12, limits, (refs, properties) => {
        const table = withRefs(daily(12), refs)
        const { metadata, trimmed: gone } = trimmed(table, properties)
        const kept = new Set(idsOf(metadata))
        expect(gone.length + kept.size).toBe(12)
        for (const { snapshotId } of Object.values(metadata.refs))
          expect(kept).toContain(snapshotId)
        expect(trimHistory(metadata, { nowMs: NOW_MS }).metadata).toBe(metadata)
      }),
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TableMetadata } from '../spec/table-metadata.ts'
import {
  appendOf,
  commit,
  CREATED_AT_MS,
  NOW_MS,
  sampleTable,
  setMain,
  snapshotOf,
} from './sample-table.ts'

const DAY_MS = 86_400_000
const table = sampleTable()
const append = (base: TableMetadata, ...[snapshotId, timestampMs]: [bigint, number]) =>
  commit(base, appendOf(snapshotOf(base, snapshotId, { timestampMs })))

describe('B059: times never go backwards', () => {
  it.each([
    ['40 s behind', -40_000, CREATED_AT_MS + 20_000],
    ['5 minutes behind', -300_000, CREATED_AT_MS - 240_000],
    ['exact', 0, NOW_MS],
    ['a day ahead', DAY_MS, NOW_MS],
  ])('a writer whose clock is %s is logged within bounds', (_, skewMs, loggedMs) => {
    const after = append(table, 11n, NOW_MS + skewMs)
    expect(after.snapshotLog).toEqual([{ snapshotId: 11n, timestampMs: loggedMs }])
    expect(after.snapshots[0]?.timestampMs).toBe(NOW_MS + skewMs)
    expect(after.lastUpdatedMs).toBe(NOW_MS)
  })

  it('an entry is never before the one before it', () => {
    const after = append(append(table, 11n, NOW_MS), 12n, NOW_MS - DAY_MS)
    expect(after.snapshotLog.map(({ timestampMs }) => timestampMs)).toEqual([NOW_MS, NOW_MS])
  })

  it('an entry from the future, written elsewhere, does not block the next', () => {
    const future = {
      ...append(table, 11n, NOW_MS),
      snapshotLog: [{ snapshotId: 11n, timestampMs: NOW_MS + DAY_MS }],
    }
    const after = append(future, 12n, NOW_MS)
    expect(after.snapshotLog[1]).toEqual({ snapshotId: 12n, timestampMs: NOW_MS + DAY_MS })
  })

  it('a server whose clock was set back keeps the time of the table', () => {
    const after = commit(
      table,
      [{ action: 'set-properties', updates: { a: 'b' } }],
      CREATED_AT_MS - DAY_MS,
    )
    expect(after.lastUpdatedMs).toBe(CREATED_AT_MS)
  })

  it('a rollback is logged with the time of the commit', () => {
    const two = append(append(table, 11n, NOW_MS), 12n, NOW_MS)
    const after = commit(two, [setMain(11n)], NOW_MS + 5)
    expect(after.snapshotLog.at(-1)).toEqual({ snapshotId: 11n, timestampMs: NOW_MS + 5 })
  })

  it('I8 holds for any clocks (property)', () => {
    const skews = fc.array(
      fc.tuple(
        fc.integer({ min: -DAY_MS, max: DAY_MS }),
        fc.integer({ min: -DAY_MS, max: DAY_MS }),
      ),
    )
    fc.assert(
      fc.property(skews, (pairs) => {
        let last = table
        pairs.forEach(([writerMs, serverMs], position) => {
          const snapshot = snapshotOf(last, BigInt(position + 1), {
            timestampMs: NOW_MS + writerMs,
          })
          last = commit(last, appendOf(snapshot), NOW_MS + serverMs)
        })
        const timesMs = [
          ...last.snapshotLog.map(({ timestampMs }) => timestampMs),
          last.lastUpdatedMs,
        ]
        expect(timesMs).toEqual(timesMs.toSorted((a, b) => a - b))
      }),
    )
  })
})

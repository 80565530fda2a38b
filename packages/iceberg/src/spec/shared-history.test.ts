import fc from 'fast-check'
import { arbitraryMetadata } from '@timelake/testing/arbitrary-metadata'
import { describe, expect, it } from 'vitest'
import { shareHistory } from './shared-history.ts'
import type { Snapshot } from './snapshot.ts'
import { decodeTableMetadata, encodeTableMetadata } from './table-metadata-json.ts'
import type { FormatVersion, TableMetadata } from './table-metadata.ts'

const snapshot = (number: number): Snapshot => ({
  snapshotId: BigInt(number),
  sequenceNumber: BigInt(number),
  timestampMs: number,
  manifestList: `s3://lake/t/metadata/snap-${number}.avro`,
  summary: { operation: 'append', note: `"snapshots": [${number}] é\\` },
})
const logEntry = (number: number) => ({ timestampMs: number, snapshotId: BigInt(number) })

const [start] = fc.sample(arbitraryMetadata(2), { numRuns: 1, seed: 7 })
if (start === undefined) throw new Error('a sample has one value')
/** A table whose history has these numbers. */
function tableWith(numbers: readonly number[], more: Partial<TableMetadata> = {}): TableMetadata {
  const last = BigInt(numbers.at(-1) ?? 0)
  return decodeTableMetadata(
    encodeTableMetadata({
      ...(start as TableMetadata),
      snapshots: numbers.map(snapshot),
      snapshotLog: numbers.map(logEntry),
      currentSnapshotId: last,
      refs: { main: { snapshotId: last, type: 'branch' } },
      statistics: [],
      partitionStatistics: [],
      ...more,
    }),
  )
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index)

describe('a metadata file read beside an earlier version', () => {
  it.each([1, 2, 3] as FormatVersion[])('is what it is alone (v%i)', (version) => {
    fc.assert(
      fc.property(arbitraryMetadata(version), arbitraryMetadata(version), (one, other) => {
        const text = encodeTableMetadata(one)
        expect(decodeTableMetadata(text, one)).toEqual(one)
        expect(decodeTableMetadata(text, { ...other, tableUuid: one.tableUuid })).toEqual(one)
        const mixed = { ...one, snapshots: [...other.snapshots, ...one.snapshots] }
        expect(decodeTableMetadata(text, mixed)).toEqual(one)
      }),
      { numRuns: 60 },
    )
  })

  it.each([
    ['appended to', range(1, 300), range(1, 303), 299],
    ['cut off at the front', range(1, 300), range(50, 301), 250],
    ['without one in the middle', range(1, 300), [...range(1, 100), ...range(101, 300)], 99],
    ['the same', range(1, 300), range(1, 300), 299],
    ['all new', range(1, 300), range(300, 400), 0],
  ])('shares the values of a history that is %s', (_, before, after, sharedCount) => {
    const known = tableWith(before)
    const next = tableWith(after)
    const read = decodeTableMetadata(encodeTableMetadata(next), known)
    expect(read).toEqual(next)
    expect(read.snapshots.filter((one) => known.snapshots.includes(one))).toHaveLength(sharedCount)
    expect(read.snapshotLog.filter((one) => known.snapshotLog.includes(one))).toHaveLength(
      sharedCount,
    )
  })

  it('takes a changed snapshot from the text', () => {
    const known = tableWith(range(1, 10))
    const snapshots = known.snapshots.map((one) =>
      one.snapshotId === 5n ? { ...one, summary: { operation: 'overwrite' } } : one,
    )
    const next = { ...known, snapshots }
    expect(decodeTableMetadata(encodeTableMetadata(next), known)).toEqual(next)
  })

  it.each([
    [
      'a list that ends with a comma',
      (text: string) => text.replace('],"statistics"', ',],"statistics"'),
    ],
    ['a list that does not end', (text: string) => text.slice(0, text.indexOf('],"statistics"'))],
    [
      'a snapshot twice',
      (text: string) =>
        text.replace('"snapshots":[', '"snapshots":[{"snapshot-id":3,"timestamp-ms":3},'),
    ],
    [
      'no snapshot for main',
      (text: string) =>
        text
          .replace('"current-snapshot-id":9', '"current-snapshot-id":77')
          .replace('{"snapshot-id":9,"type":"branch"}', '{"snapshot-id":77,"type":"branch"}'),
    ],
  ])('refuses %s with the words for the whole text', (_, spoil) => {
    const known = tableWith(range(1, 10))
    const text = spoil(encodeTableMetadata(known))
    expect(text).not.toBe(encodeTableMetadata(known))
    const refusal = (read: () => unknown): string => {
      try {
        read()
      } catch (error) {
        return String(error)
      }
      return 'taken'
    }
    const alone = refusal(() => decodeTableMetadata(text))
    expect(alone).not.toBe('taken')
    expect(refusal(() => decodeTableMetadata(text, known))).toBe(alone)
  })

  it('has the last of repeated members count', () => {
    const known = tableWith(range(1, 10))
    const text = encodeTableMetadata(known).replace(
      /\}$/,
      ',"snapshots":[{"snapshot-id":9,"sequence-number":9,"timestamp-ms":4}]}',
    )
    const read = decodeTableMetadata(text, known)
    expect(read).toEqual(decodeTableMetadata(text))
    expect(read.snapshots).toHaveLength(1)
  })

  it('is not taken apart where a member of the same name lies deeper', () => {
    const known = tableWith(range(1, 10))
    const text = encodeTableMetadata(known)
    const odd = text.replace('"location":', '"odd":{"snapshots":[{"a":1}]},"location":')
    expect(decodeTableMetadata(odd, known)).toEqual(decodeTableMetadata(odd))
    expect(shareHistory(odd, known)?.snapshots).toHaveLength(9)
  })

  it('is read whole when it belongs to another table or is spelled otherwise', () => {
    const known = tableWith(range(1, 10))
    const text = encodeTableMetadata(known)
    expect(shareHistory(text, known)?.snapshots).toHaveLength(9)
    expect(shareHistory(text.replaceAll(',', ', '), known)).toBeUndefined()
    const other = { ...known, tableUuid: '11111111-0000-4000-8000-000000000000' }
    expect(shareHistory(text, other)).toBeUndefined()
  })
})

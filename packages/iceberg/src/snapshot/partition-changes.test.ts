import { expect, it } from 'vitest'
import { sampleTable, TS_COLUMN } from '../commit/sample-table.ts'
import type { DataFile, EntryStatus, ResolvedEntry } from '../manifest/data-file.ts'
import { encodeSingleValue } from '../spec/single-value.ts'
import { encodePartitionChanges, PARTITIONS_SHOWN_MAX } from './partition-changes-json.ts'
import { partitionChanges } from './partition-changes.ts'

const DAY_MICROS = 86_400_000_000n
const SNAPSHOT_ID = 9151314442816847871n

interface SampleEntry extends Partial<DataFile> {
  readonly status?: EntryStatus
  readonly snapshotId?: bigint
  readonly day?: number | null
  /** Microseconds after the start of the day. */
  readonly times?: readonly [bigint, bigint]
}

function entry({ status, snapshotId, day = 19_723, times, ...file }: SampleEntry): ResolvedEntry {
  const bound = (micros: bigint) =>
    new Map([
      [TS_COLUMN.id, encodeSingleValue(TS_COLUMN.type, BigInt(day ?? 0) * DAY_MICROS + micros)],
    ])
  const dataFile: DataFile = {
    content: 'data',
    filePath: 'file:///warehouse/ns/t/data/f.parquet',
    fileFormat: 'PARQUET',
    partition: [day],
    recordCount: 10n,
    fileSizeBytes: 1_000n,
    ...(times === undefined ? {} : { lowerBounds: bound(times[0]), upperBounds: bound(times[1]) }),
    ...file,
  }
  const numbers = { sequenceNumber: 1n, fileSequenceNumber: 1n }
  return { status: status ?? 'added', snapshotId: snapshotId ?? SNAPSHOT_ID, ...numbers, dataFile }
}

function changes(...entries: readonly SampleEntry[]) {
  const manifests = [{ snapshotId: SNAPSHOT_ID, specId: 0, entries: entries.map(entry) }]
  return partitionChanges(sampleTable(), manifests)
}

it('adds up what came and went in each partition, with the times of its data files', () => {
  const found = changes(
    { times: [5n, 7n] },
    { times: [1n, 6n], recordCount: 2n },
    { status: 'deleted', times: [6n, 9n] },
    { content: 'equality-deletes', fileSizeBytes: 30n },
    { day: null, recordCount: 0n },
    { day: null, status: 'deleted', content: 'position-deletes', contentSizeBytes: 4n },
  )
  expect(encodePartitionChanges(found)).toEqual({
    'time-column': 'ts',
    'partition-count': 2n,
    partitions: [
      {
        'spec-id': 0n,
        partition: { ts_day: '2024-01-01' },
        'added-files': 2n,
        'added-rows': 12n,
        'added-bytes': 2_030n,
        'added-delete-files': 1n,
        'removed-files': 1n,
        'removed-rows': 10n,
        'removed-bytes': 1_000n,
        'removed-delete-files': 0n,
        'time-min': '2024-01-01T00:00:00.000001+00:00',
        'time-max': '2024-01-01T00:00:00.000009+00:00',
      },
      {
        'spec-id': 0n,
        partition: { ts_day: null },
        'added-files': 1n,
        'added-rows': 0n,
        'added-bytes': 1_000n,
        'added-delete-files': 0n,
        'removed-files': 0n,
        'removed-rows': 0n,
        'removed-bytes': 4n,
        'removed-delete-files': 1n,
      },
    ],
  })
})

it('passes over files that stay and those of other snapshots', () => {
  const found = changes(
    { status: 'existing' },
    { snapshotId: 1n },
    { snapshotId: 1n, status: 'deleted' },
  )
  expect(found.partitions).toEqual([])
})

it('says nothing about the times of a partition when one of its files does not', () => {
  const found = changes({ times: [5n, 7n] }, {}, { day: 2, times: [5n, 7n] })
  const start = 2n * DAY_MICROS
  expect(found.partitions.map(({ time }) => time)).toEqual([
    undefined,
    { min: start + 5n, max: start + 7n },
  ])
})

it.each([
  ['the column by which the table is partitioned', {}, 'ts'],
  ['the column that the property names', { 'timelake.time-column': 'other' }, 'other'],
  [
    'no column, where the property names one that holds no times',
    { 'timelake.time-column': 'id' },
    undefined,
  ],
  ['the partitioned one, where the property names none', { 'timelake.time-column': 'gone' }, 'ts'],
])('takes for the times %s', (_, properties, expected) => {
  const table = sampleTable()
  const [schema] = table.schemas
  const other = { id: 9, name: 'other', required: false, type: { kind: 'date' } } as const
  const schemas = schema === undefined ? [] : [{ ...schema, fields: [...schema.fields, other] }]
  const changed = { ...table, schemas, properties }
  const found = partitionChanges(changed, [])
  expect(found.timeColumn?.name).toBe(expected)
})

it('lists a bounded number of partitions, and counts all', () => {
  const days = Array.from({ length: PARTITIONS_SHOWN_MAX + 1 }, (_, day) => ({ day }))
  const json = encodePartitionChanges(changes(...days))
  expect(json['partition-count']).toBe(BigInt(PARTITIONS_SHOWN_MAX + 1))
  expect(json['partitions']).toHaveLength(PARTITIONS_SHOWN_MAX)
})

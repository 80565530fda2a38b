import { describe, expect, it } from 'vitest'
import { CorruptFileError } from '../spec/errors.ts'
import type { DataFile, ManifestEntry } from './data-file.ts'
import type { ManifestFile } from './manifest-file.ts'
import { resolveEntries } from './resolve-entries.ts'

const manifest: ManifestFile = {
  manifestPath: 'file:///lake/m.avro',
  manifestLengthBytes: 1n,
  partitionSpecId: 0,
  content: 'data',
  sequenceNumber: 7n,
  minSequenceNumber: 3n,
  addedSnapshotId: 70n,
}

const file = (filePath: string, extra: Partial<DataFile> = {}): DataFile => ({
  content: 'data',
  filePath,
  fileFormat: 'PARQUET',
  partition: [],
  recordCount: 10n,
  fileSizeBytes: 100n,
  ...extra,
})

describe('resolveEntries', () => {
  it.each<[string, ManifestEntry, object]>([
    [
      'an added entry inherits everything',
      { status: 'added', dataFile: file('a') },
      { snapshotId: 70n, sequenceNumber: 7n, fileSequenceNumber: 7n },
    ],
    [
      'an added entry keeps an explicit data sequence number',
      { status: 'added', sequenceNumber: 3n, dataFile: file('a') },
      { snapshotId: 70n, sequenceNumber: 3n, fileSequenceNumber: 7n },
    ],
    [
      'an existing entry keeps its own numbers',
      {
        status: 'existing',
        snapshotId: 30n,
        sequenceNumber: 3n,
        fileSequenceNumber: 4n,
        dataFile: file('a'),
      },
      { snapshotId: 30n, sequenceNumber: 3n, fileSequenceNumber: 4n },
    ],
    [
      'an existing entry from before file sequence numbers takes the data sequence number',
      { status: 'existing', snapshotId: 30n, sequenceNumber: 3n, dataFile: file('a') },
      { snapshotId: 30n, sequenceNumber: 3n, fileSequenceNumber: 3n },
    ],
  ])('%s', (_, entry, expected) => {
    expect(resolveEntries(manifest, [entry])).toEqual([{ ...entry, ...expected }])
  })

  it.each(['existing', 'deleted'] as const)(
    'gives %s entries of a v1 manifest sequence number 0',
    (status) => {
      const entry: ManifestEntry = { status, snapshotId: 30n, dataFile: file('a') }
      const v1 = { ...manifest, sequenceNumber: 0n }
      expect(resolveEntries(v1, [entry])).toEqual([
        { ...entry, sequenceNumber: 0n, fileSequenceNumber: 0n },
      ])
    },
  )

  it.each(['existing', 'deleted'] as const)(
    'refuses a v2 %s entry without a sequence number',
    (status) => {
      const entry: ManifestEntry = { status, snapshotId: 30n, dataFile: file('a') }
      expect(() => resolveEntries(manifest, [entry])).toThrow(CorruptFileError)
      expect(() => resolveEntries(manifest, [entry])).toThrow(`for the ${status} entry a`)
    },
  )

  it('runs row ids over live files without one', () => {
    const entries: ManifestEntry[] = [
      { status: 'added', dataFile: file('a') },
      { status: 'deleted', snapshotId: 1n, sequenceNumber: 1n, dataFile: file('b') },
      { status: 'existing', sequenceNumber: 1n, dataFile: file('c', { firstRowId: 5n }) },
      { status: 'added', dataFile: file('d', { recordCount: 3n }) },
      { status: 'added', dataFile: file('e') },
    ]
    const resolved = resolveEntries({ ...manifest, firstRowId: 1000n }, entries)
    expect(resolved.map(({ dataFile }) => dataFile.firstRowId)).toEqual([
      1000n,
      undefined,
      5n,
      1010n,
      1013n,
    ])
  })

  it('assigns no row ids in delete manifests or without a first row id', () => {
    const entries: ManifestEntry[] = [{ status: 'added', dataFile: file('a') }]
    const deletes = { ...manifest, content: 'deletes' as const, firstRowId: 1n }
    expect(resolveEntries(deletes, entries)[0]?.dataFile.firstRowId).toBeUndefined()
    expect(resolveEntries(manifest, entries)[0]?.dataFile.firstRowId).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import type { DataFile } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import { summarizeChanges } from './snapshot-summary.ts'

const file: DataFile = {
  content: 'data',
  filePath: 'f',
  fileFormat: 'PARQUET',
  partition: [],
  recordCount: 10n,
  fileSizeBytes: 100n,
}
const manifest: ManifestFile = {
  manifestPath: 'm',
  manifestLengthBytes: 1n,
  partitionSpecId: 0,
  content: 'data',
  sequenceNumber: 1n,
  minSequenceNumber: 1n,
  addedSnapshotId: 1n,
  addedFilesCount: 3,
  existingFilesCount: 2,
  deletedFilesCount: 9,
  addedRowsCount: 30n,
  existingRowsCount: 20n,
  deletedRowsCount: 90n,
}
const parent = (summary: Record<string, string>): Snapshot => ({
  snapshotId: 1n,
  sequenceNumber: 1n,
  timestampMs: 1,
  summary: { operation: 'append', ...summary },
})
const added = { added: [file], removed: [] }

describe('summarizeChanges', () => {
  it('counts files and rows from the manifests when the parent has no totals, and leaves out the rest', () => {
    const summary = summarizeChanges(added, parent({}), [manifest])
    expect(summary).toMatchObject({
      'total-data-files': '6',
      'total-records': '60',
      'total-delete-files': '0',
    })
    expect(summary).not.toHaveProperty('total-files-size')
  })

  it('knows nothing of rows beside deletes without totals', () => {
    const summary = summarizeChanges(added, parent({}), [
      manifest,
      { ...manifest, content: 'deletes' },
    ])
    expect(summary).toMatchObject({ 'total-data-files': '6', 'total-delete-files': '5' })
    expect(summary).not.toHaveProperty('total-records')
    expect(summary).not.toHaveProperty('total-position-deletes')
  })

  it('trusts the totals of the parent', () => {
    const totals = {
      'total-data-files': '7',
      'total-files-size': '1000',
      'total-position-deletes': '4',
    }
    expect(summarizeChanges(added, parent(totals), [manifest])).toMatchObject({
      'total-data-files': '8',
      'total-files-size': '1100',
      'total-position-deletes': '4',
    })
  })

  it('leaves out totals that are no number or would be negative', () => {
    const totals = { 'total-data-files': 'many', 'total-files-size': '50', 'total-records': '-3' }
    const { addedFilesCount: _, addedRowsCount: __, ...unknown } = manifest
    const summary = summarizeChanges({ added: [], removed: [file] }, parent(totals), [unknown])
    expect(Object.keys(summary).filter((key) => key.startsWith('total-'))).toEqual([
      'total-delete-files',
      'total-position-deletes',
      'total-equality-deletes',
    ])
  })
})

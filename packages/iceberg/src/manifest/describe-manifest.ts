import type { PartitionSpec } from '../spec/partition-spec.ts'
import type { ManifestEntry } from './data-file.ts'
import type { ManifestFile } from './manifest-file.ts'
import { summarizePartitionType } from './partition-summary.ts'
import type { PartitionType } from './partition-type.ts'

export interface WrittenManifest {
  readonly manifestPath: string
  readonly lengthBytes: number
  readonly spec: PartitionSpec
  readonly partition: PartitionType
  readonly content: 'data' | 'deletes'
  readonly entries: readonly ManifestEntry[]
  /** The snapshot that adds the manifest, and its sequence number (0 in v1). */
  readonly snapshotId: bigint
  readonly sequenceNumber: bigint
}

/**
 * The manifest list entry of a manifest that was just written. The minimum sequence number is that of the live
 * entries; entries that inherit count with the manifest's own. Spec: Manifest Lists.
 */
export function describeManifest(written: WrittenManifest): ManifestFile {
  const counts = { added: 0, existing: 0, deleted: 0 }
  const rows = { added: 0n, existing: 0n, deleted: 0n }
  let minSequenceNumber: bigint | undefined
  for (const { status, sequenceNumber = written.sequenceNumber, dataFile } of written.entries) {
    counts[status] += 1
    rows[status] += dataFile.recordCount
    if (status === 'deleted') continue
    if (minSequenceNumber === undefined || sequenceNumber < minSequenceNumber) {
      minSequenceNumber = sequenceNumber
    }
  }
  return {
    manifestPath: written.manifestPath,
    manifestLengthBytes: BigInt(written.lengthBytes),
    partitionSpecId: written.spec.specId,
    content: written.content,
    sequenceNumber: written.sequenceNumber,
    minSequenceNumber: minSequenceNumber ?? written.sequenceNumber,
    addedSnapshotId: written.snapshotId,
    addedFilesCount: counts.added,
    existingFilesCount: counts.existing,
    deletedFilesCount: counts.deleted,
    addedRowsCount: rows.added,
    existingRowsCount: rows.existing,
    deletedRowsCount: rows.deleted,
    partitions: summarizePartitionType(written.partition, written.entries),
  }
}

import type { AvroCursor } from '../avro/avro-cursor.ts'
import type { RecordPlan, Slots } from '../avro/avro-record.ts'
import { planRecord, readRecord } from '../avro/avro-record.ts'
import { openAvroContainer, readAvroRecords } from '../avro/read-avro-container.ts'
import type { Filled } from '../spec/decode.ts'
import type { ManifestFile, PartitionFieldSummary } from './manifest-file.ts'
import { MANIFEST_FILE_FIELDS, SUMMARY_FIELDS } from './wanted-fields.ts'

/**
 * The manifests of a snapshot, in list order. Only the field ids of the schema in the file count, never the
 * `format-version` key, which some writers leave out: a delete manifest stays one. Absent fields (lists of v1, also in
 * tables upgraded since): content data, sequence numbers 0, counts unknown. `location` names the file in errors. Throws
 * CorruptFileError. Spec: Manifest Lists.
 */
export function readManifestList(bytes: Uint8Array, location = ''): ManifestFile[] {
  const what = `manifest list ${location}`.trimEnd()
  const container = openAvroContainer(bytes, what)
  const plan = planRecord(container.schema, MANIFEST_FILE_FIELDS.fields, what)
  const manifests: ManifestFile[] = []
  const slots: Slots = []
  readAvroRecords(container, (cursor) => {
    manifests.push(readManifestFile(cursor, plan, slots))
  })
  return manifests
}

function readManifestFile(cursor: AvroCursor, plan: RecordPlan, slots: Slots): ManifestFile {
  readRecord(cursor, plan, slots)
  const { slot } = MANIFEST_FILE_FIELDS
  // The plan made sure of the kinds, here and below.
  const manifestPath = slots[slot.manifestPath] as string | undefined
  const manifestLengthBytes = slots[slot.manifestLengthBytes] as bigint | undefined
  const content = (slots[slot.content] as number | undefined) ?? 0
  if (manifestPath === undefined) throw cursor.fail('a manifest without manifest_path')
  if (manifestLengthBytes === undefined) throw cursor.fail(`no manifest_length for ${manifestPath}`)
  if (content !== 0 && content !== 1)
    throw cursor.fail(`unknown content ${content} of ${manifestPath}`)
  const manifest: Filled<ManifestFile> = {
    manifestPath,
    manifestLengthBytes,
    partitionSpecId: (slots[slot.partitionSpecId] as number | undefined) ?? 0,
    content: content === 0 ? 'data' : 'deletes',
    sequenceNumber: (slots[slot.sequenceNumber] as bigint | undefined) ?? 0n,
    minSequenceNumber: (slots[slot.minSequenceNumber] as bigint | undefined) ?? 0n,
    addedSnapshotId: (slots[slot.addedSnapshotId] as bigint | undefined) ?? 0n,
  }
  fillCounts(manifest, slots)
  const partitions = slots[slot.partitions] as Slots[] | undefined
  if (partitions !== undefined) manifest.partitions = partitions.map(summaryOf)
  const keyMetadata = slots[slot.keyMetadata] as Uint8Array | undefined
  if (keyMetadata !== undefined) manifest.keyMetadata = keyMetadata
  const firstRowId = slots[slot.firstRowId] as bigint | undefined
  if (firstRowId !== undefined) manifest.firstRowId = firstRowId
  return manifest
}

/** A count below zero is a writer's way to say "unknown". */
function fillCounts(manifest: Filled<ManifestFile>, slots: Slots): void {
  const { slot } = MANIFEST_FILE_FIELDS
  const addedFilesCount = slots[slot.addedFilesCount] as number | undefined
  if (isCount(addedFilesCount)) manifest.addedFilesCount = addedFilesCount
  const existingFilesCount = slots[slot.existingFilesCount] as number | undefined
  if (isCount(existingFilesCount)) manifest.existingFilesCount = existingFilesCount
  const deletedFilesCount = slots[slot.deletedFilesCount] as number | undefined
  if (isCount(deletedFilesCount)) manifest.deletedFilesCount = deletedFilesCount
  const addedRowsCount = slots[slot.addedRowsCount] as bigint | undefined
  if (isRowCount(addedRowsCount)) manifest.addedRowsCount = addedRowsCount
  const existingRowsCount = slots[slot.existingRowsCount] as bigint | undefined
  if (isRowCount(existingRowsCount)) manifest.existingRowsCount = existingRowsCount
  const deletedRowsCount = slots[slot.deletedRowsCount] as bigint | undefined
  if (isRowCount(deletedRowsCount)) manifest.deletedRowsCount = deletedRowsCount
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && value >= 0
}

function isRowCount(value: bigint | undefined): value is bigint {
  return value !== undefined && value >= 0n
}

function summaryOf(slots: Slots): PartitionFieldSummary {
  const { slot } = SUMMARY_FIELDS
  const summary: Filled<PartitionFieldSummary> = {
    // Absent is "unknown", and only true never hides a row.
    containsNull: (slots[slot.containsNull] as boolean | undefined) ?? true,
  }
  const containsNan = slots[slot.containsNan] as boolean | undefined
  if (containsNan !== undefined) summary.containsNan = containsNan
  const lowerBound = slots[slot.lowerBound] as Uint8Array | undefined
  if (lowerBound !== undefined) summary.lowerBound = lowerBound
  const upperBound = slots[slot.upperBound] as Uint8Array | undefined
  if (upperBound !== undefined) summary.upperBound = upperBound
  return summary
}

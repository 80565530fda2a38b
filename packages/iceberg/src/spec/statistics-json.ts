import {
  extraMembers,
  int,
  list,
  long,
  nonNegativeLong,
  object,
  optional,
  stringMap,
  text,
} from './decode.ts'
import type { Filled } from './decode.ts'
import type { JsonObject, JsonValue } from './json-value.ts'
import type { BlobMetadata, PartitionStatisticsFile, StatisticsFile } from './table-metadata.ts'

const STATISTICS_MEMBERS = new Set([
  'snapshot-id',
  'statistics-path',
  'file-size-in-bytes',
  'file-footer-size-in-bytes',
  'key-metadata',
  'blob-metadata',
])
const BLOB_MEMBERS = new Set(['type', 'snapshot-id', 'sequence-number', 'fields', 'properties'])
const PARTITION_STATISTICS_MEMBERS = new Set([
  'snapshot-id',
  'statistics-path',
  'file-size-in-bytes',
])

/** Reads a statistics file's entry. Throws InvalidInputError naming the member. Spec: Table Statistics. */
export function decodeStatisticsFile(json: JsonValue | undefined, path: string): StatisticsFile {
  const raw = object(json, path)
  const file: Filled<StatisticsFile> = {
    snapshotId: long(raw['snapshot-id'], `${path}.snapshot-id`),
    statisticsPath: text(raw['statistics-path'], `${path}.statistics-path`),
    fileSizeBytes: nonNegativeLong(raw['file-size-in-bytes'], `${path}.file-size-in-bytes`),
    fileFooterSizeBytes: nonNegativeLong(
      raw['file-footer-size-in-bytes'],
      `${path}.file-footer-size-in-bytes`,
    ),
    blobMetadata: optional(raw['blob-metadata'], `${path}.blob-metadata`, decodeBlobs) ?? [],
  }
  const keyMetadata = optional(raw['key-metadata'], `${path}.key-metadata`, text)
  if (keyMetadata !== undefined) file.keyMetadata = keyMetadata
  const extra = extraMembers(raw, STATISTICS_MEMBERS)
  if (extra !== undefined) file.extra = extra
  return file
}

/** The JSON form of a statistics file's entry. Inverse of decodeStatisticsFile. */
export function encodeStatisticsFile(file: StatisticsFile): JsonObject {
  return {
    ...file.extra,
    'snapshot-id': file.snapshotId,
    'statistics-path': file.statisticsPath,
    'file-size-in-bytes': file.fileSizeBytes,
    'file-footer-size-in-bytes': file.fileFooterSizeBytes,
    'key-metadata': file.keyMetadata,
    'blob-metadata': file.blobMetadata.map((blob) => ({
      ...blob.extra,
      type: blob.type,
      'snapshot-id': blob.snapshotId,
      'sequence-number': blob.sequenceNumber,
      fields: blob.fields.map(BigInt),
      properties: blob.properties,
    })),
  }
}

/** Reads a partition statistics file's entry. Spec: Partition Statistics. */
export function decodePartitionStatisticsFile(
  json: JsonValue | undefined,
  path: string,
): PartitionStatisticsFile {
  const raw = object(json, path)
  const file: Filled<PartitionStatisticsFile> = {
    snapshotId: long(raw['snapshot-id'], `${path}.snapshot-id`),
    statisticsPath: text(raw['statistics-path'], `${path}.statistics-path`),
    fileSizeBytes: nonNegativeLong(raw['file-size-in-bytes'], `${path}.file-size-in-bytes`),
  }
  const extra = extraMembers(raw, PARTITION_STATISTICS_MEMBERS)
  if (extra !== undefined) file.extra = extra
  return file
}

/** The JSON form of a partition statistics file's entry. */
export function encodePartitionStatisticsFile(file: PartitionStatisticsFile): JsonObject {
  return {
    ...file.extra,
    'snapshot-id': file.snapshotId,
    'statistics-path': file.statisticsPath,
    'file-size-in-bytes': file.fileSizeBytes,
  }
}

function decodeBlobs(json: JsonValue | undefined, path: string): BlobMetadata[] {
  return list(json, path, decodeBlob)
}

function decodeBlob(json: JsonValue | undefined, path: string): BlobMetadata {
  const raw = object(json, path)
  const blob: Filled<BlobMetadata> = {
    type: text(raw['type'], `${path}.type`),
    snapshotId: long(raw['snapshot-id'], `${path}.snapshot-id`),
    sequenceNumber: long(raw['sequence-number'], `${path}.sequence-number`),
    fields: list(raw['fields'], `${path}.fields`, int),
  }
  const properties = optional(raw['properties'], `${path}.properties`, stringMap)
  if (properties !== undefined) blob.properties = properties
  const extra = extraMembers(raw, BLOB_MEMBERS)
  if (extra !== undefined) blob.extra = extra
  return blob
}

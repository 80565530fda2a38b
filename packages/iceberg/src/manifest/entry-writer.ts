import type { AvroSink } from '../avro/avro-sink.ts'
import { assertNever } from '../spec/invariant.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import type { FormatVersion } from '../spec/table-metadata.ts'
import type { DataFile, EntryStatus, FileContent, ManifestEntry } from './data-file.ts'
import type { FieldWriter } from './field-writer.ts'
import {
  intMapSchema,
  listSchema,
  optionalField,
  recordSchema,
  requiredField,
  writeBytes,
  writeBytesById,
  writeInt,
  writeIntList,
  writeLong,
  writeLongList,
  writeLongsById,
  writeText,
} from './field-writer.ts'
import type { PartitionType } from './partition-type.ts'
import { partitionWriter } from './partition-writer.ts'

/** v1 demands a block size that nobody reads; this is the value that writers use. */
const BLOCK_SIZE_BYTES = 64n * 1024n * 1024n

export interface EntryWriter {
  readonly schema: JsonObject
  write(sink: AvroSink, entry: ManifestEntry): void
}

/** Schema and writer of the entries of one manifest. Spec: Manifest Entry Fields, Data File Fields. */
export function entryWriter(formatVersion: FormatVersion, partition: PartitionType): EntryWriter {
  const files = dataFileFields(formatVersion, partition)
  const fields: readonly FieldWriter<ManifestEntry>[] = [
    requiredField(
      { id: 0, name: 'status', type: 'int' },
      (entry: ManifestEntry) => statusCode(entry.status),
      writeInt,
    ),
    ...numberFields(formatVersion),
    {
      id: 2,
      name: 'data_file',
      isOptional: false,
      type: recordSchema('r2', files),
      write(sink, entry) {
        for (const field of files) field.write(sink, entry.dataFile)
      },
    },
  ]
  return {
    schema: recordSchema('manifest_entry', fields),
    write(sink, entry) {
      for (const field of fields) field.write(sink, entry)
    },
  }
}

function numberFields(formatVersion: FormatVersion): FieldWriter<ManifestEntry>[] {
  const snapshotId = { id: 1, name: 'snapshot_id', type: 'long' }
  if (formatVersion === 1) {
    return [requiredField(snapshotId, (entry: ManifestEntry) => entry.snapshotId ?? 0n, writeLong)]
  }
  return [
    optionalField(snapshotId, (entry) => entry.snapshotId, writeLong),
    optionalField(
      { id: 3, name: 'sequence_number', type: 'long' },
      (entry) => entry.sequenceNumber,
      writeLong,
    ),
    optionalField(
      { id: 4, name: 'file_sequence_number', type: 'long' },
      (entry) => entry.fileSequenceNumber,
      writeLong,
    ),
  ]
}

function dataFileFields(
  formatVersion: FormatVersion,
  partition: PartitionType,
): FieldWriter<DataFile>[] {
  const fields = identityFields(partition)
  if (formatVersion === 1)
    return [...fields, blockSizeField, ...metricFields, ...storageFields, sortOrderField]
  const all = [
    contentField,
    ...fields,
    ...metricFields,
    ...storageFields,
    equalityIdsField,
    sortOrderField,
  ]
  return formatVersion === 2 ? [...all, referencedDataFileField] : [...all, ...rowLineageFields]
}

const contentField: FieldWriter<DataFile> = requiredField(
  { id: 134, name: 'content', type: 'int' },
  (file: DataFile) => contentCode(file.content),
  writeInt,
)

function identityFields(partition: PartitionType): FieldWriter<DataFile>[] {
  const tuple = partitionWriter(partition)
  return [
    requiredField(
      { id: 100, name: 'file_path', type: 'string' },
      (file) => file.filePath,
      writeText,
    ),
    requiredField(
      { id: 101, name: 'file_format', type: 'string' },
      (file) => file.fileFormat,
      writeText,
    ),
    requiredField(
      { id: 102, name: 'partition', type: tuple.schema },
      (file) => file.partition,
      (sink, values) => tuple.write(sink, values),
    ),
    requiredField(
      { id: 103, name: 'record_count', type: 'long' },
      (file) => file.recordCount,
      writeLong,
    ),
    requiredField(
      { id: 104, name: 'file_size_in_bytes', type: 'long' },
      (file) => file.fileSizeBytes,
      writeLong,
    ),
  ]
}

const blockSizeField: FieldWriter<DataFile> = requiredField(
  { id: 105, name: 'block_size_in_bytes', type: 'long' },
  () => BLOCK_SIZE_BYTES,
  writeLong,
)

const metricFields: readonly FieldWriter<DataFile>[] = [
  longsById([108, 117, 118], 'column_sizes', (file) => file.columnSizesBytes),
  longsById([109, 119, 120], 'value_counts', (file) => file.valueCounts),
  longsById([110, 121, 122], 'null_value_counts', (file) => file.nullValueCounts),
  longsById([137, 138, 139], 'nan_value_counts', (file) => file.nanValueCounts),
  bytesById([125, 126, 127], 'lower_bounds', (file) => file.lowerBounds),
  bytesById([128, 129, 130], 'upper_bounds', (file) => file.upperBounds),
]

type MapIds = readonly [id: number, keyId: number, valueId: number]

function longsById(
  [id, keyId, valueId]: MapIds,
  name: string,
  get: (file: DataFile) => ReadonlyMap<number, bigint> | undefined,
): FieldWriter<DataFile> {
  const type: JsonValue = intMapSchema(keyId, valueId, 'long')
  return optionalField({ id, name, type }, get, writeLongsById)
}

function bytesById(
  [id, keyId, valueId]: MapIds,
  name: string,
  get: (file: DataFile) => ReadonlyMap<number, Uint8Array> | undefined,
): FieldWriter<DataFile> {
  const type: JsonValue = intMapSchema(keyId, valueId, 'bytes')
  return optionalField({ id, name, type }, get, writeBytesById)
}

const storageFields: readonly FieldWriter<DataFile>[] = [
  optionalField(
    { id: 131, name: 'key_metadata', type: 'bytes' },
    (file) => file.keyMetadata,
    writeBytes,
  ),
  optionalField(
    { id: 132, name: 'split_offsets', type: listSchema(133, 'long') },
    (file) => file.splitOffsets,
    writeLongList,
  ),
]

const equalityIdsField: FieldWriter<DataFile> = optionalField(
  { id: 135, name: 'equality_ids', type: listSchema(136, 'int') },
  (file: DataFile) => file.equalityIds,
  writeIntList,
)

const sortOrderField: FieldWriter<DataFile> = optionalField(
  { id: 140, name: 'sort_order_id', type: 'int' },
  (file: DataFile) => file.sortOrderId,
  writeInt,
)

const referencedDataFileField: FieldWriter<DataFile> = optionalField(
  { id: 143, name: 'referenced_data_file', type: 'string' },
  (file: DataFile) => file.referencedDataFile,
  writeText,
)

const rowLineageFields: readonly FieldWriter<DataFile>[] = [
  optionalField(
    { id: 142, name: 'first_row_id', type: 'long' },
    (file) => file.firstRowId,
    writeLong,
  ),
  referencedDataFileField,
  optionalField(
    { id: 144, name: 'content_offset', type: 'long' },
    (file) => file.contentOffset,
    writeLong,
  ),
  optionalField(
    { id: 145, name: 'content_size_in_bytes', type: 'long' },
    (file) => file.contentSizeBytes,
    writeLong,
  ),
]

function statusCode(status: EntryStatus): number {
  switch (status) {
    case 'existing':
      return 0
    case 'added':
      return 1
    case 'deleted':
      return 2
    default:
      return assertNever(status, 'entry status')
  }
}

function contentCode(content: FileContent): number {
  switch (content) {
    case 'data':
      return 0
    case 'position-deletes':
      return 1
    case 'equality-deletes':
      return 2
    default:
      return assertNever(content, 'file content')
  }
}

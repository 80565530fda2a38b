import type { AvroCursor } from '../avro/avro-cursor.ts'
import type { RecordPlan, Slots } from '../avro/avro-record.ts'
import { planRecord, readRecord } from '../avro/avro-record.ts'
import type { AvroContainer } from '../avro/read-avro-container.ts'
import { openAvroContainer, readAvroRecords } from '../avro/read-avro-container.ts'
import type { AvroRecord } from '../avro/avro-schema.ts'
import type { Filled } from '../spec/decode.ts'
import { CorruptFileError } from '../spec/errors.ts'
import { assertNever } from '../spec/invariant.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import type { DataFile, EntryStatus, FileContent, ManifestEntry } from './data-file.ts'
import { withFixedPartitionsAsBytes } from './fixed-partition-quirk.ts'
import type { ManifestFile } from './manifest-file.ts'
import type { PartitionType } from './partition-type.ts'
import { partitionReader, writerPartitionFields, type ReadPartition } from './read-partition.ts'
import {
  DATA_FILE_FIELDS,
  ENTRY_FIELDS,
  ENTRY_FIELDS_LAZY,
  ENTRY_FIELDS_WITHOUT_METRICS,
} from './wanted-fields.ts'

/** The key-values of a manifest. Engines leave some out, so all but the derived ones may be absent. */
export interface ManifestHeader {
  /** As declared, or judged by the fields of the entries where it is not. */
  readonly formatVersion: number
  readonly content: 'data' | 'deletes'
  readonly codec: string
  /** JSON texts as written. */
  readonly schemaText?: string
  readonly partitionSpecText?: string
  readonly schemaId?: number
  readonly partitionSpecId?: number
  /** The partition fields in the writer's order. */
  readonly partitionFields: readonly { readonly fieldId?: number; readonly name: string }[]
}

export type ManifestMetrics = 'all' | 'lazy' | 'none'

export interface ReadManifestOptions {
  /** The manifest's entry in the list: names the file in errors and tells data from deletes. */
  readonly manifest?: ManifestFile
  /** Puts partition values in the order and types of this spec; otherwise they stay as the writer left them. */
  readonly partition?: PartitionType
  /**
   * Sizes, counts and bounds of columns. `all`: decoded, about 8 kB of memory for an entry of 13 columns; `lazy`: the same maps,
   * kept as bytes and decoded when they are asked; `none`: absent. Default `all`.
   */
  readonly metrics?: ManifestMetrics
}

export interface DecodedManifest {
  readonly header: ManifestHeader
  readonly entries: readonly ManifestEntry[]
}

const STATUSES: readonly EntryStatus[] = ['existing', 'added', 'deleted']
const CONTENTS: readonly FileContent[] = ['data', 'position-deletes', 'equality-deletes']

/**
 * The header and all entries of a manifest of v1, v2 or v3, in file order and before inheritance (resolveEntries does
 * that). Driven by the schema in the file and its field ids: unknown fields are passed over, absent ones stay absent.
 * Bounds and key metadata are views of the file's blocks. Throws CorruptFileError. Spec: Manifests.
 */
export function readManifest(
  bytes: Uint8Array,
  options: ReadManifestOptions = {},
): DecodedManifest {
  const what = `manifest ${options.manifest?.manifestPath ?? ''}`.trimEnd()
  const container = openAvroContainer(bytes, what)
  try {
    return readWithSchema(container, container.schema, options)
  } catch (error) {
    const quirky = withFixedPartitionsAsBytes(container.schema)
    if (!(error instanceof CorruptFileError) || quirky === undefined) throw error
    return readWithSchema(container, quirky, options)
  }
}

function readWithSchema(
  container: AvroContainer,
  schema: AvroRecord,
  options: ReadManifestOptions,
): DecodedManifest {
  const wanted = wantedFields(options.metrics ?? 'all')
  const plan = planRecord(schema, wanted.fields, container.what)
  const header = readHeader(container, plan, options)
  const reader = entryReader(container, plan, options)
  const entries: ManifestEntry[] = []
  readAvroRecords(container, (cursor) => {
    entries.push(readEntry(cursor, reader))
  })
  return { header, entries }
}

function wantedFields(metrics: ManifestMetrics): typeof ENTRY_FIELDS {
  switch (metrics) {
    case 'all':
      return ENTRY_FIELDS
    case 'lazy':
      return ENTRY_FIELDS_LAZY
    case 'none':
      return ENTRY_FIELDS_WITHOUT_METRICS
    default:
      return assertNever(metrics, 'choice of metrics')
  }
}

function readHeader(
  container: AvroContainer,
  plan: RecordPlan,
  options: ReadManifestOptions,
): ManifestHeader {
  const { metadata } = container
  const header: Filled<ManifestHeader> = {
    formatVersion: integerKey(metadata, 'format-version') ?? formatVersionByFields(plan),
    content: contentOf(metadata, options),
    codec: container.codec,
    partitionFields: writerPartitionFields(plan).map(({ fieldId, name }) =>
      fieldId === undefined ? { name } : { fieldId, name },
    ),
  }
  const schemaText = metadata.get('schema')
  if (schemaText !== undefined) header.schemaText = schemaText
  const partitionSpecText = metadata.get('partition-spec')
  if (partitionSpecText !== undefined) header.partitionSpecText = partitionSpecText
  const schemaId = integerKey(metadata, 'schema-id')
  if (schemaId !== undefined) header.schemaId = schemaId
  const partitionSpecId = integerKey(metadata, 'partition-spec-id')
  if (partitionSpecId !== undefined) header.partitionSpecId = partitionSpecId
  return header
}

function integerKey(metadata: ReadonlyMap<string, string>, key: string): number | undefined {
  const text = metadata.get(key)
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

function contentOf(
  metadata: ReadonlyMap<string, string>,
  options: ReadManifestOptions,
): 'data' | 'deletes' {
  const declared = metadata.get('content')
  if (declared === 'data' || declared === 'deletes') return declared
  return options.manifest?.content ?? 'data'
}

function formatVersionByFields(plan: RecordPlan): number {
  const files = plan.memberPlans[ENTRY_FIELDS.slot.dataFile]
  if (files?.writerFields[DATA_FILE_FIELDS.slot.firstRowId] !== undefined) return 3
  return plan.writerFields[ENTRY_FIELDS.slot.sequenceNumber] === undefined ? 1 : 2
}

interface EntryReader {
  readonly what: string
  readonly plan: RecordPlan
  readonly slots: Slots
  readonly partitionOf: ReadPartition
}

function entryReader(
  container: AvroContainer,
  plan: RecordPlan,
  options: ReadManifestOptions,
): EntryReader {
  const { what } = container
  return { what, plan, slots: [], partitionOf: partitionReader(plan, what, options.partition) }
}

function readEntry(cursor: AvroCursor, reader: EntryReader): ManifestEntry {
  const slots = readRecord(cursor, reader.plan, reader.slots)
  const { slot } = ENTRY_FIELDS
  const status = STATUSES[slots[slot.status] as number]
  if (status === undefined) throw corrupt(reader, 'an entry without a known status')
  const file = slots[slot.dataFile] as Slots | undefined
  if (file === undefined) throw corrupt(reader, 'an entry without a data file')
  const entry: Filled<ManifestEntry> = { status, dataFile: dataFileOf(file, reader) }
  // The plan made sure of the kinds, here and below.
  const snapshotId = slots[slot.snapshotId] as bigint | undefined
  if (snapshotId !== undefined) entry.snapshotId = snapshotId
  const sequenceNumber = slots[slot.sequenceNumber] as bigint | undefined
  if (sequenceNumber !== undefined) entry.sequenceNumber = sequenceNumber
  const fileSequenceNumber = slots[slot.fileSequenceNumber] as bigint | undefined
  if (fileSequenceNumber !== undefined) entry.fileSequenceNumber = fileSequenceNumber
  return entry
}

function corrupt(reader: EntryReader, problem: string): CorruptFileError {
  return new CorruptFileError(`cannot read ${reader.what}: ${problem}`)
}

function dataFileOf(slots: Slots, reader: EntryReader): DataFile {
  const { slot } = DATA_FILE_FIELDS
  const content = CONTENTS[(slots[slot.content] as number | undefined) ?? 0]
  const filePath = slots[slot.filePath] as string | undefined
  const fileFormat = slots[slot.fileFormat] as string | undefined
  const recordCount = slots[slot.recordCount] as bigint | undefined
  const fileSizeBytes = slots[slot.fileSizeBytes] as bigint | undefined
  if (content === undefined) throw corrupt(reader, 'a data file of unknown content')
  if (filePath === undefined) throw corrupt(reader, 'a data file without file_path')
  if (fileFormat === undefined) throw corrupt(reader, `no file_format for ${filePath}`)
  if (recordCount === undefined) throw corrupt(reader, `no record_count for ${filePath}`)
  if (fileSizeBytes === undefined) throw corrupt(reader, `no file_size_in_bytes for ${filePath}`)
  const file: Filled<DataFile> = {
    content,
    filePath,
    fileFormat: fileFormat === 'PARQUET' ? fileFormat : fileFormat.toUpperCase(),
    partition: reader.partitionOf(slots[slot.partition] as readonly PartitionValue[] | undefined),
    recordCount,
    fileSizeBytes,
  }
  fillMetrics(file, slots)
  fillOptionalMembers(file, slots)
  return file
}

function fillMetrics(file: Filled<DataFile>, slots: Slots): void {
  const { slot } = DATA_FILE_FIELDS
  const columnSizesBytes = slots[slot.columnSizesBytes] as Map<number, bigint> | undefined
  if (columnSizesBytes !== undefined) file.columnSizesBytes = columnSizesBytes
  const valueCounts = slots[slot.valueCounts] as Map<number, bigint> | undefined
  if (valueCounts !== undefined) file.valueCounts = valueCounts
  const nullValueCounts = slots[slot.nullValueCounts] as Map<number, bigint> | undefined
  if (nullValueCounts !== undefined) file.nullValueCounts = nullValueCounts
  const nanValueCounts = slots[slot.nanValueCounts] as Map<number, bigint> | undefined
  if (nanValueCounts !== undefined) file.nanValueCounts = nanValueCounts
  const lowerBounds = slots[slot.lowerBounds] as Map<number, Uint8Array> | undefined
  if (lowerBounds !== undefined) file.lowerBounds = lowerBounds
  const upperBounds = slots[slot.upperBounds] as Map<number, Uint8Array> | undefined
  if (upperBounds !== undefined) file.upperBounds = upperBounds
}

function fillOptionalMembers(file: Filled<DataFile>, slots: Slots): void {
  const { slot } = DATA_FILE_FIELDS
  const keyMetadata = slots[slot.keyMetadata] as Uint8Array | undefined
  if (keyMetadata !== undefined) file.keyMetadata = keyMetadata
  const splitOffsets = slots[slot.splitOffsets] as bigint[] | undefined
  if (splitOffsets !== undefined) file.splitOffsets = splitOffsets
  const equalityIds = slots[slot.equalityIds] as number[] | undefined
  if (equalityIds !== undefined) file.equalityIds = equalityIds
  const sortOrderId = slots[slot.sortOrderId] as number | undefined
  if (sortOrderId !== undefined) file.sortOrderId = sortOrderId
  const firstRowId = slots[slot.firstRowId] as bigint | undefined
  if (firstRowId !== undefined) file.firstRowId = firstRowId
  const referencedDataFile = slots[slot.referencedDataFile] as string | undefined
  if (referencedDataFile !== undefined) file.referencedDataFile = referencedDataFile
  const contentOffset = slots[slot.contentOffset] as bigint | undefined
  if (contentOffset !== undefined) file.contentOffset = contentOffset
  const contentSizeBytes = slots[slot.contentSizeBytes] as bigint | undefined
  if (contentSizeBytes !== undefined) file.contentSizeBytes = contentSizeBytes
}

import type { AvroSink } from '../avro/avro-sink.ts'
import type { AvroWriteCodec } from '../avro/write-avro-container.ts'
import { writeAvroContainer } from '../avro/write-avro-container.ts'
import type { Filled } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { invariant } from '../spec/invariant.ts'
import type { FormatVersion } from '../spec/table-metadata.ts'
import type { FieldWriter } from './field-writer.ts'
import {
  listSchema,
  optionalField,
  recordSchema,
  requiredField,
  writeBoolean,
  writeBytes,
  writeInt,
  writeLong,
  writeText,
} from './field-writer.ts'
import type { ManifestFile, PartitionFieldSummary } from './manifest-file.ts'

export interface ManifestListContent {
  readonly formatVersion: FormatVersion
  readonly snapshotId: bigint
  readonly parentSnapshotId?: bigint
  readonly sequenceNumber: bigint
  /** v3: the table's next row id, given to data manifests that have none. */
  readonly firstRowId?: bigint
  readonly manifests: readonly ManifestFile[]
  readonly compression?: AvroWriteCodec
}

/**
 * The bytes of a manifest list. v3: data manifests without a first row id get the next one, see assignFirstRowIds.
 * Counts that are unknown (lists of v1) stay null instead of becoming 0. Throws InvalidInputError for deletes in v1.
 * Spec: Manifest Lists.
 */
export function writeManifestList(content: ManifestListContent): Uint8Array {
  const { formatVersion } = content
  invariant(
    formatVersion !== 3 || content.firstRowId !== undefined,
    'a v3 manifest list needs the first row id of its snapshot',
  )
  const manifests =
    content.firstRowId === undefined || formatVersion !== 3
      ? content.manifests
      : assignFirstRowIds(content.manifests, content.firstRowId).manifests
  if (formatVersion === 1 && manifests.some((manifest) => manifest.content === 'deletes')) {
    throw new InvalidInputError('cannot write a manifest list: v1 has no delete manifests')
  }
  const fields = manifestFields(formatVersion, manifests)
  return writeAvroContainer({
    schema: recordSchema('manifest_file', fields),
    metadata: keyValues(content),
    codec: content.compression ?? 'deflate',
    records: manifests,
    writeRecord(sink, manifest) {
      for (const field of fields) field.write(sink, manifest)
    },
  })
}

/**
 * Gives each data manifest without a first row id the running value, which then grows by the manifest's added and existing
 * rows. `nextRowId` is the table's next row id after the commit. Spec: Row Lineage, First Row ID Assignment.
 * Throws InvalidInputError when the row counts of such a manifest are unknown.
 */
export function assignFirstRowIds(
  manifests: readonly ManifestFile[],
  firstRowId: bigint,
): { manifests: ManifestFile[]; nextRowId: bigint } {
  let nextRowId = firstRowId
  const assigned = manifests.map((manifest) => {
    if (manifest.content === 'deletes' || manifest.firstRowId !== undefined) return manifest
    const { addedRowsCount, existingRowsCount } = manifest
    if (addedRowsCount === undefined || existingRowsCount === undefined) {
      throw new InvalidInputError(
        `cannot assign row ids: unknown row counts of ${manifest.manifestPath}`,
      )
    }
    const copy: Filled<ManifestFile> = { ...manifest }
    copy.firstRowId = nextRowId
    nextRowId += addedRowsCount + existingRowsCount
    return copy
  })
  return { manifests: assigned, nextRowId }
}

function keyValues(content: ManifestListContent): [string, string][] {
  const pairs: [string, string][] = [
    ['snapshot-id', String(content.snapshotId)],
    ['parent-snapshot-id', String(content.parentSnapshotId ?? null)],
  ]
  if (content.formatVersion > 1) pairs.push(['sequence-number', String(content.sequenceNumber)])
  if (content.formatVersion > 2) pairs.push(['first-row-id', String(content.firstRowId)])
  return [...pairs, ['format-version', String(content.formatVersion)]]
}

type Field = FieldWriter<ManifestFile>

function manifestFields(formatVersion: FormatVersion, manifests: readonly ManifestFile[]): Field[] {
  const counts = countFields(formatVersion, manifests)
  if (formatVersion === 1)
    return [...pathFields, snapshotIdField, ...counts, partitionsField, keyMetadataField]
  const fields = [
    ...pathFields,
    ...sequenceFields,
    snapshotIdField,
    ...counts,
    partitionsField,
    keyMetadataField,
  ]
  return formatVersion === 2 ? fields : [...fields, firstRowIdField]
}

const pathFields: readonly Field[] = [
  requiredField(
    { id: 500, name: 'manifest_path', type: 'string' },
    (m: ManifestFile) => m.manifestPath,
    writeText,
  ),
  requiredField(
    { id: 501, name: 'manifest_length', type: 'long' },
    (m: ManifestFile) => m.manifestLengthBytes,
    writeLong,
  ),
  requiredField(
    { id: 502, name: 'partition_spec_id', type: 'int' },
    (m: ManifestFile) => m.partitionSpecId,
    writeInt,
  ),
]

const sequenceFields: readonly Field[] = [
  requiredField(
    { id: 517, name: 'content', type: 'int' },
    (m: ManifestFile) => (m.content === 'data' ? 0 : 1),
    writeInt,
  ),
  requiredField(
    { id: 515, name: 'sequence_number', type: 'long' },
    (m: ManifestFile) => m.sequenceNumber,
    writeLong,
  ),
  requiredField(
    { id: 516, name: 'min_sequence_number', type: 'long' },
    (m: ManifestFile) => m.minSequenceNumber,
    writeLong,
  ),
]

const snapshotIdField: Field = requiredField(
  { id: 503, name: 'added_snapshot_id', type: 'long' },
  (m: ManifestFile) => m.addedSnapshotId,
  writeLong,
)

/** Required since v2, but a list carried over from v1 may not know them, and null is not 0. */
function countFields(formatVersion: FormatVersion, manifests: readonly ManifestFile[]): Field[] {
  const count = <Value>(
    id: number,
    name: string,
    parts: {
      type: string
      get: (m: ManifestFile) => Value | undefined
      write: (sink: AvroSink, value: Value) => void
    },
  ): Field => {
    const isKnown = formatVersion > 1 && manifests.every((m) => parts.get(m) !== undefined)
    const field = optionalField({ id, name, type: parts.type }, parts.get, parts.write)
    if (!isKnown) return field
    return requiredField(
      { id, name, type: parts.type },
      (m: ManifestFile) => required(parts.get(m)),
      parts.write,
    )
  }
  const files = (get: (m: ManifestFile) => number | undefined) => ({
    type: 'int',
    get,
    write: writeInt,
  })
  const rows = (get: (m: ManifestFile) => bigint | undefined) => ({
    type: 'long',
    get,
    write: writeLong,
  })
  return [
    count(
      504,
      'added_files_count',
      files((m) => m.addedFilesCount),
    ),
    count(
      505,
      'existing_files_count',
      files((m) => m.existingFilesCount),
    ),
    count(
      506,
      'deleted_files_count',
      files((m) => m.deletedFilesCount),
    ),
    count(
      512,
      'added_rows_count',
      rows((m) => m.addedRowsCount),
    ),
    count(
      513,
      'existing_rows_count',
      rows((m) => m.existingRowsCount),
    ),
    count(
      514,
      'deleted_rows_count',
      rows((m) => m.deletedRowsCount),
    ),
  ]
}

function required<Value>(value: Value | undefined): Value {
  invariant(value !== undefined, 'a count that every manifest of the list has')
  return value
}

const summaryFields: readonly FieldWriter<PartitionFieldSummary>[] = [
  requiredField(
    { id: 509, name: 'contains_null', type: 'boolean' },
    (summary: PartitionFieldSummary) => summary.containsNull,
    writeBoolean,
  ),
  optionalField(
    { id: 518, name: 'contains_nan', type: 'boolean' },
    (summary: PartitionFieldSummary) => summary.containsNan,
    writeBoolean,
  ),
  optionalField(
    { id: 510, name: 'lower_bound', type: 'bytes' },
    (summary: PartitionFieldSummary) => summary.lowerBound,
    writeBytes,
  ),
  optionalField(
    { id: 511, name: 'upper_bound', type: 'bytes' },
    (summary: PartitionFieldSummary) => summary.upperBound,
    writeBytes,
  ),
]

const partitionsField: Field = optionalField(
  { id: 507, name: 'partitions', type: listSchema(508, recordSchema('r508', summaryFields)) },
  (m: ManifestFile) => m.partitions,
  writeSummaries,
)

function writeSummaries(sink: AvroSink, summaries: readonly PartitionFieldSummary[]): void {
  if (summaries.length > 0) sink.int(summaries.length)
  for (const summary of summaries) {
    for (const field of summaryFields) field.write(sink, summary)
  }
  sink.int(0)
}

const keyMetadataField: Field = optionalField(
  { id: 519, name: 'key_metadata', type: 'bytes' },
  (m: ManifestFile) => m.keyMetadata,
  writeBytes,
)

const firstRowIdField: Field = optionalField(
  { id: 520, name: 'first_row_id', type: 'long' },
  (m: ManifestFile) => m.firstRowId,
  writeLong,
)

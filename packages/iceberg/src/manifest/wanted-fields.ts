import type { WantedField, WantedKind } from '../avro/avro-record.ts'

type FieldSpelling = readonly [id: number, kind: WantedKind, ...names: string[]]

/** Fields by our name, and the slot that each one is read into. */
export interface WantedRecord<Name extends string> {
  readonly fields: readonly WantedField[]
  readonly slot: Readonly<Record<Name, number>>
}

function wantedRecord<Name extends string>(
  table: Readonly<Record<Name, FieldSpelling>>,
  members: { readonly [K in Name]?: readonly WantedField[] } = {},
): WantedRecord<Name> {
  const names = Object.keys(table) as Name[]
  const fields = names.map((name): WantedField => {
    const [id, kind, ...spellings] = table[name]
    const inner = members[name]
    return { id, kind, names: spellings, ...(inner === undefined ? {} : { members: inner }) }
  })
  const slot = Object.fromEntries(names.map((name, index) => [name, index]))
  return { fields, slot: slot as Readonly<Record<Name, number>> }
}

const dataFileTable = {
  content: [134, 'int', 'content'],
  filePath: [100, 'text', 'file_path'],
  fileFormat: [101, 'text', 'file_format'],
  partition: [102, 'tuple', 'partition'],
  recordCount: [103, 'long', 'record_count'],
  fileSizeBytes: [104, 'long', 'file_size_in_bytes'],
  columnSizesBytes: [108, 'long-by-id', 'column_sizes'],
  valueCounts: [109, 'long-by-id', 'value_counts'],
  nullValueCounts: [110, 'long-by-id', 'null_value_counts'],
  nanValueCounts: [137, 'long-by-id', 'nan_value_counts'],
  lowerBounds: [125, 'bytes-by-id', 'lower_bounds'],
  upperBounds: [128, 'bytes-by-id', 'upper_bounds'],
  keyMetadata: [131, 'bytes', 'key_metadata'],
  splitOffsets: [132, 'long-list', 'split_offsets'],
  equalityIds: [135, 'int-list', 'equality_ids'],
  sortOrderId: [140, 'int', 'sort_order_id'],
  firstRowId: [142, 'long', 'first_row_id'],
  referencedDataFile: [143, 'text', 'referenced_data_file'],
  contentOffset: [144, 'long', 'content_offset'],
  contentSizeBytes: [145, 'long', 'content_size_in_bytes'],
} as const satisfies Record<string, FieldSpelling>

/** Spec: Data File Fields. */
export const DATA_FILE_FIELDS = wantedRecord<keyof typeof dataFileTable>(dataFileTable)

const isMetric = (field: WantedField): boolean =>
  field.kind === 'long-by-id' || field.kind === 'bytes-by-id'
/** Stands in a slot whose field is passed over. */
const NOT_WANTED: WantedField = { id: -1, kind: 'int', names: [] }

const entryTable = {
  status: [0, 'int', 'status'],
  snapshotId: [1, 'long', 'snapshot_id'],
  sequenceNumber: [3, 'long', 'sequence_number', 'data_sequence_number'],
  fileSequenceNumber: [4, 'long', 'file_sequence_number'],
  dataFile: [2, 'record', 'data_file'],
} as const satisfies Record<string, FieldSpelling>

/** Spec: Manifest Entry Fields. */
export const ENTRY_FIELDS = wantedRecord<keyof typeof entryTable>(entryTable, {
  dataFile: DATA_FILE_FIELDS.fields,
})

/** The same with maps of column metrics that are decoded only when they are asked. */
export const ENTRY_FIELDS_LAZY = wantedRecord<keyof typeof entryTable>(entryTable, {
  dataFile: DATA_FILE_FIELDS.fields.map((field) =>
    isMetric(field) ? { ...field, isLazy: true } : field,
  ),
})

/** The same slots without the maps of column metrics. */
export const ENTRY_FIELDS_WITHOUT_METRICS = wantedRecord<keyof typeof entryTable>(entryTable, {
  dataFile: DATA_FILE_FIELDS.fields.map((field) => (isMetric(field) ? NOT_WANTED : field)),
})

const summaryTable = {
  containsNull: [509, 'boolean', 'contains_null'],
  containsNan: [518, 'boolean', 'contains_nan'],
  lowerBound: [510, 'bytes', 'lower_bound'],
  upperBound: [511, 'bytes', 'upper_bound'],
} as const satisfies Record<string, FieldSpelling>

export const SUMMARY_FIELDS = wantedRecord<keyof typeof summaryTable>(summaryTable)

const manifestFileTable = {
  manifestPath: [500, 'text', 'manifest_path'],
  manifestLengthBytes: [501, 'long', 'manifest_length'],
  partitionSpecId: [502, 'int', 'partition_spec_id'],
  content: [517, 'int', 'content'],
  sequenceNumber: [515, 'long', 'sequence_number'],
  minSequenceNumber: [516, 'long', 'min_sequence_number'],
  addedSnapshotId: [503, 'long', 'added_snapshot_id'],
  addedFilesCount: [504, 'int', 'added_files_count', 'added_data_files_count'],
  existingFilesCount: [505, 'int', 'existing_files_count', 'existing_data_files_count'],
  deletedFilesCount: [506, 'int', 'deleted_files_count', 'deleted_data_files_count'],
  addedRowsCount: [512, 'long', 'added_rows_count'],
  existingRowsCount: [513, 'long', 'existing_rows_count'],
  deletedRowsCount: [514, 'long', 'deleted_rows_count'],
  partitions: [507, 'record-list', 'partitions'],
  keyMetadata: [519, 'bytes', 'key_metadata'],
  firstRowId: [520, 'long', 'first_row_id'],
} as const satisfies Record<string, FieldSpelling>

/** Spec: Manifest Lists. Writers of old gave other names to 504 to 506; the ids never changed. */
export const MANIFEST_FILE_FIELDS = wantedRecord<keyof typeof manifestFileTable>(
  manifestFileTable,
  { partitions: SUMMARY_FIELDS.fields },
)

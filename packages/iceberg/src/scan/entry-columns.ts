import { AvroCursor } from '../avro/avro-cursor.ts'
import { planRecord, type ReadStep, type RecordPlan } from '../avro/avro-record.ts'
import type { AvroRecord } from '../avro/avro-schema.ts'
import type { AvroContainer } from '../avro/read-avro-container.ts'
import type { FileContent } from '../manifest/data-file.ts'
import { withFixedPartitionsAsBytes } from '../manifest/fixed-partition-quirk.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionReader } from '../manifest/read-partition.ts'
import { DATA_FILE_FIELDS, ENTRY_FIELDS } from '../manifest/wanted-fields.ts'
import { CorruptFileError } from '../spec/errors.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import { textOf } from './byte-pool.ts'
import { MetricColumnsBuilder, type MetricColumn } from './metric-columns.ts'
import { NumberColumnBuilder, type NumberColumn } from './number-column.ts'
import { PathColumnBuilder, type PathColumn } from './path-column.ts'
import { RepeatedColumnBuilder, type RepeatedColumn, type StoredColumn } from './repeated-column.ts'
import type { ScanManifestOptions } from './scan-manifest-options.ts'
import { readKept, walkEntries } from './walk-entries.ts'
import { NUMBER, RANGE, type NumberSlot, type RangeSlot, type WalkedEntry } from './walked-entry.ts'

/** The live entries of a manifest by column, everything inherited. */
export interface EntryColumns {
  readonly rowCount: number
  readonly statuses: NumberColumn
  readonly contents: NumberColumn
  readonly snapshotIds: NumberColumn
  readonly sequenceNumbers: NumberColumn
  readonly fileSequenceNumbers: NumberColumn
  readonly recordCounts: NumberColumn
  readonly fileSizesBytes: NumberColumn
  readonly sortOrderIds: NumberColumn
  readonly firstRowIds: NumberColumn
  readonly contentOffsets: NumberColumn
  readonly contentSizesBytes: NumberColumn
  readonly filePaths: PathColumn
  readonly fileFormats: RepeatedColumn<string>
  readonly partitions: RepeatedColumn<readonly PartitionValue[]>
  readonly splitOffsets: StoredColumn<readonly bigint[] | undefined>
  readonly equalityIds: StoredColumn<readonly number[] | undefined>
  readonly keyMetadata: StoredColumn<Uint8Array | undefined>
  /** Empty where a file has none. */
  readonly referencedDataFiles: PathColumn
  readonly metrics: ReadonlyMap<number, MetricColumn>
  /** Whether the entries are written with partitions as some writers mark them: see withFixedPartitionsAsBytes. */
  readonly isQuirky: boolean
  readonly sizeBytes: number
}

const CONTENTS: readonly FileContent[] = ['data', 'position-deletes', 'equality-deletes']
const DELETED = 2
const CAPACITY_MAX = 100_000

/** Keeps nothing of the container. Throws CorruptFileError. */
export function decodeEntryColumns(
  container: AvroContainer,
  options: ScanManifestOptions,
): EntryColumns {
  try {
    return { ...decodeWithSchema(container, container.schema, options), isQuirky: false }
  } catch (error) {
    const quirky = withFixedPartitionsAsBytes(container.schema)
    if (!(error instanceof CorruptFileError) || quirky === undefined) throw error
    return { ...decodeWithSchema(container, quirky, options), isQuirky: true }
  }
}

/** The metrics of further columns of the same file. Throws CorruptFileError for another one. */
export function readMetricColumns(
  container: AvroContainer,
  { rowCount, isQuirky }: EntryColumns,
  fieldIds: readonly number[],
): Map<number, MetricColumn> {
  const { what } = container
  const quirky = isQuirky ? withFixedPartitionsAsBytes(container.schema) : undefined
  const plan = planRecord(quirky ?? container.schema, ENTRY_FIELDS.fields, what)
  const builder = new MetricColumnsBuilder(fieldIds, rowCount)
  let count = 0
  walkEntries(container, { plan, fieldIds, isMetricsOnly: true }, (entry) => {
    if (entry.number(NUMBER.status) === DELETED) return
    builder.push(entry)
    count += 1
  })
  if (count !== rowCount) {
    throw new CorruptFileError(`cannot read ${what}: expected ${rowCount} files, found ${count}`)
  }
  return builder.finish()
}

function decodeWithSchema(
  container: AvroContainer,
  schema: AvroRecord,
  options: ScanManifestOptions,
): Omit<EntryColumns, 'isQuirky'> {
  const plan = planRecord(schema, ENTRY_FIELDS.fields, container.what)
  const fieldIds = [...new Set(options.fieldIds ?? [])]
  const builder = new EntryColumnsBuilder(plan, container, options)
  const metrics = new MetricColumnsBuilder(fieldIds, capacityOf(options))
  walkEntries(container, { plan, fieldIds, isMetricsOnly: false }, (entry) => {
    if (entry.number(NUMBER.status) === DELETED) return
    builder.push(entry)
    metrics.push(entry)
  })
  return builder.finish(metrics.finish())
}

function capacityOf({ manifest }: ScanManifestOptions): number {
  const { addedFilesCount = 0, existingFilesCount = 0 } = manifest
  return Math.min(CAPACITY_MAX, addedFilesCount + existingFilesCount)
}

class EntryColumnsBuilder {
  private readonly what: string
  private readonly manifest: ManifestFile
  /** By NUMBER. */
  private readonly numbers: readonly NumberColumnBuilder[]
  private readonly filePaths: PathColumnBuilder
  private readonly referencedDataFiles: PathColumnBuilder
  private readonly fileFormats: RepeatedColumnBuilder<string>
  private readonly partitions: RepeatedColumnBuilder<readonly PartitionValue[]>
  private readonly splitOffsets: RepeatedColumnBuilder<readonly bigint[] | undefined>
  private readonly equalityIds: RepeatedColumnBuilder<readonly number[] | undefined>
  private readonly keyMetadata: RepeatedColumnBuilder<Uint8Array | undefined>
  private nextRowId: bigint | undefined
  private rowCount = 0

  constructor(plan: RecordPlan, container: AvroContainer, options: ScanManifestOptions) {
    const { slot } = DATA_FILE_FIELDS
    const capacity = capacityOf(options)
    const { what } = container
    const kept = <Value>(fieldSlot: number): RepeatedColumnBuilder<Value> =>
      new RepeatedColumnBuilder(capacity, keptReader<Value>(fileStepOf(plan, fieldSlot), what))
    this.what = what
    this.manifest = options.manifest
    this.numbers = Object.values(NUMBER).map(() => new NumberColumnBuilder(capacity))
    this.filePaths = new PathColumnBuilder(capacity)
    this.referencedDataFiles = new PathColumnBuilder(capacity)
    this.fileFormats = new RepeatedColumnBuilder(capacity, (text) => textOf(text).toUpperCase())
    this.partitions = partitionsBuilder(plan, container, options)
    this.splitOffsets = kept(slot.splitOffsets)
    this.equalityIds = kept(slot.equalityIds)
    this.keyMetadata = kept(slot.keyMetadata)
    this.nextRowId = options.manifest.content === 'data' ? options.manifest.firstRowId : undefined
  }

  push(entry: WalkedEntry): void {
    this.check(entry)
    this.inherit(entry)
    this.numbers.forEach((builder, slot) => {
      const number = entry.numbers[slot] ?? Number.NaN
      const long = Number.isNaN(number) ? entry.longs[slot] : undefined
      if (long === undefined) builder.pushNumber(number)
      else builder.push(long)
    })
    pushRange(this.filePaths, entry, RANGE.filePath)
    pushRange(this.referencedDataFiles, entry, RANGE.referencedDataFile)
    pushRange(this.fileFormats, entry, RANGE.fileFormat)
    pushRange(this.partitions, entry, RANGE.partition)
    pushRange(this.splitOffsets, entry, RANGE.splitOffsets)
    pushRange(this.equalityIds, entry, RANGE.equalityIds)
    pushRange(this.keyMetadata, entry, RANGE.keyMetadata)
    this.rowCount += 1
  }

  /** An entry without what every one has. */
  private check(entry: WalkedEntry): void {
    const status = entry.number(NUMBER.status)
    if (status !== 0 && status !== 1) throw this.corrupt('an entry without a known status')
    if (entry.start(RANGE.filePath) < 0) throw this.corrupt('a data file without file_path')
    const content = CONTENTS[entry.has(NUMBER.content) ? entry.number(NUMBER.content) : 0]
    if (content === undefined) throw this.corrupt('a data file of unknown content')
    if ((content === 'data') !== (this.manifest.content === 'data')) {
      throw this.corrupt(`expected ${this.manifest.content}, got ${content}`, entry)
    }
    if (entry.start(RANGE.fileFormat) < 0) throw this.corrupt('no file_format', entry)
    if (!entry.has(NUMBER.recordCount)) throw this.corrupt('no record_count', entry)
    if (!entry.has(NUMBER.fileSizeBytes)) throw this.corrupt('no file_size_in_bytes', entry)
  }

  /** Spec: Sequence Number Inheritance, First Row ID Inheritance. */
  private inherit(entry: WalkedEntry): void {
    const inherits = entry.number(NUMBER.status) === 1 || this.manifest.sequenceNumber === 0n
    const own = this.manifest.sequenceNumber
    if (!entry.has(NUMBER.snapshotId)) entry.set(NUMBER.snapshotId, this.manifest.addedSnapshotId)
    if (!entry.has(NUMBER.sequenceNumber)) {
      if (!inherits) throw this.corrupt('no sequence number of an existing entry', entry)
      entry.set(NUMBER.sequenceNumber, own)
    }
    if (!entry.has(NUMBER.fileSequenceNumber)) {
      // Entries from before the field existed keep only the data sequence number; then both are the same.
      const fallback = inherits ? own : entry.long(NUMBER.sequenceNumber)
      entry.set(NUMBER.fileSequenceNumber, fallback ?? own)
    }
    if (this.nextRowId === undefined || entry.has(NUMBER.firstRowId)) return
    entry.set(NUMBER.firstRowId, this.nextRowId)
    this.nextRowId += entry.long(NUMBER.recordCount) ?? 0n
  }

  private corrupt(problem: string, entry?: WalkedEntry): CorruptFileError {
    const { what } = this
    if (entry === undefined) return new CorruptFileError(`cannot read ${what}: ${problem}`)
    const path = entry.bytes.subarray(entry.start(RANGE.filePath), entry.end(RANGE.filePath))
    return new CorruptFileError(`cannot read ${what}: ${problem} for ${textOf(path)}`)
  }

  finish(metrics: ReadonlyMap<number, MetricColumn>): Omit<EntryColumns, 'isQuirky'> {
    const number = (slot: NumberSlot): NumberColumn =>
      (this.numbers[slot] ?? new NumberColumnBuilder(0)).finish()
    const columns = {
      statuses: number(NUMBER.status),
      contents: number(NUMBER.content),
      snapshotIds: number(NUMBER.snapshotId),
      sequenceNumbers: number(NUMBER.sequenceNumber),
      fileSequenceNumbers: number(NUMBER.fileSequenceNumber),
      recordCounts: number(NUMBER.recordCount),
      fileSizesBytes: number(NUMBER.fileSizeBytes),
      sortOrderIds: number(NUMBER.sortOrderId),
      firstRowIds: number(NUMBER.firstRowId),
      contentOffsets: number(NUMBER.contentOffset),
      contentSizesBytes: number(NUMBER.contentSizeBytes),
      filePaths: this.filePaths.finish(),
      referencedDataFiles: this.referencedDataFiles.finish(),
      fileFormats: this.fileFormats.finish(),
      partitions: this.partitions.finish(),
      splitOffsets: this.splitOffsets.finishStored(),
      equalityIds: this.equalityIds.finishStored(),
      keyMetadata: this.keyMetadata.finishStored(),
    }
    let sizeBytes = 0
    for (const column of Object.values(columns)) sizeBytes += column.sizeBytes
    return { rowCount: this.rowCount, metrics, sizeBytes, ...columns }
  }
}

type RangeSink = { push(source: Uint8Array, start: number, end: number): void }

/** An absent value is pushed as no bytes, which none of them is made of. */
function pushRange(sink: RangeSink, entry: WalkedEntry, slot: RangeSlot): void {
  const start = entry.start(slot)
  if (start < 0) sink.push(entry.bytes, 0, 0)
  else sink.push(entry.bytes, start, entry.end(slot))
}

/** On its own, for it outlives the decoding, and what a function can see stays in memory with it. */
function keptReader<Value>(step: ReadStep | undefined, what: string): (bytes: Uint8Array) => Value {
  // `as`: the plan made sure of the kind that the field is read as.
  return (bytes) => readKept(new AvroCursor(bytes, what), step) as Value
}

function fileStepOf(plan: RecordPlan, slot: number): ReadStep | undefined {
  const files = plan.memberPlans[ENTRY_FIELDS.slot.dataFile]
  return files?.steps.find((step) => step.slot === slot)
}

function partitionsBuilder(
  plan: RecordPlan,
  { what }: AvroContainer,
  options: ScanManifestOptions,
): RepeatedColumnBuilder<readonly PartitionValue[]> {
  const step = fileStepOf(plan, DATA_FILE_FIELDS.slot.partition)
  const arrange = partitionReader(plan, what, options.partition)
  return new RepeatedColumnBuilder(capacityOf(options), (bytes) => {
    // `as`: the plan made sure that the field is a tuple.
    const values = readKept(new AvroCursor(bytes, what), step) as PartitionValue[] | undefined
    return arrange(values)
  })
}

import { openAvroContainer, type AvroContainer } from '../avro/read-avro-container.ts'
import type { DataFile, FileContent, ResolvedEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { Filled } from '../spec/decode.ts'
import { invariant } from '../spec/invariant.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import type { PrimitiveType } from '../spec/type.ts'
import { decodeEntryColumns, readMetricColumns, type EntryColumns } from './entry-columns.ts'
import type { MetricColumn } from './metric-columns.ts'
import type { BoundsColumn, CountColumn, MetricsTable } from './metrics-table.ts'
import type { ScanManifestOptions } from './scan-manifest-options.ts'
import { COUNT } from './walked-entry.ts'

/**
 * The live entries of a manifest, column by column, with what they inherit: some 30 bytes a file, and 20 for a column of
 * metrics. Rows are numbered from 0 in file order. The caller must not change the bytes while they are kept. Throws
 * CorruptFileError for a manifest that breaks the format, and when a data manifest lists delete files or the other way round.
 * Spec: Manifests.
 */
export function decodeScanManifest(bytes: Uint8Array, options: ScanManifestOptions): ScanManifest {
  const container = openAvroContainer(bytes, whatOf(options.manifest))
  const columns = decodeEntryColumns(container, options)
  const file = options.isColumnsOnly === true ? undefined : container
  return new ScanManifest(columns, { manifest: options.manifest, file })
}

function whatOf({ manifestPath }: ManifestFile): string {
  return `manifest ${manifestPath}`
}

/** See decodeScanManifest. */
export class ScanManifest implements MetricsTable {
  readonly manifest: ManifestFile
  readonly rowCount: number
  private readonly columns: EntryColumns
  private readonly file: AvroContainer | undefined
  private readonly metrics = new Map<number, MetricColumn>()

  constructor(
    columns: EntryColumns,
    {
      manifest,
      file,
    }: { readonly manifest: ManifestFile; readonly file: AvroContainer | undefined },
  ) {
    this.manifest = manifest
    this.file = file
    this.columns = columns
    this.rowCount = columns.rowCount
    for (const [fieldId, column] of columns.metrics) this.metrics.set(fieldId, column)
  }

  /** Of the manifest's spec: of all its files. */
  get specId(): number {
    return this.manifest.partitionSpecId
  }

  /** Memory that it takes, about. Grows when further columns are asked for. */
  get sizeBytes(): number {
    let sum = this.columns.sizeBytes + (this.file?.bytes.length ?? 0)
    for (const column of this.metrics.values()) sum += column.sizeBytes
    return sum
  }

  /** The folders that the files lie in, each once, with a slash at the end. */
  get folders(): readonly string[] {
    return this.columns.filePaths.folders
  }

  /** The distinct partitions of the files, in the order of the spec's fields. */
  get partitions(): readonly (readonly PartitionValue[])[] {
    return this.columns.partitions.values
  }

  /** Which of `partitions` a file is in. */
  partitionIndex(row: number): number {
    return this.columns.partitions.indexes.numberAt(row)
  }

  status(row: number): 'added' | 'existing' {
    return this.columns.statuses.numberAt(row) === 1 ? 'added' : 'existing'
  }

  /** Of the snapshot that added the file. */
  snapshotId(row: number): bigint {
    return this.columns.snapshotIds.at(row) ?? this.manifest.addedSnapshotId
  }

  /** The data sequence number. */
  sequenceNumber(row: number): bigint {
    return this.columns.sequenceNumbers.at(row) ?? 0n
  }

  filePath(row: number): string {
    return this.columns.filePaths.at(row)
  }

  content(row: number): FileContent {
    if (this.manifest.content === 'data') return 'data'
    return this.columns.contents.numberAt(row) === 1 ? 'position-deletes' : 'equality-deletes'
  }

  fileFormat(row: number): string {
    const { values, indexes } = this.columns.fileFormats
    return values[indexes.numberAt(row)] ?? ''
  }

  equalityIds(row: number): readonly number[] | undefined {
    return this.columns.equalityIds.at(row)
  }

  referencedDataFile(row: number): string | undefined {
    const path = this.columns.referencedDataFiles.at(row)
    return path === '' ? undefined : path
  }

  /** Records of a file; Infinity where the writer did not know them. */
  recordCount(row: number): number {
    const count = this.columns.recordCounts.numberAt(row)
    return count < 0 ? Number.POSITIVE_INFINITY : count
  }

  counts(fieldId: number): CountColumn | undefined {
    return this.metric(fieldId).counts
  }

  bounds(fieldId: number, type: PrimitiveType): BoundsColumn | undefined {
    return this.metric(fieldId).bounds(type)
  }

  /** The bounds of a column in their binary form. Spec: Appendix D. */
  storedBounds(fieldId: number, row: number): { lower?: Uint8Array; upper?: Uint8Array } {
    const column = this.metric(fieldId)
    const lower = column.lower.at(row)
    const upper = column.upper.at(row)
    return { ...(lower === undefined ? {} : { lower }), ...(upper === undefined ? {} : { upper }) }
  }

  /** Whether the metrics of the columns can be had without the file. */
  hasColumns(fieldIds: readonly number[]): boolean {
    return this.file !== undefined || this.missing(fieldIds).length === 0
  }

  /** Decodes the metrics of the columns in one pass; who wants several asks here first. */
  readColumns(fieldIds: readonly number[]): void {
    const missing = this.missing(fieldIds)
    if (missing.length === 0) return
    const { manifestPath } = this.manifest
    invariant(
      this.file !== undefined,
      `${manifestPath} has the metrics of fields ${missing.join()}`,
    )
    this.decodeColumns(this.file, missing)
  }

  /** The same with the bytes of the file again, which are forgotten. Throws CorruptFileError. */
  addColumns(bytes: Uint8Array, fieldIds: readonly number[]): void {
    this.decodeColumns(openAvroContainer(bytes, whatOf(this.manifest)), this.missing(fieldIds))
  }

  private missing(fieldIds: readonly number[]): readonly number[] {
    if (fieldIds.every((fieldId) => this.metrics.has(fieldId))) return []
    return [...new Set(fieldIds)].filter((fieldId) => !this.metrics.has(fieldId))
  }

  private decodeColumns(file: AvroContainer, fieldIds: readonly number[]): void {
    for (const [fieldId, column] of readMetricColumns(file, this.columns, fieldIds)) {
      this.metrics.set(fieldId, column)
    }
  }

  /** The whole entry, with the metrics of the given columns only. */
  dataFile(row: number, statsFieldIds: readonly number[] = []): ResolvedEntry {
    const sequenceNumber = this.sequenceNumber(row)
    return {
      status: this.status(row),
      snapshotId: this.snapshotId(row),
      sequenceNumber,
      fileSequenceNumber: this.columns.fileSequenceNumbers.at(row) ?? sequenceNumber,
      dataFile: this.fileOf(row, statsFieldIds),
    }
  }

  private metric(fieldId: number): MetricColumn {
    this.readColumns([fieldId])
    const column = this.metrics.get(fieldId)
    invariant(column !== undefined, `no metrics were decoded for field ${fieldId}`)
    return column
  }

  private fileOf(row: number, statsFieldIds: readonly number[]): DataFile {
    const { columns } = this
    const file: Filled<DataFile> = {
      content: this.content(row),
      filePath: this.filePath(row),
      fileFormat: this.fileFormat(row),
      partition: this.partitions[this.partitionIndex(row)] ?? [],
      recordCount: columns.recordCounts.at(row) ?? 0n,
      fileSizeBytes: columns.fileSizesBytes.at(row) ?? 0n,
    }
    const keyMetadata = columns.keyMetadata.at(row)
    if (keyMetadata !== undefined) file.keyMetadata = keyMetadata
    const splitOffsets = columns.splitOffsets.at(row)
    if (splitOffsets !== undefined) file.splitOffsets = splitOffsets
    const equalityIds = this.equalityIds(row)
    if (equalityIds !== undefined) file.equalityIds = equalityIds
    const sortOrderId = columns.sortOrderIds.numberAt(row)
    if (!Number.isNaN(sortOrderId)) file.sortOrderId = sortOrderId
    const firstRowId = columns.firstRowIds.at(row)
    if (firstRowId !== undefined) file.firstRowId = firstRowId
    const referencedDataFile = this.referencedDataFile(row)
    if (referencedDataFile !== undefined) file.referencedDataFile = referencedDataFile
    const contentOffset = columns.contentOffsets.at(row)
    if (contentOffset !== undefined) file.contentOffset = contentOffset
    const contentSizeBytes = columns.contentSizesBytes.at(row)
    if (contentSizeBytes !== undefined) file.contentSizeBytes = contentSizeBytes
    if (statsFieldIds.length > 0) this.fillMetrics(file, row, statsFieldIds)
    return file
  }

  private fillMetrics(file: Filled<DataFile>, row: number, fieldIds: readonly number[]): void {
    this.readColumns(fieldIds)
    file.columnSizesBytes = this.countsById(COUNT.columnSizeBytes, row, fieldIds)
    file.valueCounts = this.countsById(COUNT.values, row, fieldIds)
    file.nullValueCounts = this.countsById(COUNT.nulls, row, fieldIds)
    file.nanValueCounts = this.countsById(COUNT.nans, row, fieldIds)
    file.lowerBounds = this.boundsById('lower', row, fieldIds)
    file.upperBounds = this.boundsById('upper', row, fieldIds)
  }

  private countsById(
    count: number,
    row: number,
    fieldIds: readonly number[],
  ): ReadonlyMap<number, bigint> {
    const counts = new Map<number, bigint>()
    for (const fieldId of fieldIds) {
      const value = this.metric(fieldId).count(count, row)
      if (value !== undefined) counts.set(fieldId, value)
    }
    return counts
  }

  private boundsById(
    bound: 'lower' | 'upper',
    row: number,
    fieldIds: readonly number[],
  ): ReadonlyMap<number, Uint8Array> {
    const bounds = new Map<number, Uint8Array>()
    for (const fieldId of fieldIds) {
      const bytes = this.metric(fieldId)[bound].at(row)
      if (bytes !== undefined) bounds.set(fieldId, bytes)
    }
    return bounds
  }
}

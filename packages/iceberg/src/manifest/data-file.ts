import type { PartitionValue } from '../spec/partition-spec.ts'

export type FileContent = 'data' | 'position-deletes' | 'equality-deletes'

/** Spec: Data File Fields. Counts, sizes and ids that are `long` are bigint; bounds are Appendix-D bytes by field id. */
export interface DataFile {
  readonly content: FileContent
  readonly filePath: string
  /** Upper case as stored: PARQUET, AVRO, ORC, PUFFIN. */
  readonly fileFormat: string
  /** In the order of the manifest's partition spec. */
  readonly partition: readonly PartitionValue[]
  readonly recordCount: bigint
  readonly fileSizeBytes: bigint
  readonly columnSizesBytes?: ReadonlyMap<number, bigint>
  readonly valueCounts?: ReadonlyMap<number, bigint>
  readonly nullValueCounts?: ReadonlyMap<number, bigint>
  readonly nanValueCounts?: ReadonlyMap<number, bigint>
  readonly lowerBounds?: ReadonlyMap<number, Uint8Array>
  readonly upperBounds?: ReadonlyMap<number, Uint8Array>
  readonly keyMetadata?: Uint8Array
  readonly splitOffsets?: readonly bigint[]
  readonly equalityIds?: readonly number[]
  readonly sortOrderId?: number
  readonly firstRowId?: bigint
  readonly referencedDataFile?: string
  readonly contentOffset?: bigint
  readonly contentSizeBytes?: bigint
}

export type EntryStatus = 'existing' | 'added' | 'deleted'

/** One manifest entry as stored. Absent numbers are inherited. Spec: Manifest Entry Fields. */
export interface ManifestEntry {
  readonly status: EntryStatus
  readonly snapshotId?: bigint
  readonly sequenceNumber?: bigint
  readonly fileSequenceNumber?: bigint
  readonly dataFile: DataFile
}

/** An entry after inheritance: everything is known. Spec: Sequence Number Inheritance. */
export interface ResolvedEntry extends ManifestEntry {
  readonly snapshotId: bigint
  readonly sequenceNumber: bigint
  readonly fileSequenceNumber: bigint
}

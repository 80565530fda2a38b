/** Bounds are Appendix-D bytes of the partition field's result type. Spec: Manifest Lists, field 507. */
export interface PartitionFieldSummary {
  readonly containsNull: boolean
  readonly containsNan?: boolean
  readonly lowerBound?: Uint8Array
  readonly upperBound?: Uint8Array
}

/** One entry of a manifest list. Absent counts mean "assume that there are some". Spec: Manifest Lists. */
export interface ManifestFile {
  readonly manifestPath: string
  readonly manifestLengthBytes: bigint
  readonly partitionSpecId: number
  readonly content: 'data' | 'deletes'
  /** 0 in v1 lists. */
  readonly sequenceNumber: bigint
  readonly minSequenceNumber: bigint
  readonly addedSnapshotId: bigint
  readonly addedFilesCount?: number
  readonly existingFilesCount?: number
  readonly deletedFilesCount?: number
  readonly addedRowsCount?: bigint
  readonly existingRowsCount?: bigint
  readonly deletedRowsCount?: bigint
  readonly partitions?: readonly PartitionFieldSummary[]
  readonly keyMetadata?: Uint8Array
  readonly firstRowId?: bigint
}

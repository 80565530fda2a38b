import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { PartitionType } from '../manifest/partition-type.ts'

/** Which manifest is decoded, and what of it is wanted. */
export interface ScanManifestOptions {
  /** The manifest's entry in the list. */
  readonly manifest: ManifestFile
  /** Of the manifest's partition spec. */
  readonly partition: PartitionType
  /** Columns whose metrics are decoded at once; others are when they are first asked. */
  readonly fieldIds?: readonly number[]
  /**
   * Whether the bytes of the file are forgotten: they take several times what the columns take, but without them the metrics of
   * further columns have to be brought by `addColumns` before somebody asks for them.
   */
  readonly isColumnsOnly?: boolean
}

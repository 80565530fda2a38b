import type { DataFile } from '@timelake/iceberg/manifest/data-file'

/** What a writer asks: that these finished data files become part of a branch, once. */
export interface AppendIntent {
  /** By which a repetition is recognised, whatever files it brings. */
  readonly batchId: string
  /** Tells a repetition with the same files from one with others. */
  readonly requestHash: string
  /** Resolved: footers are read, and the files fit the table as it was then. Spelled as the writer did; at least one. */
  readonly files: readonly DataFile[]
  /** Of all the files. */
  readonly specId: number
  /** The writer's own members of the snapshot summary. */
  readonly summary: Readonly<Record<string, string>>
  readonly branch: string
}

/** `landed-before`: the batch is in the table, or an earlier intent of the group brings it; this one adds nothing. */
export type AppendVerdict =
  | { readonly outcome: 'added'; readonly snapshotId: bigint }
  | { readonly outcome: 'landed-before'; readonly snapshotId: bigint }
  | { readonly outcome: 'refused'; readonly error: Error }

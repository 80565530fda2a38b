import type { ResolvedEntry } from '@timelake/iceberg/manifest/data-file'
import type { PartitionValue } from '@timelake/iceberg/spec/partition-spec'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { MergeOrder } from './merge-order.ts'
import type { CompactionSettings } from './table-settings.ts'

/** A live data file with the partition spec of the manifest that lists it. */
export interface LiveDataFile {
  readonly specId: number
  readonly entry: ResolvedEntry
}

/** Everything the planner looks at: one snapshot, its files, the settings in the properties, and the time. */
export interface CompactionInput {
  readonly metadata: TableMetadata
  /** The live data files of the current snapshot of `main`, in any order. */
  readonly files: readonly LiveDataFile[]
  /** Delete files and deletion vectors of that snapshot. */
  readonly deleteFiles: readonly LiveDataFile[]
  /** Locations below which a file of this table may lie. */
  readonly allowedPrefixes: readonly string[]
  readonly nowMs: number
}

/** Files of one partition that become one file. Every input has the same spec and partition tuple as the output. */
export interface CompactionGroup {
  readonly specId: number
  readonly partition: readonly PartitionValue[]
  /** In merge order: what the engine keeps when the table has no sort order. */
  readonly inputs: readonly LiveDataFile[]
  readonly inputSizeBytes: bigint
  readonly inputRowCount: bigint
  /** 0 when no input has a row: such inputs are only removed. */
  readonly estimatedOutputCount: 0 | 1
  readonly reason: string
}

/** The numbers that a decision rests on; shown to the user as they are. */
export interface CompactionNumbers {
  readonly liveFileCount: number
  readonly smallFileCount: number
  readonly partitionCount: number
  readonly largestSmallFileCount: number
  readonly settings?: CompactionSettings
}

/** What to do with a table, and why. `skipped` means that it must not be touched; nothing else is an error. */
export type CompactionPlan =
  | {
      readonly outcome: 'compact'
      readonly snapshotId: bigint
      readonly order: MergeOrder
      readonly groups: readonly CompactionGroup[]
      /** Groups left for the next run because of the bound on one run. */
      readonly remainingGroupCount: number
      readonly numbers: CompactionNumbers
      readonly reason: string
    }
  | {
      readonly outcome: 'nothing-to-do'
      readonly reason: string
      readonly numbers: CompactionNumbers
      /** When a partition becomes cold enough for a merge, if no commit comes before. */
      readonly nextTriggerMs?: number
    }
  | { readonly outcome: 'skipped'; readonly reason: string; readonly numbers: CompactionNumbers }

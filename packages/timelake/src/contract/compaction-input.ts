import type { ResolvedEntry } from '@timelake/iceberg/manifest/data-file'
import { MAIN_BRANCH, type Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import type { CompactionInput, LiveDataFile } from './compaction-plan.ts'

/** A live file as a reader of manifests finds it. */
export interface ListedFile {
  readonly manifest: { readonly partitionSpecId: number }
  readonly entry: ResolvedEntry
}

/** What the planner looks at. Without `live` (the manifests were not read, or there are none): no files at all. */
export function compactionInput({
  metadata,
  live = { dataFiles: [], deleteFiles: [] },
  nowMs,
}: {
  readonly metadata: TableMetadata
  readonly live?: {
    readonly dataFiles: readonly ListedFile[]
    readonly deleteFiles: readonly ListedFile[]
  }
  readonly nowMs: number
}): CompactionInput {
  const files = (listed: readonly ListedFile[]): readonly LiveDataFile[] =>
    listed.map(({ manifest, entry }) => ({ specId: manifest.partitionSpecId, entry }))
  return {
    metadata,
    files: files(live.dataFiles),
    deleteFiles: files(live.deleteFiles),
    allowedPrefixes: tableRoots(metadata),
    nowMs,
  }
}

/** The head of `main`; undefined while the table is empty. */
export function mainSnapshot(metadata: TableMetadata): Snapshot | undefined {
  const id = metadata.refs[MAIN_BRANCH]?.snapshotId ?? metadata.currentSnapshotId
  return metadata.snapshots.find(({ snapshotId }) => snapshotId === id)
}

/** Why live files could not be read, as a sentence. */
export function unreadableReason(unreadable: {
  readonly outcome: 'encrypted' | 'outside'
  readonly location: string
}): string {
  if (unreadable.outcome === 'encrypted') return `${unreadable.location} is encrypted`
  return `${unreadable.location} lies outside the table's locations`
}

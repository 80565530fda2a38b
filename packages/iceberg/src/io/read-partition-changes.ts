import type { ManifestFile } from '../manifest/manifest-file.ts'
import { type PartitionChanges, partitionChanges } from '../snapshot/partition-changes.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { type ReadFile, readManifestEntries, type SnapshotFilesOptions } from './snapshot-files.ts'

/** Manifests of one snapshot that are read, and the entries in them. */
export const OWN_MANIFESTS_MAX = 64
export const OWN_ENTRIES_MAX = 100_000

/** Snapshots of one commit, whose manifest lists were read. */
export interface ListedSnapshots {
  /** Of the table at any time after the snapshots: with their partition specs. */
  readonly metadata: TableMetadata
  readonly snapshots: readonly {
    readonly snapshotId: bigint
    /** All manifests of the snapshot. */
    readonly manifests: readonly ManifestFile[]
  }[]
}

export type ReadPartitionChanges =
  | { readonly outcome: 'read'; readonly changes: PartitionChanges }
  | { readonly outcome: 'outside' | 'encrypted'; readonly location: string }
  | { readonly outcome: 'too-many'; readonly what: string }

/**
 * What the snapshots did to each partition, from the manifests that they added themselves, at most OWN_MANIFESTS_MAX with
 * OWN_ENTRIES_MAX files. Errors: those of `read`, CorruptFileError.
 */
export async function readPartitionChanges(
  read: ReadFile,
  { metadata, snapshots }: ListedSnapshots,
  options: SnapshotFilesOptions,
): Promise<ReadPartitionChanges> {
  const own = snapshots.flatMap(({ snapshotId, manifests }) =>
    manifests.filter(({ addedSnapshotId }) => addedSnapshotId === snapshotId),
  )
  if (own.length > OWN_MANIFESTS_MAX) {
    return { outcome: 'too-many', what: `${own.length} manifests` }
  }
  const entryCount = own.reduce((sum, manifest) => sum + entriesIn(manifest), 0)
  if (entryCount > OWN_ENTRIES_MAX) return { outcome: 'too-many', what: `${entryCount} files` }
  const opened = await readManifestEntries(read, { metadata, manifests: own }, options)
  if (opened.outcome !== 'read') return opened
  const withEntries = own.map(({ manifestPath, partitionSpecId, addedSnapshotId }) => ({
    snapshotId: addedSnapshotId,
    specId: partitionSpecId,
    entries: opened.entriesByManifest.get(manifestPath) ?? [],
  }))
  return { outcome: 'read', changes: partitionChanges(metadata, withEntries) }
}

function entriesIn(manifest: ManifestFile): number {
  const { addedFilesCount = 0, existingFilesCount = 0, deletedFilesCount = 0 } = manifest
  return addedFilesCount + existingFilesCount + deletedFilesCount
}

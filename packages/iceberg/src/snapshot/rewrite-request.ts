import type { DataFile, ResolvedEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { SnapshotIdentity } from './new-snapshot.ts'

/** What is replaced by what, on which head. */
export interface RewriteFiles {
  readonly metadata: TableMetadata
  /** The head of the branch that is committed to, and its manifest list. */
  readonly parent: Snapshot
  readonly parentManifests: readonly ManifestFile[]
  /**
   * The resolved entries of at least every manifest that holds an input, by manifest path; also of delete manifests,
   * when the caller wants a rewrite beside deletes that do not concern it.
   */
  readonly entriesByManifest: ReadonlyMap<string, readonly ResolvedEntry[]>
  /** The data files that are replaced, spelled as in their entries. */
  readonly inputPaths: readonly string[]
  /** The data files with the same rows. All are of the inputs' spec and in partitions of the inputs. */
  readonly outputs: readonly DataFile[]
  readonly specId: number
  readonly identity: SnapshotIdentity
}

/** A data file that is to be replaced, where it is live. */
export interface RewriteInput {
  readonly manifest: ManifestFile
  readonly entry: ResolvedEntry
}

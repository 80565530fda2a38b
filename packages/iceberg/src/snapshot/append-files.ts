import type { DataFile, ManifestEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionKey, partitionType } from '../manifest/partition-type.ts'
import { InvalidInputError } from '../spec/errors.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { NewSnapshotFiles, SnapshotIdentity } from './new-snapshot.ts'
import { finishSnapshot, schemasNewestFirst, writeManifests } from './new-snapshot.ts'
import { summarizeChanges } from './snapshot-summary.ts'

interface Append {
  readonly metadata: TableMetadata
  /** The head of the branch; absent for the first snapshot. */
  readonly parent?: Snapshot
  /** The parent's manifest list. */
  readonly parentManifests: readonly ManifestFile[]
  readonly identity: SnapshotIdentity
}

export interface AppendFiles extends Append {
  /** Data files of one partition spec. */
  readonly files: readonly DataFile[]
  /** Default: the table's default spec. */
  readonly specId?: number
}

export interface AppendFilesOfSpecs extends Append {
  /** Data files by the id of their partition spec. */
  readonly filesBySpec: ReadonlyMap<number, readonly DataFile[]>
}

/**
 * A fast append: the files in new manifests in front of all manifests of the parent, whose entries are not touched.
 * Sequence numbers and row ids are inherited. Throws InvalidInputError for an unknown spec or files that do not fit it.
 * Spec: Snapshots, operation append.
 */
export function appendFiles(append: AppendFiles): NewSnapshotFiles {
  const { files, specId = append.metadata.defaultSpecId } = append
  return appendFilesOfSpecs({ ...append, filesBySpec: new Map([[specId, files]]) })
}

/** The same for files of several partition specs; each spec gets manifests of its own. */
export function appendFilesOfSpecs(append: AppendFilesOfSpecs): NewSnapshotFiles {
  const { metadata, parent, parentManifests, filesBySpec, identity } = append
  const newManifests: ReturnType<typeof writeManifests> = []
  for (const [specId, files] of filesBySpec) {
    newManifests.push(...writeManifestsOfSpec(append, { specId, files }, newManifests.length))
  }
  const added = [...filesBySpec.values()].flat()
  return finishSnapshot({
    metadata,
    parent,
    identity,
    newManifests,
    keptManifests: parentManifests,
    summary: {
      operation: 'append',
      ...summarizeChanges({ added, removed: [] }, parent, parentManifests),
      'changed-partition-count': String(countPartitions(filesBySpec)),
    },
  })
}

function writeManifestsOfSpec(
  { metadata, identity }: Append,
  { specId, files }: { readonly specId: number; readonly files: readonly DataFile[] },
  firstIndex: number,
): ReturnType<typeof writeManifests> {
  const spec = metadata.partitionSpecs.find((candidate) => candidate.specId === specId)
  if (spec === undefined) throw new InvalidInputError(`cannot append: no partition spec ${specId}`)
  const partition = partitionType(spec, schemasNewestFirst(metadata))
  const entries = files.map((dataFile): ManifestEntry => ({
    status: 'added',
    snapshotId: identity.snapshotId,
    dataFile,
  }))
  const plan = { metadata, identity, spec, partition, content: 'data' } as const
  return writeManifests(plan, entries, firstIndex)
}

/** Partitions of different specs are different ones, even where their values look alike. */
function countPartitions(filesBySpec: AppendFilesOfSpecs['filesBySpec']): number {
  let count = 0
  for (const files of filesBySpec.values()) {
    count += new Set(files.map(({ partition }) => partitionKey(partition))).size
  }
  return count
}

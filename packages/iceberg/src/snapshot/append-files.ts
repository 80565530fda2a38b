import type { DataFile, ManifestEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionType } from '../manifest/partition-type.ts'
import { InvalidInputError } from '../spec/errors.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { NewSnapshotFiles, SnapshotIdentity } from './new-snapshot.ts'
import { finishSnapshot, schemasNewestFirst, writeManifests } from './new-snapshot.ts'
import { summarizeChanges } from './snapshot-summary.ts'

export interface AppendFiles {
  readonly metadata: TableMetadata
  /** The head of the branch; absent for the first snapshot. */
  readonly parent?: Snapshot
  /** The parent's manifest list. */
  readonly parentManifests: readonly ManifestFile[]
  /** Data files of one partition spec. */
  readonly files: readonly DataFile[]
  /** Default: the table's default spec. */
  readonly specId?: number
  readonly identity: SnapshotIdentity
}

/**
 * A fast append: the files in new manifests in front of all manifests of the parent, whose entries are not touched.
 * Sequence numbers and row ids are inherited. Throws InvalidInputError for an unknown spec or files that do not fit it.
 * Spec: Snapshots, operation append.
 */
export function appendFiles(append: AppendFiles): NewSnapshotFiles {
  const { metadata, parent, parentManifests, files, identity } = append
  const specId = append.specId ?? metadata.defaultSpecId
  const spec = metadata.partitionSpecs.find((candidate) => candidate.specId === specId)
  if (spec === undefined) throw new InvalidInputError(`cannot append: no partition spec ${specId}`)
  const partition = partitionType(spec, schemasNewestFirst(metadata))
  const entries = files.map((dataFile): ManifestEntry => ({
    status: 'added',
    snapshotId: identity.snapshotId,
    dataFile,
  }))
  const plan = { metadata, identity, spec, partition, content: 'data' } as const
  return finishSnapshot({
    metadata,
    parent,
    identity,
    newManifests: writeManifests(plan, entries, 0),
    keptManifests: parentManifests,
    summary: {
      operation: 'append',
      ...summarizeChanges({ added: files, removed: [] }, parent, parentManifests),
    },
  })
}

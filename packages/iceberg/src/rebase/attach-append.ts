import type { ManifestEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionType } from '../manifest/partition-type.ts'
import { makeManifest, type NewFile, schemasNewestFirst } from '../snapshot/new-snapshot.ts'
import type { PartitionSpec } from '../spec/partition-spec.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { ManifestContent, OwnManifest } from './own-manifests.ts'
import { type RebaseRefusal, refuseRebase, shown } from './rebase-shape.ts'

/** The manifests by which an append stands in another list. */
export interface AttachedManifests {
  readonly outcome: 'attached'
  /** Without first row ids. */
  readonly manifests: readonly ManifestFile[]
  /** Those among them that had to be written anew. */
  readonly newManifests: readonly NewManifest[]
}

/** A manifest that is not stored yet. */
export interface NewManifest extends NewFile {
  readonly manifest: ManifestFile
  readonly content: ManifestContent
}

export interface AppendToAttach {
  readonly metadata: TableMetadata
  readonly own: readonly OwnManifest[]
  readonly snapshotId: bigint
  /** That it gets; 0 in v1. */
  readonly sequenceNumber: bigint
  /** A location in the table's metadata folder that no file has. */
  readonly newLocation: () => string
}

/**
 * The manifests of an append under another sequence number. Those that hold nothing but added files are listed as
 * they are; the added files of a mixed one (written by a client that merges manifests) and of one that was written
 * for v1 go into a new manifest. Refuses deletes, explicit numbers, row ids and files of another spec.
 */
export function attachAppend(append: AppendToAttach): AttachedManifests | RebaseRefusal {
  const { metadata, own } = append
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId)
  if (spec === undefined)
    return refuseRebase(`there is no partition spec ${metadata.defaultSpecId}`)
  const manifests: ManifestFile[] = []
  const newManifests: NewManifest[] = []
  for (const one of own) {
    const added = one.content.entries.filter(({ status }) => status === 'added')
    const problem = entryProblem(append, one, added)
    if (problem !== undefined) return refuseRebase(problem)
    if (added.length === 0) continue
    if (isListedAsItIs(append, one, added)) manifests.push(relisted(append, one, added))
    else {
      const written = extract(append, spec, added)
      if ('outcome' in written) return written
      manifests.push(written.manifest)
      newManifests.push(written)
    }
  }
  return { outcome: 'attached', manifests, newManifests }
}

function entryProblem(
  { metadata, snapshotId }: AppendToAttach,
  { manifest, content }: OwnManifest,
  added: readonly ManifestEntry[],
): string | undefined {
  const deleted = content.entries.find(
    (entry) => entry.status === 'deleted' && (entry.snapshotId ?? snapshotId) === snapshotId,
  )
  if (deleted !== undefined) return `it deletes ${shown(deleted.dataFile.filePath)}`
  if (added.length === 0) return undefined
  if (manifest.content === 'deletes') return 'it adds delete files'
  if (manifest.partitionSpecId !== metadata.defaultSpecId) {
    return `expected files of partition spec ${metadata.defaultSpecId}, found spec ${manifest.partitionSpecId}`
  }
  for (const { sequenceNumber, fileSequenceNumber, dataFile } of added) {
    const number = sequenceNumber ?? fileSequenceNumber
    if (number !== undefined) {
      return `file ${shown(dataFile.filePath)} has the sequence number ${number} of its own`
    }
    if (dataFile.content !== 'data') return `${shown(dataFile.filePath)} is no data file`
    if (dataFile.firstRowId !== undefined) {
      return `file ${shown(dataFile.filePath)} has row ids of its own`
    }
  }
  return undefined
}

function isListedAsItIs(
  { metadata }: AppendToAttach,
  { content }: OwnManifest,
  added: readonly ManifestEntry[],
): boolean {
  // @NOTE Readers differ in whether an entry of a v1 manifest inherits a sequence number.
  const isOfThisAge = content.formatVersion > 1 || metadata.formatVersion === 1
  return isOfThisAge && added.length === content.entries.length
}

function relisted(
  { sequenceNumber, snapshotId }: AppendToAttach,
  { manifest }: OwnManifest,
  added: readonly ManifestEntry[],
): ManifestFile {
  const { firstRowId: _firstRowId, ...kept } = manifest
  return {
    ...kept,
    sequenceNumber,
    minSequenceNumber: sequenceNumber,
    addedSnapshotId: snapshotId,
    addedFilesCount: added.length,
    existingFilesCount: 0,
    deletedFilesCount: 0,
    addedRowsCount: added.reduce((rows, { dataFile }) => rows + dataFile.recordCount, 0n),
    existingRowsCount: 0n,
    deletedRowsCount: 0n,
  }
}

function extract(
  { metadata, snapshotId, sequenceNumber, newLocation }: AppendToAttach,
  spec: PartitionSpec,
  added: readonly ManifestEntry[],
): NewManifest | RebaseRefusal {
  const partition = partitionType(spec, schemasNewestFirst(metadata))
  const fixed = partition.fields.find(({ type }) => type.kind === 'fixed')
  if (fixed !== undefined) return refuseRebase(`${shown(fixed.name)} has values of type fixed`)
  const entries = added.map(({ dataFile }): ManifestEntry => ({
    status: 'added',
    snapshotId,
    dataFile,
  }))
  const made = makeManifest({
    metadata,
    spec,
    partition,
    content: 'data',
    entries,
    location: newLocation(),
    snapshotId,
    sequenceNumber,
  })
  return { ...made, content: { formatVersion: metadata.formatVersion, entries } }
}

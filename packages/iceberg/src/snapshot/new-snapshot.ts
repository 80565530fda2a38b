import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { ManifestEntry } from '../manifest/data-file.ts'
import { describeManifest } from '../manifest/describe-manifest.ts'
import type { PartitionType } from '../manifest/partition-type.ts'
import { assignFirstRowIds, writeManifestList } from '../manifest/write-manifest-list.ts'
import { writeManifest } from '../manifest/write-manifest.ts'
import type { Filled } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { invariant } from '../spec/invariant.ts'
import type { PartitionSpec } from '../spec/partition-spec.ts'
import type { Schema } from '../spec/schema.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'

/** Entries of one manifest; above this another one is begun (about 3 to 12 MB compressed). */
export const MANIFEST_ENTRIES_MAX = 25_000

/** What the caller decides about a snapshot: its identity, its time and where its files go. */
export interface SnapshotIdentity {
  /** Random and positive; not one that the table has. */
  readonly snapshotId: bigint
  /** The snapshot gets this or its parent's time, whichever is later. */
  readonly timestampMs: number
  /** Names the files of this attempt. */
  readonly commitUuid: string
  /** Counts from 1; a retry that writes another manifest list takes the next. */
  readonly attempt?: number
  /** The location of a file with this name in the table's metadata folder. */
  readonly fileLocation: (fileName: string) => string
  /** Further summary members, for example the engine's name. They do not replace computed ones. */
  readonly summary?: Readonly<Record<string, string>>
}

export interface NewFile {
  readonly location: string
  readonly bytes: Uint8Array
}

/** Everything that has to be stored before the snapshot can be committed; nothing of it is referenced until then. */
export interface NewSnapshotFiles {
  readonly manifests: readonly (NewFile & { readonly manifest: ManifestFile })[]
  readonly manifestList: NewFile
  /** The complete content of the list: the new manifests and the kept ones. */
  readonly listedManifests: readonly ManifestFile[]
  readonly snapshot: Snapshot
}

export interface ManifestPlan {
  readonly metadata: TableMetadata
  readonly identity: SnapshotIdentity
  readonly spec: PartitionSpec
  readonly partition: PartitionType
  readonly content: 'data' | 'deletes'
}

/** The sequence number that the next snapshot gets; always 0 in v1. */
export function nextSequenceNumber(metadata: TableMetadata): bigint {
  return metadata.formatVersion === 1 ? 0n : metadata.lastSequenceNumber + 1n
}

/** The current schema. Throws InvalidInputError when the metadata names one that it does not have. */
export function currentSchema(metadata: TableMetadata): Schema {
  const schema = metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId)
  if (schema === undefined) {
    throw new InvalidInputError(
      `no schema ${metadata.currentSchemaId} in table ${metadata.tableUuid}`,
    )
  }
  return schema
}

/** The schemas in which a partition source column is looked up: the current one, then the newest of the others. */
export function schemasNewestFirst(metadata: TableMetadata): Schema[] {
  const current = currentSchema(metadata)
  const others = metadata.schemas.filter((schema) => schema !== current)
  return [current, ...others.sort((a, b) => b.schemaId - a.schemaId)]
}

/** Writes the entries into as many manifests as they need, none for no entries. `firstIndex` goes on the file names. */
export function writeManifests(
  plan: ManifestPlan,
  entries: readonly ManifestEntry[],
  firstIndex: number,
): (NewFile & { manifest: ManifestFile })[] {
  const manifests: (NewFile & { manifest: ManifestFile })[] = []
  for (let start = 0; start < entries.length; start += MANIFEST_ENTRIES_MAX) {
    const index = firstIndex + manifests.length
    manifests.push(writeOne(plan, entries.slice(start, start + MANIFEST_ENTRIES_MAX), index))
  }
  return manifests
}

function writeOne(
  plan: ManifestPlan,
  entries: readonly ManifestEntry[],
  index: number,
): NewFile & { manifest: ManifestFile } {
  const { metadata, identity } = plan
  return makeManifest({
    ...plan,
    entries,
    location: identity.fileLocation(`${identity.commitUuid}-m${index}.avro`),
    snapshotId: identity.snapshotId,
    sequenceNumber: nextSequenceNumber(metadata),
  })
}

/** What a new manifest of a table holds, where it will be, and the snapshot whose list names it first. */
export interface ManifestToMake extends Omit<ManifestPlan, 'identity'> {
  readonly entries: readonly ManifestEntry[]
  readonly location: string
  readonly snapshotId: bigint
  readonly sequenceNumber: bigint
}

/** The bytes of a manifest in the table's format version and current schema, and its entry in a manifest list. */
export function makeManifest(made: ManifestToMake): NewFile & { manifest: ManifestFile } {
  const { metadata, spec, partition, content, entries, location } = made
  const { formatVersion } = metadata
  const schema = currentSchema(metadata)
  const bytes = writeManifest({ formatVersion, schema, spec, partition, content, entries })
  const manifest = describeManifest({
    manifestPath: location,
    lengthBytes: bytes.length,
    spec,
    partition,
    content,
    entries,
    snapshotId: made.snapshotId,
    sequenceNumber: made.sequenceNumber,
  })
  return { location, bytes, manifest }
}

export interface SnapshotContent {
  readonly metadata: TableMetadata
  readonly parent: Snapshot | undefined
  readonly identity: SnapshotIdentity
  readonly newManifests: readonly (NewFile & { readonly manifest: ManifestFile })[]
  readonly keptManifests: readonly ManifestFile[]
  /** With `operation`. */
  readonly summary: Readonly<Record<string, string>>
}

/**
 * The manifest list and the Snapshot on top of manifests: the new ones first, then the kept ones in their order. v3: row ids are
 * assigned from the table's next row id. Time never goes backwards from the parent. Spec: Snapshots.
 */
export function finishSnapshot(content: SnapshotContent): NewSnapshotFiles {
  const { metadata, parent, identity, newManifests, keptManifests } = content
  const { snapshotId } = identity
  invariant(
    !metadata.snapshots.some((known) => known.snapshotId === snapshotId),
    `snapshot id ${snapshotId} is taken`,
  )
  const listed = [...newManifests.map(({ manifest }) => manifest), ...keptManifests]
  const lineage = rowLineage(metadata, listed)
  const sequenceNumber = nextSequenceNumber(metadata)
  const list = {
    formatVersion: metadata.formatVersion,
    snapshotId,
    sequenceNumber,
    manifests: lineage.manifests,
    ...(parent === undefined ? {} : { parentSnapshotId: parent.snapshotId }),
    ...(lineage.firstRowId === undefined ? {} : { firstRowId: lineage.firstRowId }),
  }
  const fileName = `snap-${snapshotId}-${identity.attempt ?? 1}-${identity.commitUuid}.avro`
  const manifestList = { location: identity.fileLocation(fileName), bytes: writeManifestList(list) }
  const snapshot: Filled<Snapshot> = {
    snapshotId,
    sequenceNumber,
    timestampMs: Math.max(identity.timestampMs, parent?.timestampMs ?? 0),
    manifestList: manifestList.location,
    summary: { ...identity.summary, ...content.summary },
    schemaId: metadata.currentSchemaId,
  }
  if (parent !== undefined) snapshot.parentSnapshotId = parent.snapshotId
  if (lineage.firstRowId !== undefined) {
    snapshot.firstRowId = lineage.firstRowId
    snapshot.addedRows = lineage.addedRows
  }
  return { manifests: newManifests, manifestList, listedManifests: lineage.manifests, snapshot }
}

interface RowLineage {
  readonly manifests: readonly ManifestFile[]
  readonly firstRowId: bigint | undefined
  readonly addedRows: bigint
}

function rowLineage(metadata: TableMetadata, manifests: readonly ManifestFile[]): RowLineage {
  if (metadata.formatVersion < 3) return { manifests, firstRowId: undefined, addedRows: 0n }
  const firstRowId = metadata.nextRowId ?? 0n
  const assigned = assignFirstRowIds(manifests, firstRowId)
  return { manifests: assigned.manifests, firstRowId, addedRows: assigned.nextRowId - firstRowId }
}

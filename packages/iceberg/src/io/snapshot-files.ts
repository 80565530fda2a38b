import type { ManifestEntry, ResolvedEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { PartitionType } from '../manifest/partition-type.ts'
import { partitionType } from '../manifest/partition-type.ts'
import { readManifestList } from '../manifest/read-manifest-list.ts'
import type { ManifestMetrics } from '../manifest/read-manifest.ts'
import { readManifest } from '../manifest/read-manifest.ts'
import { resolveEntries } from '../manifest/resolve-entries.ts'
import { schemasNewestFirst } from '../snapshot/new-snapshot.ts'
import { CorruptFileError } from '../spec/errors.ts'
import { isLocationBelow } from '../spec/location.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { mapBounded } from './map-bounded.ts'

/** Manifests that are read at the same time. */
export const MANIFEST_READS_MAX = 8

/** A manifest or manifest list above this is not read. */
export const MANIFEST_BYTES_MAX = 512 * 1024 * 1024

/** The part of an object store that reading a snapshot needs. */
export type ReadFile = (
  location: string,
  options: { readonly sizeBytesMax: number; readonly signal?: AbortSignal },
) => Promise<Uint8Array>

/** The snapshot to read, and the table that it is of. */
export interface TableSnapshot {
  readonly metadata: TableMetadata
  readonly snapshot: Snapshot
}

export interface SnapshotFilesOptions {
  /** The table's own prefixes. Nothing outside of them is read, whatever the metadata and the manifests say. */
  readonly allowedPrefixes: readonly string[]
  /** Default MANIFEST_READS_MAX. */
  readonly manifestReadsMax?: number
  readonly signal?: AbortSignal
  /** Sizes, counts and bounds of columns, see ReadManifestOptions. Default `lazy`. */
  readonly metrics?: ManifestMetrics
}

/**
 * Why a snapshot cannot be read: a file lies outside the allowed prefixes (it was not read), or a manifest or list
 * is encrypted.
 */
export type UnreadableSnapshot =
  | { readonly outcome: 'outside'; readonly location: string }
  | { readonly outcome: 'encrypted'; readonly location: string }

export type SnapshotManifests =
  { readonly outcome: 'read'; readonly manifests: readonly ManifestFile[] } | UnreadableSnapshot

/** A live file and the manifest that lists it. */
export interface LiveFile {
  readonly manifest: ManifestFile
  readonly entry: ResolvedEntry
}

export type LiveFiles =
  | {
      readonly outcome: 'read'
      readonly manifests: readonly ManifestFile[]
      /** All entries, see ManifestEntries; only of manifests that may hold live files. */
      readonly entriesByManifest: ReadonlyMap<string, readonly ResolvedEntry[]>
      /** In list and file order. */
      readonly dataFiles: readonly LiveFile[]
      readonly deleteFiles: readonly LiveFile[]
      readonly dataRowsCount: bigint
      readonly dataSizeBytes: bigint
    }
  | UnreadableSnapshot

/**
 * The manifest list of a snapshot, checked: every manifest lies below an allowed prefix. Also serves old v1 snapshots that
 * name their manifests themselves. Errors: those of `read`, CorruptFileError, the signal's reason.
 */
export async function readSnapshotManifests(
  read: ReadFile,
  { snapshot }: TableSnapshot,
  options: SnapshotFilesOptions,
): Promise<SnapshotManifests> {
  if (snapshot.manifestList === undefined) return readListlessSnapshot(read, snapshot, options)
  if (isOutside(snapshot.manifestList, options)) {
    return { outcome: 'outside', location: snapshot.manifestList }
  }
  if (snapshot.keyId !== undefined) return { outcome: 'encrypted', location: snapshot.manifestList }
  const bytes = await readWhole(read, snapshot.manifestList, options)
  const manifests = readManifestList(bytes, snapshot.manifestList)
  const outside = manifests.find(({ manifestPath }) => isOutside(manifestPath, options))
  if (outside !== undefined) return { outcome: 'outside', location: outside.manifestPath }
  return { outcome: 'read', manifests }
}

/**
 * Every live file of a snapshot with its manifest, and all entries of the manifests that were read. Partition values are in the order and types
 * of the table's specs. Manifests that are known to hold no live file are not opened. Errors as for
 * readSnapshotManifests.
 */
export async function readLiveFiles(
  read: ReadFile,
  source: TableSnapshot,
  options: SnapshotFilesOptions,
): Promise<LiveFiles> {
  const list = await readSnapshotManifests(read, source, options)
  if (list.outcome !== 'read') return list
  const manifests = list.manifests.filter(mayHoldLiveFiles)
  const opened = await readManifestEntries(read, { metadata: source.metadata, manifests }, options)
  if (opened.outcome !== 'read') return opened
  return collectLiveFiles(list.manifests, opened.entriesByManifest)
}

/** Some manifests of a table, as readSnapshotManifests lists them. */
export interface TableManifests {
  readonly metadata: TableMetadata
  readonly manifests: readonly ManifestFile[]
}

export type ManifestEntries =
  | {
      readonly outcome: 'read'
      /** All entries by manifest path, deleted ones too, resolved and in file order. */
      readonly entriesByManifest: ReadonlyMap<string, readonly ResolvedEntry[]>
    }
  | UnreadableSnapshot

/**
 * The entries of the given manifests. Partition values are in the order and types of the table's specs. Answers
 * `outside` when a manifest or the path of a live entry lies outside the prefixes. Errors as for readSnapshotManifests.
 */
export async function readManifestEntries(
  read: ReadFile,
  source: TableManifests,
  options: SnapshotFilesOptions,
): Promise<ManifestEntries> {
  const outside = source.manifests.find(({ manifestPath }) => isOutside(manifestPath, options))
  if (outside !== undefined) return { outcome: 'outside', location: outside.manifestPath }
  const encrypted = source.manifests.find(({ keyMetadata }) => keyMetadata !== undefined)
  if (encrypted !== undefined) return { outcome: 'encrypted', location: encrypted.manifestPath }
  const entriesByManifest = await readEntries(read, source, options)
  const location = findOutsideFile(entriesByManifest, options)
  return location === undefined
    ? { outcome: 'read', entriesByManifest }
    : { outcome: 'outside', location }
}

function findOutsideFile(
  entriesByManifest: ReadonlyMap<string, readonly ResolvedEntry[]>,
  options: SnapshotFilesOptions,
): string | undefined {
  for (const entries of entriesByManifest.values()) {
    for (const { status, dataFile } of entries) {
      if (status !== 'deleted' && isOutside(dataFile.filePath, options)) return dataFile.filePath
    }
  }
  return undefined
}

function isOutside(location: string, options: SnapshotFilesOptions): boolean {
  return !options.allowedPrefixes.some((prefix) => isLocationBelow(prefix, location))
}

async function readWhole(
  read: ReadFile,
  location: string,
  { signal }: SnapshotFilesOptions,
): Promise<Uint8Array> {
  signal?.throwIfAborted()
  const sizeBytesMax = MANIFEST_BYTES_MAX
  return read(location, signal === undefined ? { sizeBytesMax } : { sizeBytesMax, signal })
}

/** Only v1, and only from before manifest lists: counts are unknown and sequence numbers 0. */
async function readListlessSnapshot(
  read: ReadFile,
  snapshot: Snapshot,
  options: SnapshotFilesOptions,
): Promise<SnapshotManifests> {
  const paths = snapshot.manifests ?? []
  const outside = paths.find((path) => isOutside(path, options))
  if (outside !== undefined) return { outcome: 'outside', location: outside }
  const manifests = await mapBounded(paths, readsMax(options), async (path) => {
    const bytes = await readWhole(read, path, options)
    const manifest = listlessManifest(path, bytes.length, snapshot)
    const { header } = readManifest(bytes, { manifest, metrics: 'none' })
    return { ...manifest, partitionSpecId: header.partitionSpecId ?? 0 }
  })
  return { outcome: 'read', manifests }
}

function listlessManifest(path: string, lengthBytes: number, snapshot: Snapshot): ManifestFile {
  return {
    manifestPath: path,
    manifestLengthBytes: BigInt(lengthBytes),
    partitionSpecId: 0,
    content: 'data',
    sequenceNumber: 0n,
    minSequenceNumber: 0n,
    addedSnapshotId: snapshot.snapshotId,
  }
}

function mayHoldLiveFiles(manifest: ManifestFile): boolean {
  return manifest.addedFilesCount !== 0 || manifest.existingFilesCount !== 0
}

function readsMax(options: SnapshotFilesOptions): number {
  return options.manifestReadsMax ?? MANIFEST_READS_MAX
}

async function readEntries(
  read: ReadFile,
  source: TableManifests,
  options: SnapshotFilesOptions,
): Promise<Map<string, ResolvedEntry[]>> {
  const partitions = partitionTypes(source.metadata)
  const resolved = await mapBounded(source.manifests, readsMax(options), async (manifest) => {
    const bytes = await readWhole(read, manifest.manifestPath, options)
    const partition = partitions.get(manifest.partitionSpecId)
    if (partition === undefined) {
      throw new CorruptFileError(
        `cannot read manifest ${manifest.manifestPath}: no partition spec ${manifest.partitionSpecId}`,
      )
    }
    const metrics = options.metrics ?? 'lazy'
    const { entries } = readManifest(bytes, { manifest, partition, metrics })
    return resolveEntries(manifest, checkContents(manifest, entries))
  })
  const pathOf = (index: number): string => source.manifests[index]?.manifestPath ?? ''
  return new Map(resolved.map((entries, index) => [pathOf(index), entries]))
}

function partitionTypes(metadata: TableMetadata): Map<number, PartitionType> {
  const schemas = schemasNewestFirst(metadata)
  return new Map(metadata.partitionSpecs.map((spec) => [spec.specId, partitionType(spec, schemas)]))
}

/** A data manifest lists data files and a delete manifest delete files; anything else would change what is read. */
function checkContents(
  manifest: ManifestFile,
  entries: readonly ManifestEntry[],
): readonly ManifestEntry[] {
  const isData = manifest.content === 'data'
  const wrong = entries.find(({ dataFile }) => (dataFile.content === 'data') !== isData)
  if (wrong === undefined) return entries
  throw new CorruptFileError(
    `cannot read manifest ${manifest.manifestPath}: expected ${manifest.content}, ` +
      `got ${wrong.dataFile.content} in ${wrong.dataFile.filePath}`,
  )
}

function collectLiveFiles(
  manifests: readonly ManifestFile[],
  entriesByManifest: ReadonlyMap<string, readonly ResolvedEntry[]>,
): LiveFiles {
  const dataFiles: LiveFile[] = []
  const deleteFiles: LiveFile[] = []
  let dataRowsCount = 0n
  let dataSizeBytes = 0n
  for (const manifest of manifests) {
    const files = manifest.content === 'data' ? dataFiles : deleteFiles
    for (const entry of entriesByManifest.get(manifest.manifestPath) ?? []) {
      if (entry.status === 'deleted') continue
      files.push({ manifest, entry })
      if (manifest.content === 'deletes') continue
      dataRowsCount += entry.dataFile.recordCount
      dataSizeBytes += entry.dataFile.fileSizeBytes
    }
  }
  return {
    outcome: 'read',
    manifests,
    entriesByManifest,
    dataFiles,
    deleteFiles,
    dataRowsCount,
    dataSizeBytes,
  }
}

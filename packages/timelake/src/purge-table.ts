import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { MANIFEST_BYTES_MAX } from '@timelake/iceberg/io/snapshot-files'
import { namedFiles, type NamedFiles } from '@timelake/iceberg/maintenance/reachable-files'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { readManifestList } from '@timelake/iceberg/manifest/read-manifest-list'
import { readManifest } from '@timelake/iceberg/manifest/read-manifest'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import {
  purgeFolders,
  purgeObstacle,
  type PurgeBounds,
  type PurgedTable,
} from './contract/plan-purge.ts'
import {
  fileDeleter,
  PurgeStoppedError,
  type DeletedFile,
  type DeleteFolders,
  type FileDeleter,
  type PurgeCounts,
} from './delete-files.ts'
import { readTableMetadata, type ReadIfPresent } from './read-table-metadata.ts'

/** The world around one purge. */
export interface PurgeContext {
  readonly read: ReadIfPresent
  /** Deletes a batch; one answer for each. */
  deleteFiles(locations: readonly string[]): Promise<readonly DeletedFile[]>
  /** Why nothing may be deleted below these folders now, by the database; asked again before every batch. */
  obstacle(folders: readonly string[]): Promise<string | undefined>
  /** Records that a batch is about to be deleted, after which the table cannot come back; or why it must not be. */
  beginBatch(): Promise<string | undefined>
  /** Which of the folders a live table uses too, with its name, by its metadata; asked once. */
  usersOf(folders: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  readonly bounds: PurgeBounds
  readonly signal: AbortSignal
}

/**
 * `succeeded`: nothing is left of the table that may be deleted. `skipped`: the reason forbids it; what was deleted
 * before it came up is counted.
 */
export interface PurgeTableOutcome {
  readonly outcome: 'succeeded' | 'skipped'
  readonly reason: string
  readonly counts: PurgeCounts
}

/** The counts of a purge that deleted nothing. */
export const NOTHING_PURGED: PurgeCounts = {
  deleted: { data: 0, statistics: 0, manifest: 0, 'manifest-list': 0, metadata: 0 },
  left: { outside: 0, shared: 0, encrypted: 0, refused: 0 },
  leftExamples: [],
}

/**
 * Deletes the files that are reachable from the last metadata of a dropped table and lie in its own folders; nothing is
 * listed, nothing else is read or deleted. Data files go first, then statistics, manifests, manifest lists, earlier
 * metadata and the current metadata file last, so a purge that was interrupted finds the rest when it runs again. Errors:
 * CorruptFileError, those of the store and the database, the signal's reason.
 */
export async function purgeTable(
  context: PurgeContext,
  table: PurgedTable,
): Promise<PurgeTableOutcome> {
  const skipped = (reason: string): PurgeTableOutcome => ({
    outcome: 'skipped',
    reason,
    counts: NOTHING_PURGED,
  })
  const metadata = await readTableMetadata(context.read, table.metadataLocation, context.signal)
  if (metadata === undefined) {
    const reason = 'its metadata file is not there any more'
    return { outcome: 'succeeded', reason, counts: NOTHING_PURGED }
  }
  const obstacle = purgeObstacle(metadata, table)
  if (obstacle !== undefined) return skipped(obstacle)
  const folders = await findFolders(context, metadata)
  if ('reason' in folders) return skipped(folders.reason)
  const deleter = fileDeleter(
    {
      ...context,
      obstacle: async () => (await context.obstacle(folders.own)) ?? (await context.beginBatch()),
    },
    folders,
  )
  try {
    return await purgeFiles(context, deleter, { table, metadata })
  } catch (cause) {
    if (!(cause instanceof PurgeStoppedError)) throw cause
    return { outcome: 'skipped', reason: cause.message, counts: deleter.counts() }
  }
}

/** The folders to delete in, or why there are none: the table's location must be its own for certain. */
async function findFolders(
  { bounds, obstacle, usersOf, signal }: PurgeContext,
  metadata: TableMetadata,
): Promise<DeleteFolders | { readonly reason: string }> {
  const location = normalizeLocation(metadata.location)
  const folders = purgeFolders(tableRoots(metadata), bounds)
  if (!folders.includes(location)) {
    return { reason: `its location ${location} is not one that tables may have` }
  }
  const own: string[] = []
  const shared: string[] = []
  const users = await usersOf(folders, signal)
  for (const folder of folders) {
    const user = users.get(folder)
    const reason =
      user === undefined ? await obstacle([folder]) : `table ${user} uses files in ${folder}`
    if (reason === undefined) own.push(folder)
    else if (folder === location) return { reason }
    else shared.push(folder)
  }
  return { own, shared }
}

interface Purge {
  readonly table: PurgedTable
  readonly metadata: TableMetadata
}

async function purgeFiles(
  context: PurgeContext,
  deleter: FileDeleter,
  { table, metadata }: Purge,
): Promise<PurgeTableOutcome> {
  const named = namedFiles(metadata)
  const current = normalizeLocation(table.metadataLocation)
  const manifests = await readManifestPaths(context, deleter, named)
  const isEncrypted = [...manifests.values()].some((each) => each?.keyMetadata !== undefined)
  if (isEncrypted) throw new PurgeStoppedError('the table is encrypted')
  // What leads to other files goes last, whatever it is called by a manifest.
  const leading = new Set([
    ...manifests.keys(),
    ...named.manifestLists,
    ...named.earlierMetadata,
    current,
  ])
  const isFollowing = (location: string): boolean => !leading.has(location)
  await deleter.deleteAll('data', dataFiles(context, deleter, { manifests, leading }))
  await deleter.deleteAll('statistics', named.statistics.filter(isFollowing))
  await deleter.deleteAll('manifest', manifests.keys())
  await deleter.deleteAll('manifest-list', named.manifestLists)
  await deleter.deleteAll(
    'metadata',
    named.earlierMetadata.filter((location) => location !== current),
  )
  await deleter.deleteAll('metadata', [current])
  const counts = deleter.counts()
  return { outcome: 'succeeded', reason: describeCounts(counts), counts }
}

/** By normalized path; undefined where only the path is known. */
type Manifests = ReadonlyMap<string, ManifestFile | undefined>

/** Every manifest of every snapshot, those outside too. A list that is gone was deleted after all that it leads to. */
async function readManifestPaths(
  { read, signal }: PurgeContext,
  deleter: FileDeleter,
  named: NamedFiles,
): Promise<Manifests> {
  const manifests = new Map<string, ManifestFile | undefined>()
  for (const path of named.manifests) manifests.set(path, undefined)
  for (const location of named.manifestLists) {
    signal.throwIfAborted()
    if (!deleter.owns(location)) continue
    const bytes = await read(location, { sizeBytesMax: MANIFEST_BYTES_MAX, signal })
    if (bytes === undefined) continue
    for (const manifest of readManifestList(bytes, location)) {
      manifests.set(normalizeLocation(manifest.manifestPath), manifest)
    }
  }
  return manifests
}

/** The live data and delete files of the manifests; a manifest that is gone was deleted after all that it leads to. */
async function* dataFiles(
  { read, signal }: PurgeContext,
  deleter: FileDeleter,
  { manifests, leading }: { readonly manifests: Manifests; readonly leading: ReadonlySet<string> },
): AsyncIterable<string> {
  for (const [location, manifest] of manifests) {
    signal.throwIfAborted()
    if (!deleter.owns(location)) continue
    const bytes = await read(location, { sizeBytesMax: MANIFEST_BYTES_MAX, signal })
    if (bytes === undefined) continue
    // One file of deletion vectors serves many entries.
    const paths = new Set<string>()
    const { entries } = readManifest(bytes, {
      ...(manifest === undefined ? {} : { manifest }),
      metrics: 'none',
    })
    for (const { status, dataFile } of entries) {
      const path = normalizeLocation(dataFile.filePath)
      if (status === 'deleted' || leading.has(path) || paths.has(path)) continue
      paths.add(path)
      if (dataFile.keyMetadata === undefined) yield path
      else deleter.leave(path, 'encrypted')
    }
  }
}

function describeCounts({ deleted, left }: PurgeCounts): string {
  const sum = (counts: Readonly<Record<string, number>>): number =>
    Object.values(counts).reduce((total, count) => total + count, 0)
  const all = [`${sum(deleted)} files deleted`]
  for (const [reason, count] of Object.entries(left)) {
    if (count > 0) all.push(`${count} left alone (${reason})`)
  }
  return all.join(', ')
}

import { WAREHOUSE_FOLDER } from '@timelake/storage/name-records'
import { gunzipSync } from 'node:zlib'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { decodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { NameRecord } from '@timelake/storage/name-records'
import type { ObjectStore } from '@timelake/storage/object-store'
import type { FoundMetadata } from './plan-recovery.ts'

export interface WarehouseScan {
  readonly found: readonly FoundMetadata[]
  /** Sentences about folders and files that are no use. */
  readonly problems: readonly string[]
}

export interface WarehouseScanOptions {
  readonly store: ObjectStore
  readonly warehouseLocation: string
  /** They name folders outside the warehouse, too. */
  readonly records: readonly NameRecord[]
  readonly metadataBytesMax: number
}

interface MetadataFile {
  readonly location: string
  readonly version: number
}

/**
 * The newest usable metadata file of every folder that holds any, below the warehouse or named by a record. Usable:
 * it can be decoded, and the manifest list of its current snapshot is there. Reads one or two files per folder.
 * Errors: those of the store.
 */
export async function scanWarehouse(options: WarehouseScanOptions): Promise<WarehouseScan> {
  const folders = await metadataFolders(options)
  const found: FoundMetadata[] = []
  const problems: string[] = []
  for (const [folder, files] of folders) {
    const newest = await newestUsable(options, files, problems)
    if (newest === undefined)
      problems.push(`${folder}: none of ${files.length} metadata files is usable`)
    else found.push(newest)
  }
  return { found, problems }
}

async function metadataFolders(
  options: WarehouseScanOptions,
): Promise<Map<string, MetadataFile[]>> {
  const { store, warehouseLocation, records } = options
  const outside = records
    .filter((record) => record.kind === 'table')
    .flatMap(({ location, metadataLocation }) => [
      `${location}/metadata`,
      folderOf(metadataLocation),
    ])
    .filter((folder) => !folder.startsWith(`${warehouseLocation}/`))
  const folders = new Map<string, MetadataFile[]>()
  for (const prefix of new Set([warehouseLocation, ...outside])) {
    for await (const { location } of store.list(prefix)) {
      const version = metadataVersion(location)
      if (version === undefined || location.startsWith(`${warehouseLocation}/${WAREHOUSE_FOLDER}/`))
        continue
      const files = folders.get(folderOf(location)) ?? []
      files.push({ location, version })
      folders.set(folderOf(location), files)
    }
  }
  return folders
}

// Files of one version are rivals of which one won; the one that was made last is taken, and said so.
async function newestUsable(
  options: WarehouseScanOptions,
  files: readonly MetadataFile[],
  problems: string[],
): Promise<FoundMetadata | undefined> {
  const versions = [...new Set(files.map(({ version }) => version))].sort(
    (left, right) => right - left,
  )
  for (const version of versions) {
    const usable: FoundMetadata[] = []
    for (const { location } of files.filter((file) => file.version === version)) {
      const metadata = await readUsable(options, location, problems)
      if (metadata !== undefined) usable.push(metadata)
    }
    const [newest, ...rivals] = usable.sort(
      (left, right) => right.lastUpdatedMs - left.lastUpdatedMs,
    )
    for (const { metadataLocation } of rivals) {
      problems.push(
        `${metadataLocation}: passed over for ${newest?.metadataLocation} of the same version`,
      )
    }
    if (newest !== undefined) return newest
  }
  return undefined
}

async function readUsable(
  { store, metadataBytesMax }: WarehouseScanOptions,
  metadataLocation: string,
  problems: string[],
): Promise<FoundMetadata | undefined> {
  const bytes = await store.get(metadataLocation, { sizeBytesMax: metadataBytesMax })
  const metadata = tryDecode(metadataLocation, bytes, problems)
  if (metadata === undefined) return undefined
  const manifestList = currentManifestList(metadata)
  if (manifestList !== undefined && (await store.stat(manifestList)) === undefined) {
    problems.push(`${metadataLocation}: its manifest list ${manifestList} is missing`)
    return undefined
  }
  return {
    metadataLocation,
    tableUuid: metadata.tableUuid,
    location: normalizeLocation(metadata.location),
    lastUpdatedMs: metadata.lastUpdatedMs,
    earlierLocations: metadata.metadataLog.map(({ metadataFile }) => metadataFile),
  }
}

function tryDecode(
  location: string,
  bytes: Uint8Array,
  problems: string[],
): TableMetadata | undefined {
  try {
    const isGzipped = bytes[0] === 0x1f && bytes[1] === 0x8b
    return decodeTableMetadata(isGzipped ? gunzipSync(bytes) : bytes)
  } catch (error) {
    problems.push(`${location}: cannot be read: ${(error as Error).message}`)
    return undefined
  }
}

function currentManifestList({ snapshots, currentSnapshotId }: TableMetadata): string | undefined {
  return snapshots.find(({ snapshotId }) => snapshotId === currentSnapshotId)?.manifestList
}

// Names like `00003-<uuid>.metadata.json`, `v3.metadata.json`, `00003-<uuid>.gz.metadata.json`.
function metadataVersion(location: string): number | undefined {
  const digits = /\/v?(\d{1,15})[^/]*\.metadata\.json(\.gz)?$/.exec(location)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

function folderOf(location: string): string {
  return location.slice(0, location.lastIndexOf('/'))
}

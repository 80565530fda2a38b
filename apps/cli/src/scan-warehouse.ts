import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { WAREHOUSE_FOLDER, type NameRecord } from '@timelake/storage/name-records'
import {
  LocationError,
  ObjectNotFoundError,
  ObjectTooLargeError,
  type ObjectStore,
} from '@timelake/storage/object-store'
import type { FoundMetadata } from './plan-recovery.ts'
import { readMetadataFile } from './read-metadata-file.ts'

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

/** Folders that are looked into at the same time. */
const SCAN_READS_MAX = 8
/** Files of a folder that are kept for a look: the newest ones. Older ones are no use without all that came after. */
const FILES_PER_FOLDER_MAX = 64

/**
 * The newest usable metadata file of every folder that holds any, below the warehouse or named by a record. Usable:
 * it can be decoded, and the manifest list of its current snapshot is there. Reads one or two files per folder.
 * Errors: StoreUnavailableError.
 */
export async function scanWarehouse(options: WarehouseScanOptions): Promise<WarehouseScan> {
  const problems: string[] = []
  const folders = await metadataFolders(options, problems)
  const scanned = await mapBounded([...folders], SCAN_READS_MAX, async ([folder, files]) => {
    const own: string[] = []
    const newest = await newestUsable(options, files, own)
    if (newest === undefined)
      own.push(`${folder}: none of the newest ${files.length} metadata files is usable`)
    return { newest, own }
  })
  return {
    found: scanned.flatMap(({ newest }) => (newest === undefined ? [] : [newest])),
    problems: [...problems, ...scanned.flatMap(({ own }) => own)],
  }
}

async function metadataFolders(
  options: WarehouseScanOptions,
  problems: string[],
): Promise<Map<string, MetadataFile[]>> {
  const { store, warehouseLocation, records } = options
  const outside = records
    .flatMap((record) => (record.kind === 'namespace' ? [] : [record]))
    .flatMap(({ location, metadataLocation }) => [
      `${location}/metadata`,
      folderOf(metadataLocation),
    ])
    .filter((folder) => !folder.startsWith(`${warehouseLocation}/`))
  const folders = new Map<string, MetadataFile[]>()
  const prefixes = [warehouseLocation, ...new Set(outside)]
  await mapBounded(prefixes, SCAN_READS_MAX, async (prefix) => {
    try {
      for await (const { location } of store.list(prefix)) {
        if (!location.startsWith(`${warehouseLocation}/${WAREHOUSE_FOLDER}/`))
          keep(folders, location)
      }
    } catch (error) {
      if (!(error instanceof LocationError)) throw error
      problems.push(
        `${prefix}: outside what the settings allow: see TIMELAKE_EXTRA_ALLOWED_LOCATIONS`,
      )
    }
  })
  return folders
}

function keep(folders: Map<string, MetadataFile[]>, location: string): void {
  const version = metadataVersion(location)
  if (version === undefined) return
  const files = folders.get(folderOf(location)) ?? []
  // A folder outside may be listed twice, as a record's and as part of another one.
  if (files.some((file) => file.location === location)) return
  files.push({ location, version })
  if (files.length > FILES_PER_FOLDER_MAX) {
    files.sort((left, right) => right.version - left.version)
    files.pop()
  }
  folders.set(folderOf(location), files)
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
  options: WarehouseScanOptions,
  metadataLocation: string,
  problems: string[],
): Promise<FoundMetadata | undefined> {
  try {
    const metadata = await readMetadataFile(options, metadataLocation)
    const { manifestList, ...found } = metadata
    if (manifestList === undefined || (await options.store.stat(manifestList)) !== undefined)
      return found
    problems.push(`${metadataLocation}: its manifest list ${manifestList} is missing`)
    return undefined
  } catch (error) {
    if (!isOfOneFile(error)) throw error
    problems.push(`${metadataLocation}: cannot be read: ${error.message}`)
    return undefined
  }
}

function isOfOneFile(error: unknown): error is Error {
  return (
    error instanceof InvalidInputError ||
    error instanceof LocationError ||
    error instanceof ObjectNotFoundError ||
    error instanceof ObjectTooLargeError
  )
}

// Names like `00003-<uuid>.metadata.json`, `v3.metadata.json`, `00003-<uuid>.gz.metadata.json`.
function metadataVersion(location: string): number | undefined {
  const digits = /\/v?(\d{1,15})[^/]*\.metadata\.json(\.gz)?$/.exec(location)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

function folderOf(location: string): string {
  return location.slice(0, location.lastIndexOf('/'))
}

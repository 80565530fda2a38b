import { readSnapshotManifests, type TableSnapshot } from '@timelake/iceberg/io/snapshot-files'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { isLocationBelow, normalizeLocation } from '@timelake/iceberg/spec/location'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { LRUCache } from 'lru-cache'
import type { CachedWarehouse } from './metadata-cache.ts'

/** What a decoded entry of a manifest list takes, about. */
const BYTES_PER_MANIFEST = 700
const ENTRY_BYTES_MIN = 256
/** A manifest list above this, some hundred thousand manifests, is not read here. */
const MANIFEST_LIST_BYTES_MAX = 64 * 1024 * 1024

/** A snapshot of a table, and the folders that may be read for it; without them the table's own. */
export interface ListedSnapshot extends TableSnapshot {
  readonly roots?: readonly string[]
}

/** A manifest list that is of no use here: it, or a manifest in it, lies outside the table or is encrypted. */
export class UnusableManifestsError extends Error {
  override readonly name = 'UnusableManifestsError'
}

/** Throws UnusableManifestsError for a manifest outside of all the folders, which are its table's own, or encrypted. */
export function checkUsableManifest(
  { manifestPath, keyMetadata }: ManifestFile,
  roots: readonly string[],
): void {
  if (!roots.some((root) => isLocationBelow(root, manifestPath))) {
    throw new UnusableManifestsError(`${manifestPath} lies outside the table`)
  }
  if (keyMetadata !== undefined) throw new UnusableManifestsError(`${manifestPath} is encrypted`)
}

/**
 * Decoded manifest lists by warehouse and location; a location is written once. Least recently used ones go first;
 * concurrent reads of one list share one object read.
 */
export class ManifestLists {
  readonly #entries: LRUCache<string, readonly ManifestFile[]>
  readonly #reads = new Map<string, Promise<readonly ManifestFile[]>>()

  constructor(options: { readonly bytesMax: number }) {
    this.#entries = new LRUCache({ maxSize: Math.max(1, options.bytesMax) })
  }

  /**
   * The manifests of a snapshot, in list order, all of them below the folders given. Throws UnusableManifestsError,
   * CorruptFileError, ObjectTooLargeError, and what the store throws.
   */
  async get(warehouse: CachedWarehouse, table: ListedSnapshot): Promise<readonly ManifestFile[]> {
    const location = table.snapshot.manifestList
    if (location === undefined) return read(warehouse, table)
    const key = keyOf(warehouse, location)
    const known = this.#entries.get(key) ?? this.#reads.get(key)
    if (known !== undefined) return known
    const reading = read(warehouse, table).finally(() => this.#reads.delete(key))
    this.#reads.set(key, reading)
    const manifests = await reading
    this.put(warehouse, location, manifests)
    return manifests
  }

  /** Keeps a list that this process has just written. */
  put(warehouse: CachedWarehouse, location: string, manifests: readonly ManifestFile[]): void {
    const size = Math.max(ENTRY_BYTES_MIN, manifests.length * BYTES_PER_MANIFEST)
    this.#entries.set(keyOf(warehouse, location), manifests, { size })
  }
}

async function read(
  { store }: CachedWarehouse,
  table: ListedSnapshot,
): Promise<readonly ManifestFile[]> {
  const found = await readSnapshotManifests(
    (file) => store.get(normalizeLocation(file), { sizeBytesMax: MANIFEST_LIST_BYTES_MAX }),
    table,
    { allowedPrefixes: table.roots ?? tableRoots(table.metadata) },
  )
  if (found.outcome === 'read') return found.manifests
  const where = found.outcome === 'outside' ? 'lies outside the table' : 'is encrypted'
  throw new UnusableManifestsError(`${found.location} ${where}`)
}

function keyOf({ id }: CachedWarehouse, location: string): string {
  return `${id} ${location}`
}

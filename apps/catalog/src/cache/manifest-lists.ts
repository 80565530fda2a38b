import { readSnapshotManifests, type TableSnapshot } from '@timelake/iceberg/io/snapshot-files'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { LRUCache } from 'lru-cache'
import type { CachedWarehouse } from './metadata-cache.ts'

/** What a decoded entry of a manifest list takes, about. */
const BYTES_PER_MANIFEST = 700
const ENTRY_BYTES_MIN = 256

/** A manifest list that is of no use here: it, or a manifest in it, lies outside the table or is encrypted. */
export class UnusableManifestsError extends Error {
  override readonly name = 'UnusableManifestsError'
}

/** Decoded manifest lists by warehouse and location; a location is written once. Least recently used ones go first. */
export class ManifestLists {
  readonly #entries: LRUCache<string, readonly ManifestFile[]>

  constructor(options: { readonly bytesMax: number }) {
    this.#entries = new LRUCache({ maxSize: Math.max(1, options.bytesMax) })
  }

  /**
   * The manifests of a snapshot, in list order, all of them below the table's own folders. Throws UnusableManifestsError,
   * CorruptFileError, and what the store throws.
   */
  async get(warehouse: CachedWarehouse, table: TableSnapshot): Promise<readonly ManifestFile[]> {
    const location = table.snapshot.manifestList
    const known = location === undefined ? undefined : this.#entries.get(keyOf(warehouse, location))
    if (known !== undefined) return known
    const { store } = warehouse
    const read = await readSnapshotManifests(
      (file, options) => store.get(normalizeLocation(file), options),
      table,
      { allowedPrefixes: tableRoots(table.metadata) },
    )
    if (read.outcome !== 'read') {
      const where = read.outcome === 'outside' ? 'lies outside the table' : 'is encrypted'
      throw new UnusableManifestsError(`${read.location} ${where}`)
    }
    if (location !== undefined) this.put(warehouse, location, read.manifests)
    return read.manifests
  }

  /** Keeps a list that this process has just written. */
  put(warehouse: CachedWarehouse, location: string, manifests: readonly ManifestFile[]): void {
    const size = Math.max(ENTRY_BYTES_MIN, manifests.length * BYTES_PER_MANIFEST)
    this.#entries.set(keyOf(warehouse, location), manifests, { size })
  }
}

function keyOf({ id }: CachedWarehouse, location: string): string {
  return `${id} ${location}`
}

import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import { MANIFEST_BYTES_MAX } from '@timelake/iceberg/io/snapshot-files'
import type { ManifestEntry } from '@timelake/iceberg/manifest/data-file'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { readManifest } from '@timelake/iceberg/manifest/read-manifest'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { LRUCache } from 'lru-cache'
import { Slots } from '../slots.ts'
import { UnusableManifestsError } from './manifest-lists.ts'
import type { CachedWarehouse } from './metadata-cache.ts'
import { pathHash } from './path-hash.ts'

/** Manifests that are read at one time, for whatever table. */
const READS_MAX = 8
/** What the key and the frame of an entry take, about. */
const ENTRY_BYTES_MIN = 512

/** Where the manifests of a snapshot are read from. */
export interface ManifestSource {
  readonly warehouse: CachedWarehouse
  readonly manifests: readonly ManifestFile[]
  /** Manifests that are not stored yet, by location. */
  readonly drafted: ReadonlyMap<string, Uint8Array>
}

/**
 * Which data files are live, as a sorted row of hashes for each manifest: eight bytes a file. A manifest is written once,
 * so an entry never grows old. Least recently used manifests go first and are read again when they are asked for.
 */
export class LivePaths {
  readonly #entries: LRUCache<string, Float64Array>
  readonly #reads = new Map<string, Promise<Float64Array>>()
  readonly #slots = new Slots(READS_MAX)
  readonly #warm = new WeakSet<readonly ManifestFile[]>()

  constructor(options: { readonly bytesMax: number }) {
    this.#entries = new LRUCache({ maxSize: Math.max(1, options.bytesMax) })
  }

  /**
   * Those of the normalized locations that are live in the manifests. A hash only says where to look: what is answered
   * was read. Throws UnusableManifestsError for an encrypted manifest, CorruptFileError, and what the store throws.
   */
  async findLive(
    source: ManifestSource,
    locations: ReadonlySet<string>,
  ): Promise<ReadonlySet<string>> {
    const wanted = [...locations].map((location) => ({ location, hash: pathHash(location) }))
    const live = new Set<string>()
    await this.#each(source, async (manifest, hashes) => {
      const suspects = wanted.filter(({ hash }) => holds(hashes, hash))
      if (suspects.length === 0) return
      const entries = await this.#slots.run(() => readEntries(source, manifest))
      const paths = new Set(livePaths(entries))
      for (const { location } of suspects) if (paths.has(location)) live.add(location)
    })
    return live
  }

  /** Reads what a later `findLive` of the same manifests needs, once. Errors as there. */
  async warm(source: ManifestSource): Promise<void> {
    if (this.#warm.has(source.manifests)) return
    await this.#each(source, () => Promise.resolve())
    this.#warm.add(source.manifests)
  }

  /** Keeps the files of a manifest that this process makes, stored or not. */
  put(
    warehouse: CachedWarehouse,
    { manifestPath }: ManifestFile,
    entries: readonly ManifestEntry[],
  ): void {
    this.#keep(keyOf(warehouse, manifestPath), hashesOf(entries))
  }

  async #each(
    source: ManifestSource,
    use: (manifest: ManifestFile, hashes: Float64Array) => Promise<void>,
  ): Promise<void> {
    const missing: ManifestFile[] = []
    const hit: [ManifestFile, Float64Array][] = []
    for (const manifest of source.manifests.filter(mayHoldLiveData)) {
      const known = this.#entries.get(keyOf(source.warehouse, manifest.manifestPath))
      if (known === undefined) missing.push(manifest)
      else hit.push([manifest, known])
    }
    for (const [manifest, hashes] of hit) await use(manifest, hashes)
    await mapBounded(missing, READS_MAX, async (manifest) =>
      use(manifest, await this.#read(source, manifest)),
    )
  }

  #read(source: ManifestSource, manifest: ManifestFile): Promise<Float64Array> {
    const key = keyOf(source.warehouse, manifest.manifestPath)
    const running = this.#reads.get(key)
    if (running !== undefined) return running
    const reading = this.#slots
      .run(async () => this.#keep(key, hashesOf(await readEntries(source, manifest))))
      .finally(() => this.#reads.delete(key))
    this.#reads.set(key, reading)
    return reading
  }

  #keep(key: string, hashes: Float64Array): Float64Array {
    this.#entries.set(key, hashes, { size: ENTRY_BYTES_MIN + hashes.byteLength })
    return hashes
  }
}

function keyOf({ id }: CachedWarehouse, manifestPath: string): string {
  return `${id} ${manifestPath}`
}

function mayHoldLiveData(manifest: ManifestFile): boolean {
  const { content, addedFilesCount, existingFilesCount } = manifest
  return content === 'data' && (addedFilesCount !== 0 || existingFilesCount !== 0)
}

async function readEntries(
  { warehouse, drafted }: ManifestSource,
  manifest: ManifestFile,
): Promise<readonly ManifestEntry[]> {
  const { manifestPath, keyMetadata } = manifest
  if (keyMetadata !== undefined) throw new UnusableManifestsError(`${manifestPath} is encrypted`)
  const bytes =
    drafted.get(manifestPath) ??
    (await warehouse.store.get(normalizeLocation(manifestPath), {
      sizeBytesMax: MANIFEST_BYTES_MAX,
    }))
  return readManifest(bytes, { manifest, metrics: 'none' }).entries
}

function livePaths(entries: readonly ManifestEntry[]): string[] {
  return entries.flatMap(({ status, dataFile }) =>
    status === 'deleted' ? [] : [normalizeLocation(dataFile.filePath)],
  )
}

function hashesOf(entries: readonly ManifestEntry[]): Float64Array {
  return Float64Array.from(livePaths(entries), pathHash).sort()
}

/** Whether the sorted row holds the hash. */
function holds(hashes: Float64Array, hash: number): boolean {
  let low = 0
  let high = hashes.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((hashes[middle] ?? 0) < hash) low = middle + 1
    else high = middle
  }
  return hashes[low] === hash
}

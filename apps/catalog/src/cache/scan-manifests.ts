import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import type { PartitionType } from '@timelake/iceberg/manifest/partition-type'
import { decodeScanManifest, type ScanManifest } from '@timelake/iceberg/scan/scan-manifest'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { LRUCache } from 'lru-cache'
import { Slots } from '../slots.ts'
import { checkUsableManifest } from './manifest-lists.ts'
import type { CachedWarehouse } from './metadata-cache.ts'

/** Manifests that are read and decoded at one time, for whatever table. */
const READS_MAX = 16
/** A manifest above this is not read here. */
const SCAN_MANIFEST_BYTES_MAX = 256 * 1024 * 1024
/** What the cache itself needs for an entry. */
const ENTRY_OVERHEAD_BYTES = 512

/** A manifest, and what of its table one needs to know to read it. */
export interface TableScanManifest {
  readonly manifest: ManifestFile
  /** Of the manifest's spec. */
  readonly partition: PartitionType
  /** Of the schema that the partition type was made for. */
  readonly schemaId: number
  /** The folders of the table: nothing outside of them is read. */
  readonly roots: readonly string[]
}

/**
 * Live files of manifests in columns, by warehouse and location; a location is written once. Least recently used ones go
 * first; concurrent reads of one manifest share one object read.
 */
export class ScanManifests {
  readonly #entries: LRUCache<string, ScanManifest>
  readonly #reads = new Map<string, Promise<ScanManifest>>()
  readonly #keys = new WeakMap<ScanManifest, string>()
  readonly #slots = new Slots(READS_MAX)

  constructor(options: { readonly bytesMax: number }) {
    this.#entries = new LRUCache({ maxSize: Math.max(1, options.bytesMax) })
  }

  /**
   * The live files of a manifest. Throws UnusableManifestsError for one outside of the table's own folders or encrypted,
   * CorruptFileError, ObjectTooLargeError, and what the store throws.
   */
  async get(warehouse: CachedWarehouse, table: TableScanManifest): Promise<ScanManifest> {
    // Before looking: another table may name a manifest that is here for its own one.
    checkUsableManifest(table.manifest, table.roots)
    const key = keyOf(warehouse, table)
    const known = this.#entries.get(key) ?? this.#reads.get(key)
    if (known !== undefined) return known
    const read = this.#slots
      .run(() => readManifest(warehouse, table))
      .finally(() => this.#reads.delete(key))
    this.#reads.set(key, read)
    const manifest = await read
    this.#keep(key, manifest)
    return manifest
  }

  /** Counts a manifest again, of which columns of metrics were decoded since. */
  weigh(manifest: ScanManifest): void {
    const key = this.#keys.get(manifest)
    if (key !== undefined && this.#entries.peek(key) === manifest) this.#keep(key, manifest)
  }

  get entryCount(): number {
    return this.#entries.size
  }

  get sizeBytes(): number {
    return this.#entries.calculatedSize
  }

  #keep(key: string, manifest: ScanManifest): void {
    this.#keys.set(manifest, key)
    this.#entries.set(key, manifest, { size: manifest.sizeBytes + ENTRY_OVERHEAD_BYTES })
  }
}

async function readManifest(
  { store }: CachedWarehouse,
  { manifest, partition }: TableScanManifest,
): Promise<ScanManifest> {
  const bytes = await store.get(normalizeLocation(manifest.manifestPath), {
    sizeBytesMax: SCAN_MANIFEST_BYTES_MAX,
  })
  return decodeScanManifest(bytes, { manifest, partition })
}

/**
 * Types of partition values follow the schema, so a change of it makes another entry; and what a file inherits follows its
 * entry in the list, which a manifest has one of unless somebody listed it twice.
 */
function keyOf({ id }: CachedWarehouse, { manifest, schemaId }: TableScanManifest): string {
  const { sequenceNumber, addedSnapshotId, firstRowId, partitionSpecId, content } = manifest
  const inherited = `${content} ${partitionSpecId} ${sequenceNumber} ${addedSnapshotId} ${firstRowId ?? ''}`
  return `${id} ${schemaId} ${inherited} ${manifest.manifestPath}`
}

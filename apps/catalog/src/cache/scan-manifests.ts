import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import type { PartitionType } from '@timelake/iceberg/manifest/partition-type'
import { decodeScanManifest, type ScanManifest } from '@timelake/iceberg/scan/scan-manifest'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { ObjectTooLargeError } from '@timelake/storage/object-store'
import { LRUCache } from 'lru-cache'
import { checkUsableManifest } from './manifest-lists.ts'
import { ManifestTurns } from './manifest-turns.ts'
import type { CachedWarehouse } from './metadata-cache.ts'

/** Manifests that are read and decoded at one time, for whatever table, and the bytes of their files. */
const READS_MAX = 16
const READ_BYTES_MAX = 24 * 1024 * 1024
/** A manifest above this is not read here. */
const SCAN_MANIFEST_BYTES_MAX = 256 * 1024 * 1024
/** What the cache itself needs for an entry. */
const ENTRY_OVERHEAD_BYTES = 512
/** The part of the memory that scans of whole tables have, which read everything once and come back for none of it. */
const PASSING_SHARE = 1 / 4

/** A manifest, and what of its table one needs to know to read it. */
export interface TableScanManifest {
  readonly manifest: ManifestFile
  /** Of the manifest's spec. */
  readonly partition: PartitionType
  /** Of the schema that the partition type was made for. */
  readonly schemaId: number
  /** The folders of the table: nothing outside of them is read. */
  readonly roots: readonly string[]
  /** Columns whose metrics will be asked for. */
  readonly fieldIds: readonly number[]
  /** Whether it is read for a scan of the whole table. */
  readonly isPassing: boolean
}

/**
 * Live files of manifests in columns, by warehouse and location; a location is written once. Of data manifests no more is kept than
 * what the columns take; who asks for the metrics of a further column has the file read again. Least recently used ones go first,
 * and scans of whole tables push out nothing that others use. Concurrent reads of one manifest share one object read.
 */
export class ScanManifests {
  readonly #entries: LRUCache<string, ScanManifest>
  readonly #passing: LRUCache<string, ScanManifest>
  readonly #reads = new Map<string, Promise<ScanManifest>>()
  readonly #keys = new WeakMap<ScanManifest, string>()
  readonly #turns = new ManifestTurns({ bytesMax: READ_BYTES_MAX, countMax: READS_MAX })

  constructor({ bytesMax }: { readonly bytesMax: number }) {
    const passingBytesMax = Math.max(1, Math.floor(bytesMax * PASSING_SHARE))
    this.#passing = new LRUCache({ maxSize: passingBytesMax })
    this.#entries = new LRUCache({ maxSize: Math.max(1, bytesMax - passingBytesMax) })
  }

  /**
   * The live files of a manifest, with the metrics of the columns. Throws UnusableManifestsError for one outside of the table's
   * own folders or encrypted, CorruptFileError, ObjectTooLargeError, and what the store throws.
   */
  async get(warehouse: CachedWarehouse, table: TableScanManifest): Promise<ScanManifest> {
    // Before looking: another table may name a manifest that is here for its own one.
    checkUsableManifest(table.manifest, table.roots)
    const key = keyOf(warehouse, table)
    let known = this.#known(key, table)
    while (known?.hasColumns(table.fieldIds) !== true) {
      const read = this.#reads.get(key)
      if (read === undefined) return this.#begin(warehouse, table, known)
      // What others read at the moment may lack a column that is asked for here.
      known = await read
    }
    return known
  }

  /** Throws what `get` throws for a manifest that it refuses without reading it. */
  check({ manifest, roots }: Pick<TableScanManifest, 'manifest' | 'roots'>): void {
    checkUsableManifest(manifest, roots)
    const { manifestPath, manifestLengthBytes } = manifest
    if (manifestLengthBytes <= SCAN_MANIFEST_BYTES_MAX) return
    throw new ObjectTooLargeError(
      `cannot read ${manifestPath}: expected at most ${SCAN_MANIFEST_BYTES_MAX} bytes, found ${manifestLengthBytes}`,
    )
  }

  async #begin(
    warehouse: CachedWarehouse,
    table: TableScanManifest,
    known: ScanManifest | undefined,
  ): Promise<ScanManifest> {
    const key = keyOf(warehouse, table)
    const read = this.#read(warehouse, table, known).finally(() => this.#reads.delete(key))
    this.#reads.set(key, read)
    const manifest = await read
    this.#keep(key, manifest, table.isPassing)
    return manifest
  }

  /** Counts a manifest again, which takes more or less memory since somebody has looked at its columns. */
  weigh(manifest: ScanManifest): void {
    const key = this.#keys.get(manifest)
    if (key === undefined) return
    if (this.#entries.peek(key) === manifest) this.#keep(key, manifest, false)
    else if (this.#passing.peek(key) === manifest) this.#keep(key, manifest, true)
  }

  get entryCount(): number {
    return this.#entries.size + this.#passing.size
  }

  get sizeBytes(): number {
    return this.#entries.calculatedSize + this.#passing.calculatedSize
  }

  /** One that a whole scan has read stays when somebody else looks at it. */
  #known(key: string, { isPassing }: TableScanManifest): ScanManifest | undefined {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const passing = this.#passing.get(key)
    if (passing !== undefined && !isPassing) this.#keep(key, passing, false)
    return passing
  }

  #keep(key: string, manifest: ScanManifest, isPassing: boolean): void {
    this.#keys.set(manifest, key)
    const isKept = this.#entries.has(key)
    const entries = isPassing && !isKept ? this.#passing : this.#entries
    if (entries === this.#entries) this.#passing.delete(key)
    // The cache keeps the old size of a value that it has.
    entries.delete(key)
    entries.set(key, manifest, { size: manifest.sizeBytes + ENTRY_OVERHEAD_BYTES })
  }

  /** In its turn, by the length that the list tells; the reading of a file that is longer is a turn of its own. */
  async #read(
    warehouse: CachedWarehouse,
    table: TableScanManifest,
    known: ScanManifest | undefined,
  ): Promise<ScanManifest> {
    const listedBytes = Number(table.manifest.manifestLengthBytes)
    if (listedBytes > 0 && listedBytes <= SCAN_MANIFEST_BYTES_MAX) {
      try {
        return await this.#turns.run(listedBytes, () =>
          readManifest(warehouse, table, { known, sizeBytesMax: listedBytes }),
        )
      } catch (error) {
        if (!(error instanceof ObjectTooLargeError)) throw error
      }
    }
    const sizeBytesMax = SCAN_MANIFEST_BYTES_MAX
    return this.#turns.run(sizeBytesMax, () =>
      readManifest(warehouse, table, { known, sizeBytesMax }),
    )
  }
}

async function readManifest(
  { store }: CachedWarehouse,
  { manifest, partition, fieldIds }: TableScanManifest,
  options: { readonly known: ScanManifest | undefined; readonly sizeBytesMax: number },
): Promise<ScanManifest> {
  const { known, sizeBytesMax } = options
  const bytes = await store.get(normalizeLocation(manifest.manifestPath), { sizeBytesMax })
  if (known !== undefined) {
    known.addColumns(bytes, fieldIds)
    return known
  }
  // Which columns of delete files matter shows only when the data files are known.
  const isColumnsOnly = manifest.content === 'data'
  return decodeScanManifest(bytes, { manifest, partition, fieldIds, isColumnsOnly })
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

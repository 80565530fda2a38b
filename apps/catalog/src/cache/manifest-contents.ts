import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { partitionType } from '@timelake/iceberg/manifest/partition-type'
import { readManifest } from '@timelake/iceberg/manifest/read-manifest'
import type { ManifestContent } from '@timelake/iceberg/rebase/own-manifests'
import { schemasNewestFirst } from '@timelake/iceberg/snapshot/new-snapshot'
import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { LRUCache } from 'lru-cache'
import { Slots } from '../slots.ts'
import { checkUsableManifest } from './manifest-lists.ts'
import type { CachedWarehouse } from './metadata-cache.ts'

/** Manifests that are read at one time, for whatever table. */
const READS_MAX = 32
/** A manifest above this is not read here. */
export const MANIFEST_CONTENT_BYTES_MAX = 32 * 1024 * 1024
/** Manifests that are merged together take at most this part of the memory, so that all of them are there at once. */
const MERGE_SHARE = 1 / 2
/** Decoded entries take about this many bytes for each byte of the compressed file. */
const BYTES_PER_FILE_BYTE = 6

export interface TableManifest {
  readonly metadata: TableMetadata
  readonly manifest: ManifestFile
}

/**
 * Decoded manifests by warehouse and location; a location is written once. Column metrics stay encoded until somebody
 * asks. Least recently used ones go first; concurrent reads of one manifest share one object read.
 */
export class ManifestContents {
  /** Size of the files that may be merged into one. */
  readonly mergedBytesMax: number
  readonly #entries: LRUCache<string, ManifestContent>
  readonly #reads = new Map<string, Promise<ManifestContent>>()
  readonly #slots = new Slots(READS_MAX)

  constructor(options: { readonly bytesMax: number }) {
    this.#entries = new LRUCache({ maxSize: Math.max(1, options.bytesMax) })
    this.mergedBytesMax = Math.floor((options.bytesMax * MERGE_SHARE) / BYTES_PER_FILE_BYTE)
  }

  /** The manifest when it is in memory. */
  peek(warehouse: CachedWarehouse, table: TableManifest): ManifestContent | undefined {
    return this.#entries.get(keyOf(warehouse, table))
  }

  /**
   * The entries of a manifest as stored, partition values in the order and types of their spec. Throws
   * UnusableManifestsError for one outside of the table's own folders or encrypted, CorruptFileError,
   * ObjectTooLargeError, and what the store throws.
   */
  async get(warehouse: CachedWarehouse, table: TableManifest): Promise<ManifestContent> {
    const key = keyOf(warehouse, table)
    const known = this.#entries.get(key) ?? this.#reads.get(key)
    if (known !== undefined) return known
    const read = this.#read(warehouse, table, key).finally(() => this.#reads.delete(key))
    this.#reads.set(key, read)
    return read
  }

  /** Keeps a manifest that this process has just written. */
  put(warehouse: CachedWarehouse, table: TableManifest, content: ManifestContent): void {
    this.#keep(keyOf(warehouse, table), content, Number(table.manifest.manifestLengthBytes))
  }

  /** The same from the bytes of its file; answers what they hold. */
  putBytes(warehouse: CachedWarehouse, table: TableManifest, bytes: Uint8Array): ManifestContent {
    const content = decode(bytes, table)
    this.#keep(keyOf(warehouse, table), content, bytes.length)
    return content
  }

  #keep(key: string, content: ManifestContent, fileBytes: number): void {
    this.#entries.set(key, content, { size: Math.max(1, fileBytes * BYTES_PER_FILE_BYTE) })
  }

  async #read(
    { store }: CachedWarehouse,
    table: TableManifest,
    key: string,
  ): Promise<ManifestContent> {
    checkUsableManifest(table.manifest, tableRoots(table.metadata))
    return this.#slots.run(async () => {
      const location = normalizeLocation(table.manifest.manifestPath)
      const bytes = await store.get(location, { sizeBytesMax: MANIFEST_CONTENT_BYTES_MAX })
      const content = decode(bytes, table)
      this.#keep(key, content, bytes.length)
      return content
    })
  }
}

/** Types of partition values follow the schema, so a change of it makes another entry. */
function keyOf({ id }: CachedWarehouse, { metadata, manifest }: TableManifest): string {
  return `${id} ${metadata.currentSchemaId} ${manifest.manifestPath}`
}

function decode(bytes: Uint8Array, { metadata, manifest }: TableManifest): ManifestContent {
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === manifest.partitionSpecId)
  if (spec === undefined) {
    throw new CorruptFileError(
      `cannot read manifest ${manifest.manifestPath}: no partition spec ${manifest.partitionSpecId}`,
    )
  }
  const partition = partitionType(spec, schemasNewestFirst(metadata))
  const { header, entries } = readManifest(bytes, { manifest, partition, metrics: 'lazy' })
  return { formatVersion: header.formatVersion, entries }
}

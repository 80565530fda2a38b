import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { ObjectNotFoundError, ObjectTooLargeError } from '@timelake/storage/object-store'
import type { ObjectStore } from '@timelake/storage/object-store'
import { CorruptFileError, InvalidInputError } from '@timelake/iceberg/spec/errors'
import { LRUCache } from 'lru-cache'
import { MetadataFileMissingError } from '../catalog/catalog-errors.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import { entriesMax } from '../entries-max.ts'

const inflate = promisify(gunzip)

/** What an entry belongs to: the same location may mean two objects in two stores. */
export type CachedWarehouse = Pick<Warehouse, 'id' | 'store'>

/** Decoded metadata and the encoded bodies take about this many bytes for each byte of the text. */
const BYTES_PER_TEXT_BYTE = 4
const ENTRY_BYTES_MIN = 4_096
/** Folders of which it is remembered which of their files came last. */
const FOLDERS_MAX = 10_000

/** Decoded metadata that knows where it was read from. */
export interface LoadedDocument {
  readonly location: string
}

export interface MetadataCacheOptions<Loaded extends LoadedDocument> {
  /** Memory for all entries together, an estimate. */
  readonly bytesMax: number
  /** Largest metadata file, uncompressed. */
  readonly metadataBytesMax: number
  /**
   * The metadata in the text of a file; `known` lies in the same folder and is probably an earlier version. Throws
   * InvalidInputError for a text that breaks the format.
   */
  readonly decode: (location: string, text: Uint8Array, known: Loaded | undefined) => Loaded
}

/**
 * Metadata of one kind, of tables or of views, by warehouse and metadata location, never by time: a location is written once. Least recently used entries go
 * first. Concurrent reads of one location share one object read.
 */
export class MetadataCache<Loaded extends LoadedDocument> {
  readonly #options: MetadataCacheOptions<Loaded>
  readonly #entries: LRUCache<string, Loaded>
  /** The key of what came last from each folder. */
  readonly #newest = new LRUCache<string, string>(entriesMax(FOLDERS_MAX))
  readonly #reads = new Map<string, Promise<Loaded>>()

  constructor(options: MetadataCacheOptions<Loaded>) {
    this.#options = options
    // One giant may push everything else out: what is small is read again in no time, the giant is not.
    this.#entries = new LRUCache({ maxSize: Math.max(1, options.bytesMax) })
  }

  /** The metadata when it is in memory. */
  peek(warehouse: CachedWarehouse, location: string): Loaded | undefined {
    return this.#entries.get(keyOf(warehouse, location))
  }

  /**
   * The metadata at the location, from memory or from its file. Throws MetadataFileMissingError,
   * CorruptFileError and ObjectTooLargeError.
   */
  async get(warehouse: CachedWarehouse, location: string): Promise<Loaded> {
    const key = keyOf(warehouse, location)
    const known = this.#entries.get(key) ?? this.#reads.get(key)
    if (known !== undefined) return known
    const read = this.#read(warehouse, location).finally(() => this.#reads.delete(key))
    this.#reads.set(key, read)
    return read
  }

  /** Keeps metadata whose file this process has just written. */
  put(warehouse: CachedWarehouse, loaded: Loaded, textBytes: number): void {
    const size = Math.max(ENTRY_BYTES_MIN, textBytes * BYTES_PER_TEXT_BYTE)
    const key = keyOf(warehouse, loaded.location)
    this.#entries.set(key, loaded, { size })
    this.#newest.set(folderOf(key), key)
  }

  /** Forgets metadata that a newer version replaced. */
  delete(warehouse: CachedWarehouse, location: string): void {
    this.#entries.delete(keyOf(warehouse, location))
  }

  get entryCount(): number {
    return this.#entries.size
  }

  get sizeBytes(): number {
    return this.#entries.calculatedSize
  }

  async #read(warehouse: CachedWarehouse, location: string): Promise<Loaded> {
    const { metadataBytesMax } = this.#options
    const text = await readMetadataFile(warehouse.store, location, metadataBytesMax)
    const newest = this.#newest.get(folderOf(keyOf(warehouse, location)))
    const known = newest === undefined ? undefined : this.#entries.peek(newest)
    const loaded = this.#decode({ location, text, known })
    this.put(warehouse, loaded, text.length)
    return loaded
  }

  /** A file that breaks the format is not the fault of whoever asked for the table: CorruptFileError. */
  #decode({ location, text, known }: ReadDocument<Loaded>): Loaded {
    try {
      return this.#options.decode(location, text, known)
    } catch (cause) {
      if (!(cause instanceof InvalidInputError)) throw cause
      const message = `cannot read metadata file ${location}: ${cause.message}`
      throw new CorruptFileError(message, { cause })
    }
  }
}

interface ReadDocument<Loaded> {
  readonly location: string
  readonly text: Uint8Array
  readonly known: Loaded | undefined
}

function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'))
}

function keyOf({ id }: CachedWarehouse, location: string): string {
  return `${id} ${location}`
}

/**
 * The uncompressed bytes of a metadata file. Gzip is recognised by its first bytes, so files keep their meaning under
 * any name. Throws MetadataFileMissingError, CorruptFileError for broken gzip, and ObjectTooLargeError.
 */
export async function readMetadataFile(
  store: ObjectStore,
  location: string,
  metadataBytesMax: number,
): Promise<Uint8Array> {
  const bytes = await getObject(store, location, metadataBytesMax)
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return await inflate(bytes, { maxOutputLength: metadataBytesMax })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      const text = `metadata file ${location} inflates to more than ${metadataBytesMax} bytes`
      throw new ObjectTooLargeError(text, { cause })
    }
    throw new CorruptFileError(`metadata file ${location} is not valid gzip data`, { cause })
  }
}

async function getObject(store: ObjectStore, location: string, sizeBytesMax: number) {
  try {
    return await store.get(normalizeLocation(location), { sizeBytesMax })
  } catch (cause) {
    if (cause instanceof ObjectNotFoundError)
      throw new MetadataFileMissingError(location, { cause })
    throw cause
  }
}

import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deleteEach } from './delete-each.ts'
import { checkNewLocation } from './location-path.ts'
import { joinBytes } from './object-bytes.ts'
import {
  type GetOptions,
  type ObjectEntry,
  ObjectNotFoundError,
  type ObjectStore,
  ObjectTooLargeError,
  type PutOutcome,
} from './object-store.ts'
import { resolveRange } from './resolve-range.ts'

export interface MemoryObjectStoreOptions {
  /** The time that new objects carry; absent, all carry 0. */
  readonly nowMs?: () => number
}

interface StoredObject {
  readonly bytes: Uint8Array
  readonly lastModifiedMs: number
}

/** Objects in this process's memory, for tests and simulations. Any scheme; bytes are copied in and out. */
export function openMemoryObjectStore(options: MemoryObjectStoreOptions = {}): ObjectStore {
  const objects = new Map<string, StoredObject>()
  const nowMs = options.nowMs ?? (() => 0)
  const put = (location: string, bytes: Uint8Array): PutOutcome => {
    checkNewLocation(location)
    if (objects.has(location)) return 'exists'
    objects.set(location, { bytes: bytes.slice(), lastModifiedMs: nowMs() })
    return 'created'
  }
  return {
    get: async (location, getOptions) => readObject(find(objects, location), location, getOptions),
    async stat(location) {
      const found = objects.get(location)
      return found && entryOf(location, found)
    },
    putIfAbsent: async (location, bytes) => put(location, joinBytes(bytes)),
    putFileIfAbsent: async (location, localPath) => put(location, await readFile(localPath)),
    async localFile(location, directory) {
      const path = join(directory, randomUUID())
      await writeFile(path, find(objects, location).bytes, { flag: 'wx' })
      return path
    },
    delete: async (location) => (objects.delete(location) ? 'deleted' : 'absent'),
    deleteMany: (locations) => deleteEach(locations, async (location) => objects.delete(location)),
    async *list(prefix) {
      const folder = prefix.endsWith('/') ? prefix : `${prefix}/`
      for (const [location, found] of [...objects]) {
        if (location.startsWith(folder)) yield entryOf(location, found)
      }
    },
    async prepareTableFolders(tableLocation) {
      checkNewLocation(tableLocation)
    },
  }
}

function find(objects: ReadonlyMap<string, StoredObject>, location: string): StoredObject {
  const found = objects.get(location)
  if (found === undefined) throw new ObjectNotFoundError(location)
  return found
}

function entryOf(location: string, found: StoredObject): ObjectEntry {
  return { location, sizeBytes: found.bytes.length, lastModifiedMs: found.lastModifiedMs }
}

function readObject(found: StoredObject, location: string, options: GetOptions = {}): Uint8Array {
  options.signal?.throwIfAborted()
  const { startBytes, endBytes } = resolveRange(found.bytes.length, options.range)
  if (endBytes - startBytes > (options.sizeBytesMax ?? Infinity)) {
    throw new ObjectTooLargeError(
      `cannot read ${location}: expected at most ${options.sizeBytesMax} bytes, found ${endBytes - startBytes}`,
    )
  }
  return found.bytes.slice(startBytes, endBytes)
}

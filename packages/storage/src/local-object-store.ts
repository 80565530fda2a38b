import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readSync,
  type Stats,
} from 'node:fs'
import { readdir, unlink } from 'node:fs/promises'
import { promisify } from 'node:util'
import { containPaths, errorCode, isAbsentCode, type PathContainment } from './contained-path.ts'
import { createFile, createFileFrom, isTemporaryName, makeDirectories } from './durable-file.ts'
import { deleteEach } from './delete-each.ts'
import { checkNewLocation, pathOfLocation } from './location-path.ts'
import {
  type GetOptions,
  type ObjectEntry,
  ObjectNotFoundError,
  type ObjectStore,
  ObjectTooLargeError,
  type PutOutcome,
  StoreUnavailableError,
} from './object-store.ts'
import { resolveRange } from './resolve-range.ts'

export interface LocalObjectStoreOptions {
  /** Only what lies below one of these is served. Absent: every path of the machine. */
  readonly rootDirs?: readonly string[]
}

const readInto = promisify(read)

/** Bytes read between two looks at the abort signal. */
const READ_CHUNK_BYTES = 8 * 1024 * 1024

/** Bytes that are read at once: copying them takes less than the thread pool, and opening may have waited for the disk too. */
const AT_ONCE_BYTES_MAX = 64 * 1024

/**
 * Objects as files, locations as `file:///absolute/path` with literal bytes. Writes are durable before they are
 * visible (temporary file, flush, link, flush of the directory). Links that lead outside the roots are refused, and
 * listing does not follow links at all. Directories and special files are no objects.
 */
export function openLocalObjectStore(options: LocalObjectStoreOptions = {}): ObjectStore {
  const paths = containPaths(options.rootDirs ?? [])
  return {
    get: (location, getOptions) => getObject(paths, location, getOptions),
    stat: (location) => statObject(paths, location),
    async putIfAbsent(location, bytes) {
      checkNewLocation(location)
      return createInside(paths, location, (realPath) => createFile(realPath, bytes))
    },
    async putFileIfAbsent(location, localPath) {
      checkNewLocation(location)
      return createInside(paths, location, (realPath) => createFileFrom(realPath, localPath))
    },
    async localFile(location) {
      const found = findFile(paths, location)
      if (found === undefined) throw new ObjectNotFoundError(location)
      return found.realPath
    },
    delete: (location) => deleteObject(paths, location),
    deleteMany: (locations) => deleteEach(locations, (location) => deleteObject(paths, location)),
    list: (prefix) => listObjects(paths, prefix),
    async prepareTableFolders(tableLocation) {
      checkNewLocation(tableLocation)
      const directory = paths.future(pathOfLocation(tableLocation))
      await makeDirectories([`${directory}/metadata`, `${directory}/data`])
    },
  }
}

/** A link that has the name already is looked at only when it stood in the way: nearly every new file has a name of its own. */
async function createInside(
  paths: PathContainment,
  location: string,
  create: (realPath: string) => Promise<PutOutcome>,
): Promise<PutOutcome> {
  const path = pathOfLocation(location)
  const outcome = await create(paths.futureFile(path))
  if (outcome === 'exists') paths.future(path)
  return outcome
}

async function getObject(
  paths: PathContainment,
  location: string,
  options: GetOptions = {},
): Promise<Uint8Array> {
  options.signal?.throwIfAborted()
  const realPath = paths.existing(pathOfLocation(location))
  if (realPath === undefined) throw new ObjectNotFoundError(location)
  const file = openForReading(realPath, location)
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new ObjectNotFoundError(location)
    const { startBytes, endBytes } = resolveRange(stats.size, options.range)
    const lengthBytes = endBytes - startBytes
    if (lengthBytes > (options.sizeBytesMax ?? Infinity)) {
      throw new ObjectTooLargeError(
        `cannot read ${location}: expected at most ${options.sizeBytesMax} bytes, found ${lengthBytes}`,
      )
    }
    return await readBytes(file, { location, startBytes, lengthBytes, signal: options.signal })
  } finally {
    closeSync(file)
  }
}

function openForReading(realPath: string, location: string): number {
  try {
    // @NOTE Without O_NONBLOCK, opening a named pipe waits for a writer and blocks the process for ever.
    return openSync(realPath, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    throw readError(error, location)
  }
}

interface ReadRequest {
  readonly location: string
  readonly startBytes: number
  readonly lengthBytes: number
  readonly signal: AbortSignal | undefined
}

async function readBytes(file: number, request: ReadRequest): Promise<Uint8Array> {
  const bytes = new Uint8Array(request.lengthBytes)
  let doneBytes = 0
  while (doneBytes < bytes.length) {
    request.signal?.throwIfAborted()
    const chunkBytes = Math.min(READ_CHUNK_BYTES, bytes.length - doneBytes)
    const chunk = {
      buffer: bytes,
      offset: doneBytes,
      length: chunkBytes,
      position: request.startBytes + doneBytes,
    }
    const bytesRead = await readChunk(file, chunk).catch((error: unknown) => {
      throw readError(error, request.location)
    })
    if (bytesRead === 0)
      throw new StoreUnavailableError(`${request.location} shrank while it was read`)
    doneBytes += bytesRead
  }
  return bytes
}

interface Chunk {
  readonly buffer: Uint8Array
  readonly offset: number
  readonly length: number
  readonly position: number
}

async function readChunk(file: number, chunk: Chunk): Promise<number> {
  if (chunk.length <= AT_ONCE_BYTES_MAX) return readSync(file, chunk.buffer, chunk)
  return (await readInto(file, chunk)).bytesRead
}

async function statObject(
  paths: PathContainment,
  location: string,
): Promise<ObjectEntry | undefined> {
  const found = findFile(paths, location)
  return found && { location, sizeBytes: found.stats.size, lastModifiedMs: found.stats.mtimeMs }
}

function findFile(
  paths: PathContainment,
  location: string,
): { realPath: string; stats: Stats } | undefined {
  const realPath = paths.existing(pathOfLocation(location))
  if (realPath === undefined) return undefined
  const stats = statPath(realPath)
  return stats?.isFile() ? { realPath, stats } : undefined
}

function statPath(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (isAbsentCode(errorCode(error))) return undefined
    throw new StoreUnavailableError(`look up ${path}: ${errorCode(error) ?? 'failed'}`, {
      cause: error,
    })
  }
}

async function deleteObject(
  paths: PathContainment,
  location: string,
): Promise<'deleted' | 'absent'> {
  const found = findFile(paths, location)
  if (found === undefined) return 'absent'
  try {
    await unlink(found.realPath)
    return 'deleted'
  } catch (error) {
    if (isAbsentCode(errorCode(error))) return 'absent'
    throw new StoreUnavailableError(`delete ${location}: ${errorCode(error) ?? 'failed'}`, {
      cause: error,
    })
  }
}

async function* listObjects(paths: PathContainment, prefix: string): AsyncIterable<ObjectEntry> {
  const realPath = paths.existing(pathOfLocation(prefix))
  if (realPath === undefined) return
  yield* listDirectory(realPath, prefix.endsWith('/') ? prefix : `${prefix}/`)
}

/** Depth first. What disappears while it is listed is left out; links are left out, so nothing foreign is listed. */
async function* listDirectory(directory: string, prefix: string): AsyncIterable<ObjectEntry> {
  const folders: string[] = []
  for (const entry of await readDirectory(directory)) {
    if (entry.isDirectory()) folders.push(entry.name)
    if (!entry.isFile() || isTemporaryName(entry.name)) continue
    const stats = statPath(`${directory}/${entry.name}`)
    if (!stats?.isFile()) continue
    yield { location: prefix + entry.name, sizeBytes: stats.size, lastModifiedMs: stats.mtimeMs }
  }
  for (const name of folders) yield* listDirectory(`${directory}/${name}`, `${prefix}${name}/`)
}

async function readDirectory(directory: string): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true })
  } catch (error) {
    if (isAbsentCode(errorCode(error))) return []
    throw new StoreUnavailableError(`list ${directory}: ${errorCode(error) ?? 'failed'}`, {
      cause: error,
    })
  }
}

function readError(error: unknown, location: string): Error {
  const code = errorCode(error)
  if (isAbsentCode(code)) return new ObjectNotFoundError(location, { cause: error })
  return new StoreUnavailableError(`read ${location}: ${code ?? 'failed'}`, { cause: error })
}

import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fsync,
  link,
  open,
  openSync,
  unlink,
  writeSync,
  writev,
} from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { errorCode, isAbsentCode } from './contained-path.ts'
import { joinBytes, lengthOf, type ObjectBytes, piecesOf } from './object-bytes.ts'
import { LocationError, type PutOutcome, StoreUnavailableError } from './object-store.ts'

// @NOTE What never waits for the disk is done at once: that takes a few microseconds, and ten times as many to hand it to
// the thread pool. What changes a directory or flushes goes to the pool; file descriptors cost half of what handles cost.
const opened = promisify(open)
const writtenPieces = promisify(writev)
const flushed = promisify(fsync)
const linked = promisify(link)
const unlinked = promisify(unlink)

/** Bytes that are copied into the memory of the operating system at once. */
const AT_ONCE_BYTES_MAX = 256 * 1024
/** Linux takes 1,024. */
const PIECES_PER_WRITE_MAX = 1_000

const TEMPORARY_DIGITS = 24
const TEMPORARY_NAME = /^\.timelake-[0-9a-f]{24}\.tmp$/

/** True for the names under which unfinished files are written; they are no objects and are never listed. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name)
}

/** After `link` failed with one of these, nothing was created for sure. */
const LINK_REFUSALS = new Set(
  'EACCES EDQUOT EMLINK ENAMETOOLONG ENOENT ENOSPC ENOTDIR EPERM EROFS EXDEV'.split(' '),
)

/**
 * Makes `realPath` with these bytes unless it exists. Durable when `created`: the file, its directory and every
 * directory made for it are flushed. Throws StoreUnavailableError when nothing was created; a failure after which
 * the file may or may not be there is `unknown`.
 */
export async function createFile(realPath: string, bytes: ObjectBytes): Promise<PutOutcome> {
  const directory = dirname(realPath)
  const temporaryPath = join(directory, temporaryName())
  let outcome: LinkOutcome
  try {
    await inDirectory(directory, () => writeDurably(temporaryPath, bytes))
    outcome = await linkFile(temporaryPath, realPath)
  } finally {
    // Before the directory is flushed, so that one flush settles both of its names.
    await removeTemporary(temporaryPath)
  }
  return settleLink(outcome, directory)
}

/** Makes the directory only when the file system says that it is missing: almost every file goes beside another one. */
async function inDirectory(directory: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof StoreUnavailableError) || !isAbsentCode(errorCode(error.cause)))
      throw error
    // What stands in the way of a directory is named by the attempt to make it.
    await makeDirectories([directory])
    await write()
  }
}

/** The same for a finished file: linked where the file system allows, else copied first. The source stays. */
export async function createFileFrom(realPath: string, sourcePath: string): Promise<PutOutcome> {
  const directory = dirname(realPath)
  await makeDirectories([directory])
  try {
    await flush(sourcePath)
    return await settleLink(await linkFile(sourcePath, realPath), directory)
  } catch (error) {
    if (!(error instanceof StoreUnavailableError) || errorCode(error.cause) !== 'EXDEV') throw error
  }
  const temporaryPath = join(directory, temporaryName())
  let outcome: LinkOutcome
  try {
    await copyDurably(sourcePath, temporaryPath)
    outcome = await linkFile(temporaryPath, realPath)
  } finally {
    await removeTemporary(temporaryPath)
  }
  return settleLink(outcome, directory)
}

/** Makes the directories and their missing parents, each flushed into its parent. */
export async function makeDirectories(directories: readonly string[]): Promise<void> {
  const changed = new Set<string>()
  for (const directory of directories) {
    const firstMade = await makeDirectory(directory)
    if (firstMade === undefined) continue
    const top = dirname(firstMade)
    for (let made = directory; made !== top; made = dirname(made)) changed.add(made)
    changed.add(top)
  }
  for (const directory of changed) await flush(directory)
}

/** The first of the directories that were missing. */
async function makeDirectory(directory: string): Promise<string | undefined> {
  try {
    return await mkdir(directory, { recursive: true })
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOTDIR' || code === 'EEXIST' || code === 'ENAMETOOLONG') {
      throw new LocationError(`cannot make directory ${directory}: ${code}`, { cause: error })
    }
    throw new StoreUnavailableError(`make directory ${directory}: ${code ?? 'failed'}`, {
      cause: error,
    })
  }
}

/** UUIDs are drawn in bulk, which costs a hundredth of drawing twelve bytes. */
function temporaryName(): string {
  return `.timelake-${randomUUID().replaceAll('-', '').slice(0, TEMPORARY_DIGITS)}.tmp`
}

async function writeDurably(path: string, bytes: ObjectBytes): Promise<void> {
  try {
    const file = await opened(path, 'wx', 0o644)
    try {
      if (lengthOf(bytes) <= AT_ONCE_BYTES_MAX) writeAtOnce(file, joinBytes(bytes))
      else await writePieces(file, piecesOf(bytes))
      await flushed(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw new StoreUnavailableError(`write ${path}: ${errorCode(error) ?? 'failed'}`, {
      cause: error,
    })
  }
}

function writeAtOnce(file: number, bytes: Uint8Array): void {
  for (let doneBytes = 0; doneBytes < bytes.length;) doneBytes += writeSync(file, bytes, doneBytes)
}

/** A file system may take less than it was given. */
async function writePieces(file: number, pieces: readonly Uint8Array[]): Promise<void> {
  let rest = pieces
  while (rest.length > 0) {
    const { bytesWritten } = await writtenPieces(file, rest.slice(0, PIECES_PER_WRITE_MAX))
    rest = withoutFirst(rest, bytesWritten)
  }
}

/** What is left of the pieces behind so many bytes. */
function withoutFirst(pieces: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let left = bytes
  for (const [index, piece] of pieces.entries()) {
    if (left < piece.length) return [piece.subarray(left), ...pieces.slice(index + 1)]
    left -= piece.length
  }
  return []
}

async function copyDurably(sourcePath: string, path: string): Promise<void> {
  try {
    await copyFile(sourcePath, path, constants.COPYFILE_EXCL)
  } catch (error) {
    throw new StoreUnavailableError(
      `copy ${sourcePath} to ${path}: ${errorCode(error) ?? 'failed'}`,
      {
        cause: error,
      },
    )
  }
  await flush(path)
}

type LinkOutcome = 'linked' | 'exists' | 'unknown'

async function linkFile(fromPath: string, path: string): Promise<LinkOutcome> {
  try {
    await linked(fromPath, path)
    return 'linked'
  } catch (error) {
    const code = errorCode(error) ?? 'failed'
    if (code === 'EEXIST') return 'exists'
    if (!LINK_REFUSALS.has(code)) return 'unknown'
    throw new StoreUnavailableError(`create ${path}: ${code}`, { cause: error })
  }
}

async function settleLink(outcome: LinkOutcome, directory: string): Promise<PutOutcome> {
  if (outcome !== 'linked') return outcome
  try {
    await flush(directory)
    return 'created'
  } catch (error) {
    if (error instanceof StoreUnavailableError) return 'unknown'
    throw error
  }
}

async function flush(path: string): Promise<void> {
  try {
    const file = openSync(path, 'r')
    try {
      await flushed(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw new StoreUnavailableError(`flush ${path}: ${errorCode(error) ?? 'failed'}`, {
      cause: error,
    })
  }
}

/** Best effort: what the put achieved does not depend on it, and a leftover is never taken for an object. */
async function removeTemporary(path: string): Promise<void> {
  await unlinked(path).catch(() => {})
}

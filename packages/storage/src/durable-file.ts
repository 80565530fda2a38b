import { randomBytes } from 'node:crypto'
import { constants, copyFile, link, mkdir, open, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode, isAbsentCode } from './contained-path.ts'
import { LocationError, type PutOutcome, StoreUnavailableError } from './object-store.ts'

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
export async function createFile(realPath: string, bytes: Uint8Array): Promise<PutOutcome> {
  const temporaryPath = join(dirname(realPath), temporaryName())
  try {
    await inDirectory(dirname(realPath), () => writeDurably(temporaryPath, bytes))
    return await linkDurably(temporaryPath, realPath)
  } finally {
    await removeTemporary(temporaryPath)
  }
}

/** Makes the directory only when the file system says that it is missing: almost every file goes beside another one. */
async function inDirectory(directory: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof StoreUnavailableError) || !isAbsentCode(errorCode(error.cause)))
      throw error
    // What stands in the way of a directory is named by the attempt to make it.
    await makeDirectories(directory)
    await write()
  }
}

/** The same for a finished file: linked where the file system allows, else copied first. The source stays. */
export async function createFileFrom(realPath: string, sourcePath: string): Promise<PutOutcome> {
  await makeDirectories(dirname(realPath))
  try {
    await flush(sourcePath)
    return await linkDurably(sourcePath, realPath)
  } catch (error) {
    if (!(error instanceof StoreUnavailableError) || errorCode(error.cause) !== 'EXDEV') throw error
  }
  const temporaryPath = join(dirname(realPath), temporaryName())
  try {
    await copyDurably(sourcePath, temporaryPath)
    return await linkDurably(temporaryPath, realPath)
  } finally {
    await removeTemporary(temporaryPath)
  }
}

/** Makes the directory and its missing parents, each flushed into its parent. */
export async function makeDirectories(directory: string): Promise<void> {
  let firstMade: string | undefined
  try {
    firstMade = await mkdir(directory, { recursive: true })
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOTDIR' || code === 'EEXIST' || code === 'ENAMETOOLONG') {
      throw new LocationError(`cannot make directory ${directory}: ${code}`, { cause: error })
    }
    throw new StoreUnavailableError(`make directory ${directory}: ${code ?? 'failed'}`, {
      cause: error,
    })
  }
  if (firstMade === undefined) return
  const top = dirname(firstMade)
  for (let made = directory; made !== top; made = dirname(made)) await flush(made)
  await flush(top)
}

function temporaryName(): string {
  return `.timelake-${randomBytes(12).toString('hex')}.tmp`
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o644)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (error) {
    throw new StoreUnavailableError(`write ${path}: ${errorCode(error) ?? 'failed'}`, {
      cause: error,
    })
  }
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

async function linkDurably(fromPath: string, path: string): Promise<PutOutcome> {
  try {
    await link(fromPath, path)
  } catch (error) {
    const code = errorCode(error) ?? 'failed'
    if (code === 'EEXIST') return 'exists'
    if (!LINK_REFUSALS.has(code)) return 'unknown'
    throw new StoreUnavailableError(`create ${path}: ${code}`, { cause: error })
  }
  try {
    await flush(dirname(path))
    return 'created'
  } catch (error) {
    if (error instanceof StoreUnavailableError) return 'unknown'
    throw error
  }
}

async function flush(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw new StoreUnavailableError(`flush ${path}: ${errorCode(error) ?? 'failed'}`, {
      cause: error,
    })
  }
}

/** Best effort: what the put achieved is already decided, and a leftover is never taken for an object. */
async function removeTemporary(path: string): Promise<void> {
  await unlink(path).catch(() => {})
}

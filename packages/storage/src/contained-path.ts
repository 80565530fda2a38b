import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { LocationError, StoreUnavailableError } from './object-store.ts'

/** The `code` of a Node system error, such as `ENOENT`; undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** True for the codes by which the file system says that nothing is there. */
export function isAbsentCode(code: string | undefined): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG'
}

/**
 * Resolves paths and keeps them inside the root directories; an empty list allows every path. Symbolic links are
 * followed before the check, in the roots too, so a link inside a root cannot lead outside.
 */
export interface PathContainment {
  /** The real path of something that exists, or undefined when nothing is there. Throws LocationError outside. */
  existing(path: string): string | undefined
  /** The real path that would be created: the nearest existing ancestor is resolved. Throws LocationError outside. */
  future(path: string): string
  /** The same for a file that is never made through a link that has its name already: only its directory is resolved. */
  futureFile(path: string): string
}

/** Paths below these directories, which need not exist yet. */
export function containPaths(rootDirs: readonly string[]): PathContainment {
  const roots = rootDirs.map((dir) => rememberRealRoot(resolve(dir)))
  const check = (path: string, realPath: string): string => {
    if (roots.length === 0 || isBelowAny(roots, realPath)) return realPath
    throw new LocationError(`location is outside the directories of this store: ${path}`)
  }
  return {
    existing(path) {
      const realPath = realPathOrAbsent(path)
      if (realPath !== undefined) return check(path, realPath)
      // An absent object outside is refused like a present one, so that answers tell nothing about foreign files.
      check(path, realFuturePath(path))
      return undefined
    },
    future(path) {
      return check(path, realFuturePath(path))
    },
    futureFile(path) {
      const directory = dirname(path)
      const realDirectory = realPathOrAbsent(directory) ?? realFuturePath(directory)
      return check(path, join(realDirectory, basename(path)))
    },
  }
}

/** A root may be created after the store was opened, so it is resolved at first use and kept once it exists. */
function rememberRealRoot(root: string): () => string {
  let known: string | undefined
  return () => {
    if (known !== undefined) return known
    known = realPathOrAbsent(root)
    return known ?? realFuturePath(root)
  }
}

function isBelowAny(roots: readonly (() => string)[], realPath: string): boolean {
  for (const root of roots) {
    const realRoot = root()
    const prefix = realRoot.endsWith(sep) ? realRoot : realRoot + sep
    if (realPath === realRoot || realPath.startsWith(prefix)) return true
  }
  return false
}

function realFuturePath(path: string): string {
  const missing: string[] = []
  let ancestor = path
  for (;;) {
    const realPath = isNothing(ancestor) ? undefined : realPathOrAbsent(ancestor)
    if (realPath !== undefined) return join(realPath, ...missing.reverse())
    missing.push(basename(ancestor))
    ancestor = dirname(ancestor)
  }
}

/** True when not even a link is there, as with every file that is about to be made: no error is made for it. */
function isNothing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

// @NOTE Synchronous on purpose: a look-up in a local directory takes a few microseconds, handing it to the thread pool
// ten times that, and every load of a table does one.
function realPathOrAbsent(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const code = errorCode(error)
    if (isAbsentCode(code)) return undefined
    if (code === 'ELOOP')
      throw new LocationError(`location is a loop of links: ${path}`, { cause: error })
    throw new StoreUnavailableError(`resolve ${path}: ${code ?? 'failed'}`, { cause: error })
  }
}

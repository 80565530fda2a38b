import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DataDirectoryInUseError } from './database-errors.ts'

export interface DataDirectoryLock {
  /** Gives the directory up; calling it again does nothing. */
  release(): void
}

const LOCK_FILE = 'timelake.lock'

/** Several processes may take over the same stale lock; each round one of them wins. */
const LOCK_ATTEMPTS_MAX = 20

interface LockOwner {
  readonly pid: number
  /** When the process started, in the kernel's own unit; absent where it cannot be known. */
  readonly startedAt: string | undefined
}

/**
 * Takes the data directory for this process, by a file `timelake.lock` that names it. Throws DataDirectoryInUseError
 * while the process that holds it lives. A lock whose process is gone, or whose process id now belongs to a process
 * with another start time, is stale and taken over. The embedded database has no lock of its own: two processes on one
 * directory lose data silently.
 */
export function lockDataDirectory(
  directory: string,
  { pid }: { readonly pid: number },
): DataDirectoryLock {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, LOCK_FILE)
  const content = `${JSON.stringify({ pid, startedAt: processStart(pid) })}\n`
  for (let attempt = 1; attempt <= LOCK_ATTEMPTS_MAX; attempt++) {
    if (createWhole(file, content)) return { release: () => removeIfOwn(file, content) }
    const found = readIfPresent(file)
    if (found === undefined) continue
    const owner = ownerOf(found)
    if (owner !== undefined && isAlive(owner))
      throw new DataDirectoryInUseError(directory, owner.pid)
    removeStale(file, found, content)
  }
  throw new DataDirectoryInUseError(directory, undefined)
}

/** Makes the file with its content in one step, so that nobody ever reads an empty lock. */
function createWhole(file: string, content: string): boolean {
  const draft = draftName(file)
  writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    unlinkSync(draft)
  }
}

/**
 * Removes a stale lock. Whoever removes that very lock holds `<lock>.takeover` meanwhile and looks again, so a lock
 * that was taken over since it was judged stays.
 */
function removeStale(file: string, judged: string, content: string): void {
  const takeover = `${file}.takeover`
  if (!createWhole(takeover, content)) {
    const holder = readIfPresent(takeover)
    const owner = holder === undefined ? undefined : ownerOf(holder)
    if (holder !== undefined && (owner === undefined || !isAlive(owner)))
      removeIfOwn(takeover, holder)
    return
  }
  removeIfOwn(file, judged)
  removeIfOwn(takeover, content)
}

function removeIfOwn(file: string, content: string): void {
  if (readIfPresent(file) !== content) return
  try {
    unlinkSync(file)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

function draftName(file: string): string {
  return `${file}.${randomBytes(8).toString('hex')}`
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The owner that a lock file names; undefined for a file that nobody of us wrote. */
function ownerOf(content: string): LockOwner | undefined {
  const match = /^\{"pid":(\d+)(?:,"startedAt":"([^"]*)")?\}\s*$/.exec(content)
  return match?.[1] === undefined ? undefined : { pid: Number(match[1]), startedAt: match[2] }
}

function isAlive(owner: LockOwner): boolean {
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    if (codeOf(error) === 'ESRCH') return false
  }
  if (hasEnded(owner.pid)) return false
  const startedAt = processStart(owner.pid)
  return owner.startedAt === undefined || startedAt === undefined || owner.startedAt === startedAt
}

/** Whether it is a zombie: its process id stays taken until its parent looks, but it runs and writes no more. */
function hasEnded(pid: number): boolean {
  const state = processFields(pid)?.[0]
  return state === 'Z' || state === 'X'
}

/** The start time of a process in clock ticks since boot, with the boot it belongs to; undefined off Linux. */
function processStart(pid: number): string | undefined {
  const ticks = processFields(pid)?.[19]
  if (ticks === undefined) return undefined
  return `${readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}:${ticks}`
}

/** The fields of `/proc/<pid>/stat` from the third, its state, on; undefined off Linux. */
function processFields(pid: number): readonly string[] | undefined {
  const stat = readProc(`/proc/${pid}/stat`)
  // The second field is the program's name in parentheses and may hold anything; field 22 is the start time.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function readProc(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) !== undefined) return undefined
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

import type { Caller } from './caller.ts'
import type { Crowd, Debt } from './crowd.ts'
import type { Head } from './turn-rules.ts'

/** What a line knows of one connection. */
export interface KnownConnection {
  /** What its last load was given or its last commit made, and when that was a load. */
  head: Head | undefined
  loadedMs: number | undefined
  loadCount: number
  /** Commits of those who loaded on it. */
  commitCount: number
  /** Whether it was seen to commit on top of its own last commit, without a load between. */
  commitsUnloaded: boolean
  /** How often it did so in a row, while others waited. */
  streakCommits: number
  writerUntilMs: number
  readerUntilMs: number
  freeLoadUntilMs: number
}

/** What is known of a connection at first: nothing. */
export function unknownConnection(): KnownConnection {
  return {
    head: undefined,
    loadedMs: undefined,
    loadCount: 0,
    commitCount: 0,
    commitsUnloaded: false,
    streakCommits: 0,
    writerUntilMs: 0,
    readerUntilMs: 0,
    freeLoadUntilMs: 0,
  }
}

interface Known {
  readonly connection: KnownConnection
  readonly crowd: Crowd
}

/** Why the load takes a turn; undefined when its caller only reads, as far as can be told. */
export function reasonToWait(
  caller: Caller,
  { connection, crowd }: Known,
  nowMs: number,
): Pick<Debt, 'isHead' | 'isLost'> | undefined {
  const { id } = caller.connection
  const isTold = !crowd.isMixed(nowMs)
  if (isTold && nowMs < connection.readerUntilMs && !crowd.owes(id, nowMs)) return undefined
  if (!isTold && connection.loadCount > 3 && connection.commitCount === 0) return undefined
  const debt = crowd.takeDebt(id, nowMs)
  if (debt !== undefined) return debt
  const isWriter = isTold && nowMs < connection.writerUntilMs
  return isWriter ? { isHead: false, isLost: false } : undefined
}

/** Whether the load is the one that its client makes after a success; that passes once. */
export function takesFreeLoad({ connection, crowd }: Known, nowMs: number): boolean {
  if (crowd.isMixed(nowMs)) return crowd.takeFreeLoad(nowMs)
  const isFree = nowMs < connection.freeLoadUntilMs
  connection.freeLoadUntilMs = 0
  return isFree
}

/** A caller with a connection of its own builds on what it loaded or committed there last. */
export function showsMixing(connection: KnownConnection, base: Head | undefined): boolean {
  return connection.head !== undefined && base !== undefined && base !== connection.head
}

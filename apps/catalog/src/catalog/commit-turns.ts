import {
  askForTurn,
  passTurn,
  readTurn,
  seizeTurn,
  type CommitTurn,
} from '@timelake/database/commit-turns'
import type { SqlSession } from '@timelake/database/sql-session'
import type { TableRow } from '@timelake/database/table-row'
import { LRUCache } from 'lru-cache'
import { entriesMax } from '../entries-max.ts'

/** Time between two looks at whose turn it is. */
const LOOK_EVERY_MS = 8
/** A process that has the turn and does not move the pointer for so long is passed over. */
const IDLE_TURN_MS_MAX = 1_000
/** With many processes the turn may be long in coming; then a commit tries its luck without. */
const TURN_WAIT_MS_MAX = 5_000
/** A process lands group after group in its turn for so long, for each change of turns has to be caught up with. */
const TURN_MS = 200
/** Or for so many times what its first group took, catching up included, where the store is far away. */
const TURN_GROUPS = 4
const TURN_MS_MAX = 1_000
/** A turn that nobody uses for so long is passed on, too: a writer who was just answered may come back. */
const LINGER_MS = 10
/** After a group, a turn is kept for this share of as many commits; with fewer, others have more to land meanwhile. */
const WAITING_SHARE_MIN = 1 / 2
/** A table is taken to have other processes' commits for so long after the last sign of them. */
const RIVAL_MS = 3_000
/** Tables of which that is remembered. */
const RIVALS_MAX = 10_000

export interface CommitTurnsOptions {
  readonly database: SqlSession
  /** Unique among the processes that ever used the database. */
  readonly processId: string
  readonly nowMs: () => number
  readonly delay: (ms: number) => Promise<void>
  /** Whether commits of this process to the table land or wait. */
  readonly isBusy: (tableId: string) => boolean
  readonly background: { start(what: string, task: () => Promise<void>): void }
}

/** A group of commits that has its answers. */
export interface EndedGroup {
  /** Whether a commit that is waited for may have been among them. */
  readonly hadExpected: boolean
  readonly memberCount: number
  /** Commits that wait to be the next group. */
  readonly waitingCount: number
}

/** Times of a turn count from when it was taken. */
interface HeldTurn {
  readonly takenMs: number
  /** What its timers say, for a clock that was put back. */
  timedMs: number
  /** When others should have it. */
  untilMs: number
  /** Until then a strict commit is waited for that is built in this turn, and would be in vain after it. */
  expectedUntilMs: number
  hasLanded: boolean
  /** Since the last look at it. */
  isUsed: boolean
}

/**
 * The turns of this process on tables that other processes commit to as well. A turn lasts while there is much to land, and a
 * writer who loads in a turn commits in it. Each change of turns has to be caught up with by reading what the other process
 * left. Only a matter of efficiency: what decides is the comparison at the swap, and a process that dies in its turn is passed
 * over.
 */
export class CommitTurns {
  readonly #options: CommitTurnsOptions
  readonly #held = new Map<string, HeldTurn>()
  readonly #takings = new Map<string, Promise<HeldTurn | undefined>>()
  /** Turns that are being passed on. */
  readonly #passings = new Map<string, Promise<void>>()
  /** When there was the last sign of other processes. */
  readonly #rivalMs = new LRUCache<string, number>(entriesMax(RIVALS_MAX))
  #isStopped = false

  constructor(options: CommitTurnsOptions) {
    this.#options = options
  }

  /** Whether another process has the turn, or had it when the row was read. A turn of ours that came late is taken note of. */
  isOfAnother({ id, commitTurn }: Pick<TableRow, 'id' | 'commitTurn'>): boolean {
    if (this.#passings.has(id)) return true
    const isOurs = commitTurn === this.#options.processId
    if (isOurs && !this.#held.has(id)) this.#hold(id)
    if (isOurs || commitTurn === undefined) return false
    this.#held.delete(id)
    return true
  }

  /** Whether what was read of the table a moment ago may be old, because other processes commit to it. */
  isShared(tableId: string): boolean {
    const rivalMs = this.#rivalMs.get(tableId)
    return rivalMs !== undefined && this.#options.nowMs() - rivalMs < RIVAL_MS
  }

  /**
   * Before commits are gathered to land together: resolves when it is this process's turn on a table that others commit to,
   * so that all those land who have come until then. Never rejects; undefined for at once.
   */
  beforeGroup(tableId: string): Promise<void> | undefined {
    if (!this.isShared(tableId) || this.#held.has(tableId)) return undefined
    // A database that does not answer shows when the group lands.
    return this.#take(tableId).then(ignore, ignore)
  }

  /** Resolves when this process has the turn, or has waited for it for too long; after a lost race with another process. */
  async take({ id }: Pick<TableRow, 'id'>): Promise<void> {
    this.#noteRival(id)
    await this.#take(id)
  }

  /**
   * Keeps the turn for a commit that is to be built on what its writer is about to load, which may take `ms` to come. True when
   * the turn was taken for it: what was read of the table before may be old.
   */
  async expectCommit({ id }: Pick<TableRow, 'id'>, ms: number): Promise<boolean> {
    const known = this.#held.get(id)
    const isTaken = known === undefined || this.#ageMs(known) >= known.untilMs
    if (known !== undefined && isTaken) await this.#pass(id)
    const held = isTaken ? await this.#take(id) : known
    if (held !== undefined) held.expectedUntilMs = this.#ageMs(held) + ms
    return isTaken
  }

  /** Passes the turn on when it is over. */
  async afterGroup({ id }: Pick<TableRow, 'id'>, group: EndedGroup): Promise<void> {
    const held = this.#held.get(id)
    if (held === undefined) return
    const ageMs = this.#ageMs(held)
    if (!held.hasLanded) {
      held.hasLanded = true
      held.untilMs = Math.max(held.untilMs, Math.min(ageMs * TURN_GROUPS, TURN_MS_MAX))
    }
    held.isUsed = true
    const { hadExpected, memberCount, waitingCount } = group
    if (hadExpected) held.expectedUntilMs = 0
    const isSpent = !hadExpected && waitingCount < memberCount * WAITING_SHARE_MIN
    const isOver = isSpent || ageMs >= held.untilMs
    if (isOver && ageMs >= held.expectedUntilMs) await this.#pass(id)
  }

  /** Passes on what it has, soon. */
  stop(): void {
    this.#isStopped = true
  }

  #take(tableId: string): Promise<HeldTurn | undefined> {
    const known = this.#takings.get(tableId)
    if (known !== undefined) return known
    const taking = this.#wait(tableId)
      .then((isOurs) => (isOurs ? this.#hold(tableId) : undefined))
      .finally(() => this.#takings.delete(tableId))
    this.#takings.set(tableId, taking)
    return taking
  }

  async #wait(tableId: string): Promise<boolean> {
    const { database, delay, processId } = this.#options
    const mine = { tableId, processId }
    // What was asked for first might be answered last, and be given away again.
    await this.#passings.get(tableId)?.catch(ignore)
    let seen: CommitTurn | undefined
    let idleMs = 0
    let current = await askForTurn(database, mine)
    for (let waitedMs = 0; waitedMs < TURN_WAIT_MS_MAX; waitedMs += LOOK_EVERY_MS) {
      if (current === undefined) return false
      if (current.turn === processId) return true
      if (current.turn !== undefined) this.#noteRival(tableId)
      const hasMoved =
        seen === undefined ||
        seen.turn !== current.turn ||
        seen.metadataLocation !== current.metadataLocation
      idleMs = hasMoved ? 0 : idleMs + LOOK_EVERY_MS
      seen = current
      if (idleMs >= IDLE_TURN_MS_MAX) await seizeTurn(database, { ...mine, seen })
      await delay(LOOK_EVERY_MS)
      const read = await readTurn(database, tableId)
      // Asking writes to the row: only where the turn, or the place behind whoever has it, is free.
      const isFree = read?.turn === undefined || read.next === undefined
      current = isFree ? await askForTurn(database, mine) : read
    }
    return false
  }

  #noteRival(tableId: string): void {
    this.#rivalMs.set(tableId, this.#options.nowMs())
  }

  #hold(tableId: string): HeldTurn {
    const known = this.#held.get(tableId)
    if (known !== undefined) return known
    const takenMs = this.#options.nowMs()
    const held = {
      takenMs,
      timedMs: 0,
      untilMs: TURN_MS,
      expectedUntilMs: 0,
      hasLanded: false,
      isUsed: true,
    }
    this.#held.set(tableId, held)
    this.#options.background.start('keep a turn', () => this.#keep(tableId, held))
    return held
  }

  /** Passes the turn on when nobody here does anything with it. */
  async #keep(tableId: string, held: HeldTurn): Promise<void> {
    const { delay, isBusy } = this.#options
    while (this.#held.get(tableId) === held) {
      await delay(LINGER_MS)
      held.timedMs += LINGER_MS
      const isUsed = held.isUsed || isBusy(tableId) || this.#ageMs(held) < held.expectedUntilMs
      held.isUsed = false
      if (isUsed && !this.#isStopped) continue
      if (this.#held.get(tableId) === held) await this.#pass(tableId)
    }
  }

  #ageMs({ takenMs, timedMs }: HeldTurn): number {
    return Math.max(this.#options.nowMs() - takenMs, timedMs)
  }

  async #pass(tableId: string): Promise<void> {
    const { database, processId } = this.#options
    this.#held.delete(tableId)
    const passing = passTurn(database, { tableId, processId })
    this.#passings.set(tableId, passing)
    try {
      await passing
    } finally {
      if (this.#passings.get(tableId) === passing) this.#passings.delete(tableId)
    }
  }
}

function ignore(): void {}

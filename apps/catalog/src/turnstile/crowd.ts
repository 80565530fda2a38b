import {
  DEBT_MS,
  DEBTS_MAX,
  FIRST_HOLD_SHARE,
  FREE_LOAD_MS,
  HOLD_FACTOR,
  HOLD_MS_MIN,
  MIXED_MS,
  VAIN_WAIT_MS,
} from './turn-rules.ts'

/** A commit after which somebody will load the table again who should take a turn then. */
export interface Debt {
  /** Whose commit it was; undefined once that connection is closed: then anybody of the crowd may be meant. */
  connection: string | undefined
  /** Had the turn and was beaten by a commit out of turn: goes to the head of the line. */
  readonly isHead: boolean
  /** Whether it lost its race; otherwise it landed. */
  readonly isLost: boolean
  readonly untilMs: number
}

/** A wait for a turn that ended without one, because it had lasted for too long. */
interface VainWait {
  readonly connection: string
  readonly sinceMs: number
  readonly untilMs: number
}

/** How much the newest measurement counts. */
const NEWEST_WEIGHT = 1 / 8
/** Commits after which it can be said how often callers load. */
const COMMITS_SEEN_MIN = 16
/** Older counts fade, so that a client that changes its ways is met. */
const COMMITS_SEEN_MAX = 64
/** From so many loads a commit on, one of them is the one after success; then, there is more than one before it. */
const RELOADING_LOADS_MIN = 1.4
const REPEATED_LOADS_MIN = 2.4
/** Fewer answers than this share that are followed by a commit are not worth a wait. */
const USED_ANSWERS_SHARE_MIN = 0.5
/** A turn that nobody uses costs several times what a lost race does. */
const USED_STREAKS_SHARE_MIN = 0.75

/** What is known of the callers of one table that differ in nothing but their connections. */
export class Crowd {
  #thinkMs: number | undefined
  #loadCount = 0
  #commitCount = 0
  #mixedUntilMs = 0
  #usedAnswersShare = 1
  #usedStreaksShare = 1
  #debts: Debt[] = []
  #vainWaits: VainWait[] = []
  /** Until when loads after success may come; of callers that share connections. */
  #freeLoads: number[] = []

  /** Whether one of its callers was seen lately to commit on a connection that another one loaded on. */
  isMixed(nowMs: number): boolean {
    return nowMs < this.#mixedUntilMs
  }

  markMixed(nowMs: number): void {
    this.#mixedUntilMs = nowMs + MIXED_MS
  }

  countLoad(): void {
    this.#loadCount += 1
  }

  countCommit(): void {
    this.#commitCount += 1
    if (this.#commitCount <= COMMITS_SEEN_MAX) return
    this.#commitCount /= 2
    this.#loadCount /= 2
  }

  /** An answer had a turn, in which its caller came back with a commit or did not. */
  countAnswer({ isUsed }: { readonly isUsed: boolean }): void {
    this.#usedAnswersShare += ((isUsed ? 1 : 0) - this.#usedAnswersShare) * NEWEST_WEIGHT
  }

  /** Whether its callers begin with their next commit when they have the answer to the last one. */
  get usesAnswers(): boolean {
    return this.#usedAnswersShare >= USED_ANSWERS_SHARE_MIN
  }

  /** A caller had the next turn too, to go on, and came with a commit or did not. */
  countStreak({ isUsed }: { readonly isUsed: boolean }): void {
    this.#usedStreaksShare += ((isUsed ? 1 : 0) - this.#usedStreaksShare) * NEWEST_WEIGHT
  }

  /** Whether its callers make one commit right after the other. */
  get usesStreaks(): boolean {
    return this.#usedStreaksShare >= USED_STREAKS_SHARE_MIN
  }

  /** Whether its callers load again when a commit has landed, as Java does and DuckDB does not. */
  get reloadsAfterSuccess(): boolean {
    return this.#loadsPerCommit >= RELOADING_LOADS_MIN
  }

  /** Whether its callers load more than once before they commit, as Spark and Trino do. */
  get loadsRepeatedly(): boolean {
    return this.#loadsPerCommit >= REPEATED_LOADS_MIN
  }

  get #loadsPerCommit(): number {
    return this.#commitCount < COMMITS_SEEN_MIN ? 0 : this.#loadCount / this.#commitCount
  }

  /** From an answered load to the arrival of its commit, the mean; zero as long as nothing is known. */
  get thinkMs(): number {
    return this.#thinkMs ?? 0
  }

  /** Takes note of the time from an answered load to the arrival of its commit. */
  measure(thinkMs: number): void {
    const known = this.#thinkMs ?? thinkMs
    // One that was mistaken for another must not spoil the mean; those who are slower than it raise it step by step.
    const sampleMs = Math.min(thinkMs, Math.max(HOLD_MS_MIN, known * HOLD_FACTOR))
    this.#thinkMs = known + (sampleMs - known) * NEWEST_WEIGHT
  }

  /** How long one of its callers may keep its turn after a load. */
  holdMs(holdMsMax: number): number {
    const wishMs =
      this.#thinkMs === undefined ? holdMsMax * FIRST_HOLD_SHARE : this.#thinkMs * HOLD_FACTOR
    return Math.min(holdMsMax, Math.max(HOLD_MS_MIN, wishMs))
  }

  addDebt(debt: Debt): void {
    // A connection that serves one caller owes one turn, however often it lost.
    const isKnown = (one: Debt): boolean =>
      one.connection !== undefined && one.connection === debt.connection
    if (!this.isMixed(debt.untilMs - DEBT_MS)) {
      this.#debts = this.#debts.filter((one) => !isKnown(one))
    }
    if (this.#debts.length < DEBTS_MAX) this.#debts.push(debt)
  }

  /** Whether somebody who was beaten out of turn has yet to come back. */
  hasBeaten(nowMs: number): boolean {
    return this.#debts.some(({ isHead, untilMs }) => isHead && nowMs < untilMs)
  }

  /**
   * Takes the debt that a load on this connection is meant for: that of the connection, or one that may be anybody's.
   * Undefined when there is none.
   */
  takeDebt(connection: string, nowMs: number): Debt | undefined {
    this.#debts = this.#debts.filter(({ untilMs }) => nowMs < untilMs)
    const isMixed = this.isMixed(nowMs)
    const own = this.#debts.findIndex((debt) => debt.connection === connection)
    const found = own >= 0 ? own : this.#debts.findIndex((debt) => isMixed || isAnybodys(debt))
    return found < 0 ? undefined : this.#debts.splice(found, 1)[0]
  }

  /** Whether a load on this connection would find a debt of its own. */
  owes(connection: string, nowMs: number): boolean {
    return this.#debts.some((debt) => debt.connection === connection && nowMs < debt.untilMs)
  }

  /** The connection is closed: its caller, if it comes back, comes on another one. */
  orphan(connection: string): void {
    for (const debt of this.#debts) if (debt.connection === connection) debt.connection = undefined
  }

  /** Its caller was answered although it was not its turn. It has its place in the line when it comes back. */
  keepWait({
    connection,
    sinceMs,
    nowMs,
  }: Pick<VainWait, 'connection' | 'sinceMs'> & { readonly nowMs: number }): void {
    this.#vainWaits = this.#vainWaits.filter(({ untilMs }) => nowMs < untilMs)
    if (this.#vainWaits.length < DEBTS_MAX) {
      this.#vainWaits.push({ connection, sinceMs, untilMs: nowMs + VAIN_WAIT_MS })
    }
  }

  /** Since when a caller waits who comes back on this connection; of callers that share connections, the one who waits longest. */
  takeWait(connection: string, nowMs: number): number | undefined {
    const own = this.#vainWaits.filter(
      (wait) => this.isMixed(nowMs) || wait.connection === connection,
    )
    const longest = own.reduce<VainWait | undefined>(
      (one, other) => (one !== undefined && one.sinceMs <= other.sinceMs ? one : other),
      undefined,
    )
    this.#vainWaits = this.#vainWaits.filter((wait) => wait !== longest)
    return longest?.sinceMs
  }

  /** Its caller has what it waited for. */
  forgetWait(connection: string): void {
    this.#vainWaits = this.#vainWaits.filter((wait) => wait.connection !== connection)
  }

  addFreeLoad(nowMs: number): void {
    if (this.#freeLoads.length < DEBTS_MAX) this.#freeLoads.push(nowMs + FREE_LOAD_MS)
  }

  takeFreeLoad(nowMs: number): boolean {
    this.#freeLoads = this.#freeLoads.filter((untilMs) => nowMs < untilMs)
    return this.#freeLoads.shift() !== undefined
  }
}

function isAnybodys(debt: Debt): boolean {
  return debt.connection === undefined
}

import { LRUCache } from 'lru-cache'
import { entriesMax } from '../entries-max.ts'
import type { Connection } from '../http/exchange.ts'
import type { Caller } from './caller.ts'
import { PAUSE_MS_MAX, PauseBudget } from './pause-budget.ts'
import { TableLine } from './table-line.ts'
import type { CommitOutcome, Ticket, Turn } from './turn.ts'
import type { Head, TurnRules } from './turn-rules.ts'
import type { TurnstileMetrics } from './turnstile-metrics.ts'

/** Tables whose writers take turns at one time; further ones are left to their races. */
const TABLES_MAX = 10_000
/** Tables whose last commit is remembered, so that who made it takes turns when the others begin to. */
const LAST_COMMITS_MAX = 1_000
const LAST_COMMIT_MS = 10_000

/** The queue of a table, as far as a strict commit can have it wait. */
export interface AppendPauses {
  /** Resolves when the appends that were landing have landed. */
  pauseAppends(lane: string, ms: number): Promise<void>
  resumeAppends(lane: string): void
}

export interface TurnstileOptions {
  readonly isOn: boolean
  readonly rules: TurnRules
  nowMs(): number
  /** Resolves after `ms`, or when the signal aborts. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
  readonly appends: AppendPauses
  metrics(lines: TurnstileGauges): TurnstileMetrics
}

export interface TurnstileGauges {
  readonly tableCount: number
  readonly waitingCount: number
}

/** A load that may be answered now. */
export interface AdmittedLoad {
  /**
   * Whether its caller lost a race before, so that appends should wait for it: `pauseAppends` is to be called before the
   * state is read that is answered.
   */
  readonly isRetry: boolean
  pauseAppends(lane: string): Promise<void>
  /** How long a commit is waited for that builds on the answer; undefined when it is not its caller's turn. */
  readonly holdMs: number | undefined
  /** Has the turn last for so long at least, while the answer waits for something else. */
  keepTurn(ms: number): void
  /** The state of main that the answer holds. */
  answered(head: Head): void
  /** There is no answer: the next one may come. */
  failed(): void
}

/**
 * Takes the outcome of a commit. What comes back resolves when the commit may be answered, if that has to wait: `aborted` is
 * the caller's going away.
 */
export type SettleCommit = (
  outcome: CommitOutcome,
  aborted: () => AbortSignal,
) => Promise<void> | undefined

/** What the admin API shows of one table. */
export interface LineView {
  /** By the clock of the times below. */
  readonly nowMs: number
  readonly isContended: boolean
  readonly turn: Turn | undefined
  readonly waiting: readonly Ticket[]
}

interface OpenLine {
  readonly line: TableLine
  readonly pauses: PauseBudget
  readonly waiters: Map<Ticket, () => void>
  /** Connections whose end the line will hear of. */
  readonly watched: Set<string>
  /** Aborts when the line is given up. */
  readonly over: AbortController
  wake: Wake | undefined
  pause: Pause | undefined
}

interface LastCommit {
  readonly caller: Caller
  readonly head: Head | undefined
  readonly atMs: number
}

/** Appends that wait for one turn. */
interface Pause {
  readonly ticket: Ticket
  readonly lane: string
  readonly untilMs: number
}

interface Wake {
  readonly atMs: number
  readonly cancel: AbortController
}

/**
 * Strict writers of a contended table load it one after another, so that each can commit what it builds before the next one
 * begins. A table is contended while commits lose races there; loads of other tables and of callers who only read pass.
 * Holds no lock and decides no commit: whatever goes wrong here costs a wait with a bound or a race. In memory, for this
 * process. See `docs/turnstile.md`.
 */
export class Turnstile implements TurnstileGauges {
  readonly #options: TurnstileOptions
  readonly #lines = new Map<string, OpenLine>()
  readonly #lastCommits = new LRUCache<string, LastCommit>(entriesMax(LAST_COMMITS_MAX))
  /** Connections that have loaded any table. */
  readonly #loaders = new WeakSet<Connection>()
  readonly #metrics: TurnstileMetrics
  #isStopped = false

  readonly #clock: SteadyClock

  constructor(options: TurnstileOptions) {
    this.#clock = steadyClock(options.nowMs)
    this.#options = { ...options, nowMs: () => this.#clock.nowMs() }
    this.#metrics = options.metrics(this)
  }

  get tableCount(): number {
    return this.#lines.size
  }

  get waitingCount(): number {
    let sum = 0
    for (const { line } of this.#lines.values()) sum += line.waiting.length
    return sum
  }

  get isOn(): boolean {
    return this.#options.isOn
  }

  /** Whether no table is contended. */
  get isIdle(): boolean {
    return this.#lines.size === 0
  }

  /** Takes note of a load of any table. */
  noteLoad(connection: Connection): void {
    this.#loaders.add(connection)
  }

  /** Whether loads of this table need `load`. */
  isTakingTurns(table: string): boolean {
    return this.#lines.has(table)
  }

  /**
   * Resolves when this load may be answered: at once for callers who only read, for others when it is their turn, at the
   * latest after the longest wait. `table` is any name that all callers of the table share.
   */
  async load(table: string, caller: Caller, aborted: AbortSignal): Promise<AdmittedLoad> {
    const open = this.#lines.get(table)
    if (open === undefined) return PASSED
    const isFirst = !this.#loaders.has(caller.connection)
    const ticket = open.line.load(caller, this.#options.nowMs(), isFirst)
    const called = ticket === undefined ? undefined : this.#called(table, { open, ticket }, aborted)
    this.#watch(table, open, caller)
    if (called !== undefined) {
      const startMs = this.#options.nowMs()
      await called
      this.#metrics.waitSeconds.observe((this.#options.nowMs() - startMs) / 1_000)
    }
    return this.#admitted(table, { open, ticket: ticket ?? open.line.answeredTurn(caller) }, caller)
  }

  /** A commit has come. The result is to be called with its outcome, whatever that is. */
  commit(table: string, caller: Caller, base: Head | undefined): SettleCommit {
    const { nowMs } = this.#options
    const open = this.#lines.get(table)
    const arrival = open?.line.arrive(caller, base, nowMs())
    if (open !== undefined) this.#watch(table, open, caller)
    return (outcome, aborted) => {
      if (!this.#lines.has(table)) this.#noteWithoutLine(table, caller, outcome)
      const now = this.#lines.get(table)
      if (now === undefined) return undefined
      // Commits that are under way when the first one loses were not seen to arrive, and a line may be given up meanwhile.
      const seen = now === open ? arrival : undefined
      const courtesy = now.line.settle(seen ?? { caller, turn: undefined }, outcome, nowMs())
      const called =
        courtesy === undefined
          ? undefined
          : this.#called(table, { open: now, ticket: courtesy }, aborted())
      this.#watch(table, now, caller)
      this.#proceed(table, now)
      return called
    }
  }

  view(table: string): LineView {
    const line = this.#lines.get(table)?.line
    const nowMs = this.#options.nowMs()
    const isContended = line?.isContended(nowMs) ?? false
    return { nowMs, isContended, turn: line?.turn, waiting: line?.waiting ?? [] }
  }

  /** Answers everybody who waits, and lets nobody wait any more. */
  stop(): void {
    this.#isStopped = true
    for (const [table, open] of this.#lines) {
      open.line.callAll()
      this.#proceed(table, open)
      this.#close(table, open)
    }
  }

  #admitted(
    table: string,
    { open, ticket }: { open: OpenLine; ticket: Ticket | undefined },
    caller: Caller,
  ): AdmittedLoad {
    return {
      isRetry: ticket?.isRetry === true,
      holdMs:
        ticket !== undefined && open.line.turn?.ticket === ticket
          ? open.line.holdMs(caller)
          : undefined,
      keepTurn: (ms) => {
        if (ticket !== undefined) open.line.extendTurn(ticket, this.#options.nowMs() + ms)
      },
      pauseAppends: async (lane) => {
        if (ticket !== undefined && open.line.turn?.ticket === ticket) {
          await this.#pauseAppends(open, lane, ticket)
        }
      },
      answered: (head) => {
        open.line.answered(caller, head, this.#options.nowMs())
        this.#proceed(table, open)
      },
      failed: () => {
        if (ticket !== undefined) open.line.leave(ticket, this.#options.nowMs())
        this.#proceed(table, open)
      },
    }
  }

  /** The first commit that loses makes the table contended. */
  #noteWithoutLine(table: string, caller: Caller, outcome: CommitOutcome): void {
    if (outcome.kind === 'lost') this.#openLine(table)
    if (outcome.kind === 'landed' && outcome.isStrict) {
      this.#lastCommits.set(table, {
        caller,
        head: outcome.head,
        atMs: this.#options.nowMs(),
      })
    }
  }

  #openLine(table: string): void {
    if (!this.#options.isOn || this.#isStopped || this.#lines.size >= TABLES_MAX) return
    const nowMs = this.#options.nowMs()
    const open: OpenLine = {
      line: new TableLine(this.#options.rules),
      pauses: new PauseBudget(nowMs),
      waiters: new Map(),
      watched: new Set(),
      over: new AbortController(),
      wake: undefined,
      pause: undefined,
    }
    this.#lines.set(table, open)
    const last = this.#lastCommits.get(table)
    this.#lastCommits.delete(table)
    if (last !== undefined && nowMs - last.atMs < LAST_COMMIT_MS) {
      open.line.noteEarlierCommit(last.caller, last.head, nowMs)
      this.#watch(table, open, last.caller)
    }
  }

  /** Resolves when the ticket is called. */
  async #called(
    table: string,
    { open, ticket }: { open: OpenLine; ticket: Ticket },
    aborted: AbortSignal,
  ): Promise<void> {
    const called = new Promise<void>((resolve) => void open.waiters.set(ticket, resolve))
    const leave = (): void => {
      open.line.leave(ticket, this.#options.nowMs())
      open.waiters.get(ticket)?.()
      this.#proceed(table, open)
    }
    aborted.addEventListener('abort', leave, { once: true })
    this.#proceed(table, open)
    if (aborted.aborted || this.#isStopped) leave()
    await called
    open.waiters.delete(ticket)
    aborted.removeEventListener('abort', leave)
  }

  /** Does what the line has decided, and sees to it that time goes on for it. */
  #proceed(table: string, open: OpenLine): void {
    for (const ticket of open.line.takeCalled()) open.waiters.get(ticket)?.()
    const { holdsExpired, conflictsAvoided } = open.line.takeCounts()
    if (holdsExpired > 0) this.#metrics.holdsExpired.inc(holdsExpired)
    if (conflictsAvoided > 0) this.#metrics.conflictsAvoided.inc(conflictsAvoided)
    if (open.pause !== undefined && open.line.turn?.ticket !== open.pause.ticket) {
      this.#resumeAppends(open)
    }
    this.#wakeInTime(table, open)
  }

  #wakeInTime(table: string, open: OpenLine): void {
    if (this.#lines.get(table) !== open) return
    const nowMs = this.#options.nowMs()
    const { line } = open
    const dueMs = line.dueMs()
    const atMs = Number.isFinite(dueMs) ? dueMs : Math.max(line.contendedUntilMs, nowMs + 1_000)
    if (open.wake !== undefined && open.wake.atMs <= atMs) return
    open.wake?.cancel.abort()
    const wake = { atMs, cancel: new AbortController() }
    open.wake = wake
    void this.#options.delay(Math.max(1, atMs - nowMs), wake.cancel.signal).then(() => {
      if (open.wake !== wake) return
      this.#clock.reach(atMs)
      this.#wakeUp(table, open)
    })
  }

  #wakeUp(table: string, open: OpenLine): void {
    open.wake = undefined
    const nowMs = this.#options.nowMs()
    open.line.tick(nowMs)
    // What is left of the budget must not be forgotten, or it would be new for each race.
    if (open.line.isOver(nowMs) && open.pauses.isFull(nowMs)) this.#close(table, open)
    this.#proceed(table, open)
  }

  #close(table: string, open: OpenLine): void {
    if (this.#lines.get(table) === open) this.#lines.delete(table)
    open.over.abort()
    open.wake?.cancel.abort()
    open.wake = undefined
  }

  /** Has the line hear of the end of the caller's connection. */
  #watch(table: string, open: OpenLine, { connection }: Caller): void {
    if (open.watched.has(connection.id)) return
    const { closed } = connection
    const tell = (): void => {
      open.watched.delete(connection.id)
      open.line.closed(connection.id, this.#options.nowMs())
      this.#proceed(table, open)
    }
    if (closed.aborted) return tell()
    open.watched.add(connection.id)
    closed.addEventListener('abort', tell, { once: true, signal: open.over.signal })
  }

  async #pauseAppends(open: OpenLine, lane: string, ticket: Ticket): Promise<void> {
    const nowMs = this.#options.nowMs()
    // Whoever lost to many appends has much to check before it commits again: all that there is, and the turn lasts as long.
    const ms = open.pauses.take(PAUSE_MS_MAX, nowMs)
    if (ms === 0) return
    open.line.noteAppendPause(ticket, nowMs + ms)
    open.pause = { ticket, lane, untilMs: nowMs + ms }
    this.#metrics.appendPauses.inc()
    await this.#options.appends.pauseAppends(lane, ms)
  }

  #resumeAppends(open: OpenLine): void {
    const { pause } = open
    if (pause === undefined) return
    open.pause = undefined
    open.pauses.giveBack(Math.max(0, pause.untilMs - this.#options.nowMs()))
    this.#options.appends.resumeAppends(pause.lane)
  }
}

const PASSED: AdmittedLoad = {
  isRetry: false,
  pauseAppends: async () => {},
  holdMs: undefined,
  keepTurn: () => {},
  answered: () => {},
  failed: () => {},
}

interface SteadyClock {
  nowMs(): number
  /** Time has gone on at least so far, as a timer says. */
  reach(ms: number): void
}

/** The same clock without its steps back: after one, time goes on from where it was. */
function steadyClock(nowMs: () => number): SteadyClock {
  let lastMs = -Infinity
  let aheadMs = 0
  const reach = (ms: number): void => {
    const readMs = nowMs() + aheadMs
    if (readMs < ms) aheadMs += ms - readMs
    lastMs = Math.max(lastMs, readMs, ms)
  }
  return {
    reach,
    nowMs() {
      reach(lastMs)
      return lastMs
    },
  }
}

/*
 * Gathers the swaps that wait at the same moment. One statement is under way at a time; what comes meanwhile goes with
 * the next one, so the busier the database is, the more swaps share its round trip.
 */
import { setImmediate } from 'node:timers/promises'
import { StatementError } from './database-errors.ts'
import { type GroupSwap, swapMany, type SwapVerdict } from './swap-many.ts'
import type { SqlSession } from './sql-session.ts'

interface Waiting {
  readonly swap: GroupSwap
  resolve(verdict: SwapVerdict): void
  reject(error: unknown): void
}

/** Swaps that one statement takes at most. */
export const SWAPS_PER_STATEMENT_MAX = 64

/** Runs swaps as `swapMany` does, those of different tables together. */
export class SwapBatcher {
  readonly #session: SqlSession
  readonly #processId: string
  #waiting: Waiting[] = []
  #isRunning = false

  constructor(session: SqlSession, processId = '') {
    this.#session = session
    this.#processId = processId
  }

  /** The verdicts and errors of `swapMany`. */
  swap(swap: GroupSwap): Promise<SwapVerdict> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ swap, resolve, reject })
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      // An embedded database keeps the event loop from turning while it works: whoever has become ready meanwhile goes along.
      await setImmediate()
      await this.#runBatch(this.#take())
    }
    this.#isRunning = false
  }

  /** The oldest ones, each table once. */
  #take(): readonly Waiting[] {
    const batch = new Map<string, Waiting>()
    const rest: Waiting[] = []
    for (const waiting of this.#waiting) {
      const { tableId } = waiting.swap
      const fits = batch.size < SWAPS_PER_STATEMENT_MAX && !batch.has(tableId)
      if (fits) batch.set(tableId, waiting)
      else rest.push(waiting)
    }
    this.#waiting = rest
    return [...batch.values()]
  }

  async #runBatch(batch: readonly Waiting[]): Promise<void> {
    const swaps = batch.map(({ swap }) => swap)
    try {
      const verdicts = await swapMany(this.#session, swaps, this.#processId)
      verdicts.forEach((verdict, index) => batch[index]?.resolve(verdict))
    } catch (error) {
      // The database refused them together, so nothing applies; alone, each gets its own answer.
      if (error instanceof StatementError && batch.length > 1) {
        for (const one of batch) await this.#runBatch([one])
        return
      }
      for (const { reject } of batch) reject(error)
    }
  }
}

/*
 * Gathers the swaps that wait at the same moment. One statement is under way at a time; what comes meanwhile goes with
 * the next one, so the busier the database is, the more swaps share its round trip.
 */
import { setImmediate } from 'node:timers/promises'
import { StatementError } from './database-errors.ts'
import { swapMany, type SwapVerdict } from './swap-many.ts'
import { type MetadataSwap, swapMetadataLocation } from './swap-metadata-location.ts'
import type { SqlSession } from './sql-session.ts'

type SwapOutcome = 'swapped' | 'stale' | 'missing'

interface Waiting {
  readonly swap: MetadataSwap
  resolve(outcome: SwapOutcome): void
  reject(error: unknown): void
}

/** Swaps that one statement takes at most. */
export const SWAPS_PER_STATEMENT_MAX = 64

/** Runs swaps like swapMetadataLocation does, those of different tables together. */
export class SwapBatcher {
  readonly #session: SqlSession
  #waiting: Waiting[] = []
  #isRunning = false

  constructor(session: SqlSession) {
    this.#session = session
  }

  /** The same outcomes and errors as swapMetadataLocation, for a table that stays at its location. */
  swap(swap: MetadataSwap): Promise<SwapOutcome> {
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
      await runBatch(this.#session, this.#take())
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
}

async function runBatch(session: SqlSession, batch: readonly Waiting[]): Promise<void> {
  if (batch.length === 1) return runAlone(session, batch)
  let verdicts: readonly SwapVerdict[]
  try {
    verdicts = await swapMany(
      session,
      batch.map(({ swap }) => swap),
    )
  } catch (error) {
    // The database refused them together, so nothing applies; alone, each gets its own answer.
    if (error instanceof StatementError) return runAlone(session, batch)
    for (const { reject } of batch) reject(error)
    return
  }
  batch.forEach(({ resolve, reject }, index) => {
    const verdict = verdicts[index]
    if (typeof verdict === 'string') resolve(verdict)
    else reject(verdict)
  })
}

async function runAlone(session: SqlSession, batch: readonly Waiting[]): Promise<void> {
  for (const { swap, resolve, reject } of batch) {
    await swapMetadataLocation(session, swap).then(resolve, reject)
  }
}

/*
 * Gathers the swaps that wait at the same moment. One statement is under way at a time; what comes meanwhile goes with
 * the next one, so the busier the database is, the more swaps share its round trip. A database in this process has no
 * round trip, and a statement by itself costs as much as moving five pointers: there it waits a little while most of the
 * commits that were announced still write their files.
 */
import { setImmediate } from 'node:timers/promises'
import { StatementError } from './database-errors.ts'
import { type DatabaseOrTransaction, isSerial } from './lock-locations.ts'
import { type GroupSwap, swapMany, type SwapVerdict } from './swap-many.ts'

interface Waiting {
  readonly swap: GroupSwap
  resolve(verdict: SwapVerdict): void
  reject(error: unknown): void
}

/** Swaps that one statement takes at most. */
export const SWAPS_PER_STATEMENT_MAX = 64

/** How long the first of them waits for others at most. */
const GATHERING_MS_MAX = 8

/** Runs swaps as `swapMany` does, those of different tables together. */
export class SwapBatcher {
  readonly #session: DatabaseOrTransaction
  readonly #gatheringMsMax: number
  #waiting: Waiting[] = []
  #isRunning = false
  #announcedCount = 0
  #whenMoreCame: (() => void) | undefined

  constructor(session: DatabaseOrTransaction, gatheringMsMax = GATHERING_MS_MAX) {
    this.#session = session
    this.#gatheringMsMax = gatheringMsMax
  }

  /** The verdicts and errors of `swapMany`. */
  swap(swap: GroupSwap): Promise<SwapVerdict> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ swap, resolve, reject })
      if (!this.#isRunning) void this.#run()
      this.#whenMoreCame?.()
    })
  }

  /** Runs what a swap needs first, and lets others wait a little for that swap. */
  async before<T>(prepare: () => Promise<T>): Promise<T> {
    this.#announcedCount += 1
    try {
      return await prepare()
    } finally {
      this.#announcedCount -= 1
      this.#whenMoreCame?.()
    }
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      // An embedded database keeps the event loop from turning while it works: whoever has become ready meanwhile goes along.
      await setImmediate()
      if (this.#isWorthWaiting()) await this.#gather()
      await this.#runBatch(this.#take())
    }
    this.#isRunning = false
  }

  /** With half of them here the others write their files meanwhile, and are the next half. */
  #isWorthWaiting(): boolean {
    const hereCount = this.#waiting.length
    return (
      isSerial(this.#session) &&
      hereCount < this.#announcedCount &&
      hereCount < SWAPS_PER_STATEMENT_MAX
    )
  }

  #gather(): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#whenMoreCame = undefined
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(end, this.#gatheringMsMax)
      this.#whenMoreCame = () => {
        if (!this.#isWorthWaiting()) end()
      }
    })
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
      const verdicts = await swapMany(this.#session, swaps)
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

import { DatabaseUnavailableError } from './database-errors.ts'
import { invariant } from './invariant.ts'
import type { PostgresConnection } from './postgres-connection.ts'

export interface PostgresPoolOptions {
  readonly connectionsMax: number
  readonly openConnection: () => Promise<PostgresConnection>
}

/** How long a caller waits for a connection before it is told that the database is too busy. */
const WAIT_MS_MAX = 15_000

/** A connection is replaced after this time, so that a server behind an address can be moved and memory is given back. */
const CONNECTION_AGE_MS_MAX = 30 * 60_000

interface Slot {
  readonly connection: PostgresConnection
  readonly openedAtMs: number
}

interface Waiter {
  take(slot: Slot | undefined): void
}

/**
 * Lends connections, each to one borrower at a time, in the order of asking; opens them when they are needed and
 * replaces those that were lost. Nothing retries: after an outage the next borrower connects anew.
 */
export class PostgresPool {
  readonly #options: PostgresPoolOptions
  readonly #idle: Slot[] = []
  readonly #waiters = new Set<Waiter>()
  /** Idle, lent and being opened. */
  #count = 0
  #isClosed = false
  #whenUnused: (() => void) | undefined

  constructor(options: PostgresPoolOptions) {
    invariant(options.connectionsMax >= 1, 'a pool holds at least one connection')
    this.#options = options
  }

  /** Runs `work` on a connection of its own. Throws DatabaseUnavailableError when there is none to be had. */
  async use<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const slot = await this.#borrow()
    try {
      return await work(slot.connection)
    } finally {
      this.#giveBack(slot)
    }
  }

  /** Refuses new borrowers, waits for those there are, and closes all connections. */
  async close(): Promise<void> {
    this.#isClosed = true
    const closing = this.#idle.splice(0).map(({ connection }) => connection.close())
    this.#count -= closing.length
    if (this.#count > 0) {
      await new Promise<void>((resolve) => {
        this.#whenUnused = resolve
      })
    }
    await Promise.all(closing)
  }

  async #borrow(): Promise<Slot> {
    if (this.#isClosed)
      throw new DatabaseUnavailableError('the database was closed', { isUnsent: true })
    for (let slot = this.#idle.pop(); slot !== undefined; slot = this.#idle.pop()) {
      if (!slot.connection.isLost) return slot
      this.#count -= 1
    }
    if (this.#count >= this.#options.connectionsMax) return (await this.#wait()) ?? this.#open()
    this.#count += 1
    return this.#open()
  }

  /** The slot of somebody who is done, or undefined: the waiter may open one in its place. */
  #wait(): Promise<Slot | undefined> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        take: (slot) => {
          clearTimeout(timer)
          this.#waiters.delete(waiter)
          resolve(slot)
        },
      }
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter)
        const { connectionsMax } = this.#options
        reject(
          new DatabaseUnavailableError(
            `all ${connectionsMax} connections to the database were busy for ${WAIT_MS_MAX} ms`,
            { isUnsent: true },
          ),
        )
      }, WAIT_MS_MAX)
      this.#waiters.add(waiter)
    })
  }

  /** The new connection is counted already. */
  async #open(): Promise<Slot> {
    try {
      return { connection: await this.#options.openConnection(), openedAtMs: performance.now() }
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  #giveBack(slot: Slot): void {
    const isOld = performance.now() - slot.openedAtMs > CONNECTION_AGE_MS_MAX
    if (slot.connection.isLost || isOld || (this.#isClosed && this.#waiters.size === 0)) {
      if (!slot.connection.isLost) void slot.connection.close()
      this.#leave()
      return
    }
    const next = this.#nextWaiter()
    if (next === undefined) this.#idle.push(slot)
    else next.take(slot)
  }

  /** One connection fewer; whoever waits longest opens another in its place. */
  #leave(): void {
    const next = this.#nextWaiter()
    if (next !== undefined) return next.take(undefined)
    this.#count -= 1
    if (this.#count === 0) this.#whenUnused?.()
  }

  #nextWaiter(): Waiter | undefined {
    return this.#waiters.values().next().value
  }
}

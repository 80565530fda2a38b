import { LRUCache } from 'lru-cache'
import { entriesMax } from '../entries-max.ts'

export interface AgingReadsOptions {
  /** What was read is answered from memory for so long. */
  readonly maxAgeMs: number
  readonly entriesMax: number
  readonly nowMs: () => number
}

interface Remembered {
  readonly value: unknown
  readonly readAtMs: number
}

/**
 * What the database says, remembered for a while. A change by this process is told with `forget`; what another process changed
 * is seen after `maxAgeMs`. Reads of one key at the same time are one; those that fail are not remembered.
 */
export class AgingReads {
  readonly #options: AgingReadsOptions
  readonly #remembered: LRUCache<string, Remembered>
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(options: AgingReadsOptions) {
    this.#options = options
    this.#remembered = new LRUCache(entriesMax(options.entriesMax))
  }

  /** The value of the key, at once when it is in memory. Each key has one kind of value. */
  find<Value>(key: string, read: () => Promise<Value>): Value | Promise<Value> {
    const known = this.#fresh(key)
    if (known !== undefined) return known.value as Value // `as`: see above
    const running = this.#running.get(key)
    if (running !== undefined) return running as Promise<Value> // `as`: see above
    const readAtMs = this.#options.nowMs()
    const reading = read().then(
      (value) => {
        // What is read while somebody forgets may be from before.
        if (this.#end(key, reading)) this.#remembered.set(key, { value, readAtMs })
        return value
      },
      (error: unknown) => {
        this.#end(key, reading)
        throw error
      },
    )
    this.#running.set(key, reading)
    return reading
  }

  /** Whether `find` would answer from memory. */
  remembers(key: string): boolean {
    return this.#fresh(key) !== undefined
  }

  /** Something was changed. */
  forget(): void {
    this.#remembered.clear()
    this.#running.clear()
  }

  #fresh(key: string): Remembered | undefined {
    const known = this.#remembered.get(key)
    if (known === undefined) return undefined
    return this.#options.nowMs() - known.readAtMs <= this.#options.maxAgeMs ? known : undefined
  }

  /** Whether nobody forgot since it was asked. */
  #end(key: string, reading: Promise<unknown>): boolean {
    return this.#running.get(key) === reading && this.#running.delete(key)
  }
}

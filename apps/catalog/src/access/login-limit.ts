import { LRUCache } from 'lru-cache'
import { entriesMax } from '../entries-max.ts'

/** Failures of one source within `WINDOW_MS`, after which it is refused unheard until the window is over. */
const FAILURES_MAX = 10
const WINDOW_MS = 60_000
const SOURCES_MAX = 10_000

interface Failures {
  count: number
  readonly sinceMs: number
}

/** Counts failed logins by source: an address together with the client id that it named. */
export class LoginLimit {
  readonly #nowMs: () => number
  readonly #failures = new LRUCache<string, Failures>(entriesMax(SOURCES_MAX))

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** How long the source must wait; 0: it may try. */
  waitMs(source: string): number {
    const failures = this.#current(source)
    if (failures === undefined || failures.count < FAILURES_MAX) return 0
    return failures.sinceMs + WINDOW_MS - this.#nowMs()
  }

  fail(source: string): void {
    const failures = this.#current(source)
    if (failures === undefined) this.#failures.set(source, { count: 1, sinceMs: this.#nowMs() })
    else failures.count += 1
  }

  #current(source: string): Failures | undefined {
    const failures = this.#failures.get(source)
    if (failures === undefined || this.#nowMs() - failures.sinceMs >= WINDOW_MS) return undefined
    return failures
  }
}

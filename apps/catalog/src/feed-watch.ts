import { TooManyFollowersError } from './catalog/catalog-errors.ts'

export interface FeedWatchOptions {
  /** A text that changes whenever there are more events. */
  readHead(): Promise<string>
  delay(ms: number, signal?: AbortSignal): Promise<void>
  /** Between two looks, while somebody waits. */
  readonly pollMs: number
  /** Callers that follow the feed at the same time. */
  readonly followersMax: number
}

/**
 * Tells those who follow the feed that there may be more: one look at the database for all of them, and none while nobody
 * waits. Other processes write events too, so looking is the only way; a notification in each commit would make commits
 * wait for each other.
 */
export class FeedWatch {
  readonly #options: FeedWatchOptions
  readonly #stop = new AbortController()
  readonly #wakes = new Set<() => void>()
  #generation = 0
  #head: string | undefined
  #isLooking = false
  #followerCount = 0

  constructor(options: FeedWatchOptions) {
    this.#options = options
  }

  /** Aborts when the server stops. */
  get stopped(): AbortSignal {
    return this.#stop.signal
  }

  /** Changes whenever more was seen; ask before reading what is there. */
  get generation(): number {
    return this.#generation
  }

  /** Callers that follow the feed now. */
  get followerCount(): number {
    return this.#followerCount
  }

  /** Counts a caller in until it calls what it gets. Throws TooManyFollowersError. */
  enter(): () => void {
    const { followersMax } = this.#options
    if (this.#followerCount >= followersMax) throw new TooManyFollowersError(followersMax)
    this.#followerCount += 1
    let isIn = true
    return () => {
      if (isIn) this.#followerCount -= 1
      isIn = false
    }
  }

  /** Resolves when more was seen than at that generation, or when the signal aborts. May resolve without reason. */
  async changedSince(generation: number, signal: AbortSignal): Promise<void> {
    if (this.#generation !== generation || signal.aborted) return
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#wakes.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#wakes.add(wake)
      signal.addEventListener('abort', wake)
      if (!this.#isLooking) void this.#look()
    })
  }

  /** Ends all waiting. */
  stop(): void {
    this.#stop.abort()
    this.#wakeAll()
  }

  async #look(): Promise<void> {
    const { readHead, delay, pollMs } = this.#options
    this.#isLooking = true
    while (this.#wakes.size > 0) {
      // A look that fails wakes everybody: they look for themselves and learn what is wrong.
      const head = await readHead().catch(() => undefined)
      if (head === undefined || head !== this.#head) this.#wakeAll()
      this.#head = head
      if (this.#wakes.size > 0) await delay(pollMs, this.stopped)
    }
    this.#isLooking = false
  }

  #wakeAll(): void {
    this.#generation += 1
    for (const wake of [...this.#wakes]) wake()
  }
}

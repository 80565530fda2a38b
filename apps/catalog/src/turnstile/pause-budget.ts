/** A strict commit keeps appends waiting for this long at most. */
export const PAUSE_MS_MAX = 1_000
/** And all strict commits of a table together for this share of the time. */
export const PAUSE_SHARE_MAX = 0.2
/** Less is of no use to anybody. */
export const PAUSE_MS_MIN = 20

/** How long the appends of one table may be kept waiting for its strict commits: a share of the time that goes by. */
export class PauseBudget {
  #leftMs = PAUSE_MS_MAX
  #atMs: number

  constructor(nowMs: number) {
    this.#atMs = nowMs
  }

  /** Takes what there is of the wish; 0 when that is of no use. */
  take(wishMs: number, nowMs: number): number {
    this.#refill(nowMs)
    const takenMs = Math.min(wishMs, PAUSE_MS_MAX, this.#leftMs)
    if (takenMs < PAUSE_MS_MIN) return 0
    this.#leftMs -= takenMs
    return takenMs
  }

  /** Puts back what was not used of it. */
  giveBack(unusedMs: number): void {
    this.#leftMs = Math.min(PAUSE_MS_MAX, this.#leftMs + unusedMs)
  }

  isFull(nowMs: number): boolean {
    this.#refill(nowMs)
    return this.#leftMs >= PAUSE_MS_MAX
  }

  #refill(nowMs: number): void {
    const earnedMs = (nowMs - this.#atMs) * PAUSE_SHARE_MAX
    this.#leftMs = Math.min(PAUSE_MS_MAX, this.#leftMs + earnedMs)
    this.#atMs = nowMs
  }
}

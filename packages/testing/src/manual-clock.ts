export interface ManualClock {
  nowMs(): number
  /** Lets time pass; never backwards. */
  advance(byMs: number): void
}

/** A clock that stands still until it is moved. */
export function manualClock(startMs = 1_700_000_000_000): ManualClock {
  let currentMs = startMs
  return {
    nowMs: () => currentMs,
    advance(byMs) {
      if (byMs < 0) throw new RangeError(`a clock cannot go back by ${-byMs} ms`)
      currentMs += byMs
    },
  }
}

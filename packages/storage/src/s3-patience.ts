/*
 * How often a call that may be made twice is made, and what is waited in between.
 */
import { setTimeout } from 'node:timers/promises'

export const ATTEMPTS_MAX = 4
/** No attempt begins later than this after the first one. */
const ATTEMPTS_WINDOW_MS = 45_000
const FIRST_PAUSE_MS = 50
const PAUSE_MS_MAX = 2_000

export interface PatienceOptions {
  readonly nowMs: () => number
  /** A number from 0 up to 1, for the length of pauses. */
  readonly random: () => number
}

export interface Patience {
  /** Waits, and answers true when the call may be made once more. Throws the signal's reason. */
  pause(options?: { askedMs?: number; signal?: AbortSignal | undefined }): Promise<boolean>
}

/** Patience for one call that is being made for the first time. */
export function newPatience({ nowMs, random }: PatienceOptions): Patience {
  const startedMs = nowMs()
  let attempt = 1
  return {
    async pause({ askedMs = 0, signal } = {}) {
      if (attempt >= ATTEMPTS_MAX || nowMs() - startedMs > ATTEMPTS_WINDOW_MS) return false
      // Somewhere below a bound that doubles, so that clients that failed together do not come back together.
      const boundMs = Math.min(FIRST_PAUSE_MS * 2 ** attempt, PAUSE_MS_MAX)
      const pauseMs = Math.max(random() * boundMs, Math.min(askedMs, PAUSE_MS_MAX))
      attempt += 1
      signal?.throwIfAborted()
      await setTimeout(pauseMs, undefined, { signal }).catch((error: unknown) => {
        signal?.throwIfAborted()
        throw error
      })
      return true
    },
  }
}

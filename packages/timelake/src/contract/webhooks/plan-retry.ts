/** What became of one attempt to hand an event to a receiver. */
export type SendOutcome =
  | { readonly outcome: 'delivered' }
  /** The receiver answered that it does not take this event (3xx, 4xx): the others are none of its business. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** The receiver failed at this event (5xx); others may get through. */
  | { readonly outcome: 'failed'; readonly reason: string }
  /** Nobody answered, or the answer says that nothing gets through now. */
  | { readonly outcome: 'away'; readonly reason: string; readonly retryAfterMs?: number }
  /** The receiver never wants anything again (410). */
  | { readonly outcome: 'gone'; readonly reason: string }

/** How long a webhook is patient with an event. */
export interface RetryPolicy {
  /** Refusals after which an event is given up. */
  readonly attemptsMax: number
  /** Age since the first attempt at which an event is given up, whatever the reason. */
  readonly retryForMs: number
}

const FIRST_PAUSE_MS = 1_000
const PAUSE_GROWTH = 2
const PAUSE_MS_MAX = 300_000
const RETRY_AFTER_MS_MAX = 3_600_000
/** The exponent from which on every pause is the longest one. */
const GROWTHS_MAX = 20

/**
 * The pause before the next attempt, in milliseconds: doubled with each failure up to five minutes, of which chance takes
 * away up to a half, so that receivers that come back are not met by everybody at once. What the receiver asked for
 * counts instead, up to an hour. `random` is from 0 to 1.
 */
export function retryPauseMs(failureCount: number, random: number, retryAfterMs?: number): number {
  if (retryAfterMs !== undefined) return Math.min(Math.max(0, retryAfterMs), RETRY_AFTER_MS_MAX)
  const growths = Math.min(GROWTHS_MAX, Math.max(0, failureCount - 1))
  const pauseMs = Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * PAUSE_GROWTH ** growths)
  return Math.round(pauseMs * (1 - random / 2))
}

/** Whether an event is given up after this attempt. A receiver that is away is waited for by age alone. */
export function isGivenUp(
  { outcome }: SendOutcome,
  tried: {
    /** With this one. */
    readonly attempts: number
    readonly firstAttemptAtMs: number
    readonly nowMs: number
  },
  { attemptsMax, retryForMs }: RetryPolicy,
): boolean {
  if (outcome === 'delivered' || outcome === 'gone') return false
  const isTooOld = tried.nowMs - tried.firstAttemptAtMs >= retryForMs
  return isTooOld || (outcome === 'refused' && tried.attempts >= attemptsMax)
}

/** What an HTTP status says. `retryAfter` is the header's text; dates in it are not read. */
export function outcomeOfStatus(status: number, retryAfter: string | undefined): SendOutcome {
  if (status >= 200 && status < 300) return { outcome: 'delivered' }
  const reason = `the receiver answered ${status}`
  if (status === 410) return { outcome: 'gone', reason }
  if (AWAY_STATUSES.has(status)) {
    const seconds = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined
    const isAsked = seconds !== undefined && ASKING_STATUSES.has(status)
    return { outcome: 'away', reason, ...(isAsked ? { retryAfterMs: seconds * 1_000 } : {}) }
  }
  return { outcome: status >= 500 ? 'failed' : 'refused', reason }
}

/** Too early, too many, or a gateway whose receiver is away. */
const AWAY_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504])
const ASKING_STATUSES: ReadonlySet<number> = new Set([429, 503])

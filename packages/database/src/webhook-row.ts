/** The place before the oldest event that is kept, whichever that is. */
export const FEED_START = 'start'

/** A webhook: what an operator says of it, and how far the sending is. */
export interface WebhookRow {
  readonly id: string
  readonly name: string
  /** May hold a token: shown to operators, never logged. */
  readonly url: string
  /** JSON text. */
  readonly filter: string
  /** Never shown, never logged. */
  readonly sealedSecret: string
  /** The secret before, with which is signed as well until `oldSecretUntilMs`. */
  readonly sealedOldSecret: string | undefined
  readonly oldSecretUntilMs: number | undefined
  readonly attemptsMax: number
  readonly retryForMs: number
  /** Counts the changes that operators made. */
  readonly version: bigint
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** Present while nothing is sent. */
  readonly pausedReason: string | undefined
  /** A cursor of the feed or FEED_START: what lies before it was delivered, waits, or does not pass the filter. */
  readonly feedCursor: string
  /** Counts how often somebody else than the sender changed what is to be sent. */
  readonly placeVersion: bigint
  /** Failures of the receiver in a row. */
  readonly failureCount: number
  readonly failingSinceMs: number | undefined
  /** Nothing is sent before. */
  readonly nextAttemptAtMs: number
  readonly lastFailure: string | undefined
  readonly lastFailedAtMs: number | undefined
  readonly lastDeliveredAtMs: number | undefined
  readonly deliveredCount: bigint
  /** When events were found to be pruned before they were sent. */
  readonly eventsLostAtMs: number | undefined
  /** How many those were, all times together. */
  readonly eventsLost: bigint
  /** The trial that an operator asked for last. */
  readonly testId: string | undefined
  /** JSON text, once the trial is over. */
  readonly testOutcome: string | undefined
}

export interface WebhookRecord {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly filter: string
  readonly sealed_secret: string
  readonly sealed_old_secret: string | null
  readonly old_secret_until_ms: bigint | null
  readonly attempts_max: number
  readonly retry_for_ms: bigint
  readonly version: bigint
  readonly created_at_ms: bigint
  readonly updated_at_ms: bigint
  readonly paused_reason: string | null
  readonly feed_cursor: string
  readonly place_version: bigint
  readonly failure_count: number
  readonly failing_since_ms: bigint | null
  readonly next_attempt_at_ms: bigint
  readonly last_failure: string | null
  readonly last_failed_at_ms: bigint | null
  readonly last_delivered_at_ms: bigint | null
  readonly delivered_count: bigint
  readonly events_lost_at_ms: bigint | null
  readonly events_lost: bigint
  readonly test_id: string | null
  readonly test_outcome: string | null
}

/** A webhook of its columns. */
export function webhookRowOf(record: WebhookRecord): WebhookRow {
  return {
    id: record.id,
    name: record.name,
    url: record.url,
    filter: record.filter,
    sealedSecret: record.sealed_secret,
    sealedOldSecret: record.sealed_old_secret ?? undefined,
    oldSecretUntilMs: msOf(record.old_secret_until_ms),
    attemptsMax: record.attempts_max,
    retryForMs: Number(record.retry_for_ms),
    version: record.version,
    createdAtMs: Number(record.created_at_ms),
    updatedAtMs: Number(record.updated_at_ms),
    pausedReason: record.paused_reason ?? undefined,
    feedCursor: record.feed_cursor,
    placeVersion: record.place_version,
    failureCount: record.failure_count,
    failingSinceMs: msOf(record.failing_since_ms),
    nextAttemptAtMs: Number(record.next_attempt_at_ms),
    lastFailure: record.last_failure ?? undefined,
    lastFailedAtMs: msOf(record.last_failed_at_ms),
    lastDeliveredAtMs: msOf(record.last_delivered_at_ms),
    deliveredCount: record.delivered_count,
    eventsLostAtMs: msOf(record.events_lost_at_ms),
    eventsLost: record.events_lost,
    testId: record.test_id ?? undefined,
    testOutcome: record.test_outcome ?? undefined,
  }
}

/** Milliseconds of a column that may be null. */
export function msOf(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value)
}

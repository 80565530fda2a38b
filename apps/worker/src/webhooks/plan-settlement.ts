import type { ReceiverState } from '@timelake/database/webhook-sending'
import type { WebhookRow } from '@timelake/database/webhook-row'
import type { WebhookDelivery } from '@timelake/database/webhooks'
import {
  isGivenUp,
  retryPauseMs,
  type SendOutcome,
} from '@timelake/timelake/contract/webhooks/plan-retry'
import { FAILING_SUBJECTS_MAX, type Attempt } from './deliver-batch.ts'

export interface Settled {
  readonly deliveredIds: readonly string[]
  readonly kept: readonly WebhookDelivery[]
  /** Absent when nothing was sent. */
  readonly receiver: ReceiverState | undefined
}

export interface SettlementInput {
  readonly webhook: WebhookRow
  /** In the order in which they were to be sent. */
  readonly events: readonly WebhookDelivery[]
  readonly attempts: ReadonlyMap<string, Attempt>
  readonly nowMs: number
  /** From 0 to 1. */
  random(): number
}

/** What is to be written down of a pass: what was delivered, what waits for when, what is given up, and how the receiver is. */
export function planSettlement(input: SettlementInput): Settled {
  const tried = input.events.map((event) => ({
    event,
    attempt: input.attempts.get(event.eventId) ?? { outcome: 'unsent' as const },
  }))
  return {
    deliveredIds: tried
      .filter(({ attempt }) => attempt.outcome === 'delivered')
      .map(({ event }) => event.eventId),
    kept: tried
      .filter(({ attempt }) => attempt.outcome !== 'delivered')
      .map(({ event, attempt }) => keptEvent(event, attempt, input)),
    receiver: receiverState(
      tried.map(({ attempt }) => attempt).filter(({ outcome }) => outcome !== 'unsent'),
      input,
    ),
  }
}

function keptEvent(
  event: WebhookDelivery,
  attempt: Attempt,
  { webhook, nowMs, random }: SettlementInput,
): WebhookDelivery {
  if (attempt.outcome === 'unsent' || attempt.outcome === 'gone') return event
  const tried = {
    attempts: event.attempts + 1,
    firstAttemptAtMs: event.firstAttemptAtMs ?? nowMs,
  }
  // A receiver that is away holds up all events together.
  const pauseMs = attempt.outcome === 'away' ? 0 : retryPauseMs(tried.attempts, random())
  const isDead = isGivenUp(attempt, { ...tried, nowMs }, webhook)
  return {
    ...event,
    ...tried,
    nextAttemptAtMs: nowMs + pauseMs,
    lastFailure: failureOf(attempt),
    givenUpAtMs: isDead ? nowMs : undefined,
  }
}

function receiverState(
  attempts: readonly Attempt[],
  { webhook, nowMs, random }: SettlementInput,
): ReceiverState | undefined {
  if (attempts.length === 0) return undefined
  const failures = attempts.map(failureOf).filter((reason) => reason !== undefined)
  const lastFailure = failures.at(-1)
  const gone = attempts.find(({ outcome }) => outcome === 'gone')
  const away = attempts.find((attempt) => attempt.outcome === 'away')
  const hasDelivered = attempts.some(({ outcome }) => outcome === 'delivered')
  const isDown = away !== undefined || (!hasDelivered && failures.length >= FAILING_SUBJECTS_MAX)
  const failureCount = isDown ? (hasDelivered ? 0 : webhook.failureCount) + 1 : 0
  const pauseMs = retryPauseMs(failureCount, random(), away?.retryAfterMs)
  return {
    failureCount,
    nextAttemptAtMs: isDown ? nowMs + pauseMs : 0,
    lastFailure,
    pausedReason: gone === undefined ? undefined : failureOf(gone),
  }
}

function failureOf(attempt: Attempt | SendOutcome): string | undefined {
  return 'reason' in attempt ? attempt.reason : undefined
}

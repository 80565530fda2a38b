import type { EventKind } from '@timelake/database/outbox'
import type { WebhookFilter } from '@timelake/timelake/contract/webhooks/webhook-filter'

/** A webhook that somebody wants. Holds secrets: never log it. */
export interface WebhookDraft {
  readonly name: string
  readonly url: URL
  readonly filter: WebhookFilter<EventKind>
  readonly policy: WebhookPolicy
  /** Undefined: the server makes one. */
  readonly key: Uint8Array | undefined
  /** A cursor or `start`; undefined: from now on. */
  readonly after: string | undefined
}

/** How long a receiver is waited for. */
export interface WebhookPolicy {
  readonly attemptsMax: number
  readonly retryForMs: number
}

/** What is to be different in a webhook; undefined: as it is. Holds secrets: never log it. */
export interface WebhookChange {
  /** The version that the change was made from; undefined: whatever it is now. */
  readonly expectedVersion?: bigint | undefined
  readonly url?: URL | undefined
  readonly filter?: WebhookFilter<EventKind> | undefined
  readonly attemptsMax?: number | undefined
  readonly retryForMs?: number | undefined
  /** `null`: not paused any more. */
  readonly pausedReason?: string | null
  readonly rotation?: SecretRotation | undefined
}

/** A new secret, beside which the one before signs for a while. */
export interface SecretRotation {
  readonly key: Uint8Array
  readonly oldSecretForMs: number
}

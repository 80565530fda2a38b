import type { AddressRange } from '@timelake/timelake/contract/webhooks/address-ranges'

/** What an operator may set. `…Ms` are milliseconds. */
export interface WebhookConfig {
  /** Between looks for events. */
  readonly intervalMs: number
  /** A sender that does not renew for this long is taken to be dead. */
  readonly leaseMs: number
  /** For one attempt, to the status of the answer. */
  readonly timeoutMs: number
  /** Events of one pass. */
  readonly batchMax: number
  /** Events that may wait for one webhook; at that many the feed is not read further. */
  readonly waitingMax: number
  /** Tables at the same time, for each webhook. */
  readonly concurrency: number
  /** Dead letters are forgotten after this time. */
  readonly deadLetterMsMax: number
  /** An idle webhook's place is written down this often, so that the events before it can be pruned. */
  readonly idleSaveMs: number
  /** Whether no other process sends: then whoever held a webhook before the start is dead. */
  readonly isOnlySender: boolean
  /** Ranges of addresses that may be reached beside public ones. */
  readonly allowedAddresses: readonly AddressRange[]
}

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** The settings of a sender that reaches public addresses only. */
export const defaultWebhookConfig: WebhookConfig = {
  intervalMs: 500,
  leaseMs: MINUTE_MS,
  timeoutMs: 10 * SECOND_MS,
  batchMax: 100,
  waitingMax: 1_000,
  concurrency: 4,
  deadLetterMsMax: 30 * DAY_MS,
  idleSaveMs: 10 * MINUTE_MS,
  isOnlySender: false,
  allowedAddresses: [],
}

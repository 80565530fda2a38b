import type { Database } from '@timelake/database/sql-session'
import {
  dueDeliveries,
  leaseWebhook,
  recordWebhookTest,
  settleWebhook,
  waitingSubjects,
  type WebhookSettlement,
} from '@timelake/database/webhook-sending'
import { FEED_START, type WebhookRow } from '@timelake/database/webhook-row'
import type { WebhookDelivery } from '@timelake/database/webhooks'
import { invariant } from '@timelake/iceberg/spec/invariant'
import { printJson } from '@timelake/iceberg/spec/json'
import type { SecretBox } from '@timelake/storage/secret-box'
import type { ReachFaultPoint } from '@timelake/timelake/contract/fault-points'
import {
  CLOUD_EVENT_MEDIA_TYPE,
  testEventText,
} from '@timelake/timelake/contract/webhooks/cloud-event'
import type { SendOutcome } from '@timelake/timelake/contract/webhooks/plan-retry'
import type { Logger } from 'pino'
import type { Changes } from './ask-for-changes.ts'
import { deliverBatch, type Attempt } from './deliver-batch.ts'
import { openKeys } from './open-keys.ts'
import { planSettlement } from './plan-settlement.ts'
import type { Poster } from './post-event.ts'
import { readNews } from './read-news.ts'
import { signEvent } from './sign-event.ts'
import type { WebhookConfig } from './webhook-config.ts'
import type { WebhookMetrics } from './webhook-metrics.ts'

/** What all passes of one sender share. */
export interface WebhookSender {
  readonly config: WebhookConfig
  readonly database: Database
  readonly secretBox: SecretBox
  readonly poster: Poster
  readonly changes: Changes
  readonly metrics: WebhookMetrics
  readonly log: Logger
  /** Unique to this sender. */
  readonly holder: string
  /** Aborts when the sender stops: nothing further is begun. */
  readonly signal: AbortSignal
  readonly reachFaultPoint: ReachFaultPoint
  nowMs(): number
  random(): number
}

/**
 * `again`: there may be more to do at once. `at-end`: all events that are there are settled. `held`: another sender works for
 * the webhook, or the receiver does not take what is there.
 */
export type PassOutcome = 'again' | 'at-end' | 'held'

/**
 * One pass for one webhook: a trial if one was asked for, then waiting events that are due, then a batch of the feed. What
 * was done is written down in one step at the end of each; a crash before it repeats the batch, under the same event ids.
 */
export async function sendWebhook(sender: WebhookSender, webhookId: string): Promise<PassOutcome> {
  const webhook = await hold(sender, webhookId)
  if (webhook === undefined) return 'held'
  const pass: Pass = {
    sender,
    webhook,
    keys: openKeys(sender, webhook),
    heldUntilMs: holdEnd(sender),
  }
  await runTest(pass)
  if (webhook.pausedReason !== undefined || webhook.nextAttemptAtMs > sender.nowMs()) return 'held'
  const waited = await sendDue(pass)
  if (waited === 'held') return 'held'
  return sendNews(pass)
}

interface Pass {
  readonly sender: WebhookSender
  /** As it was when the lease was taken. */
  readonly webhook: WebhookRow
  /** Undefined when the secret does not open in this process. */
  readonly keys: readonly Uint8Array[] | undefined
  /** Until then the lease is certainly this sender's. */
  heldUntilMs: number
}

function hold(
  { database, holder, nowMs, config }: WebhookSender,
  webhookId: string,
): Promise<WebhookRow | undefined> {
  return leaseWebhook(database, { webhookId, holder, nowMs: nowMs(), leaseMs: config.leaseMs })
}

function holdEnd({ nowMs, config }: WebhookSender): number {
  return nowMs() + config.leaseMs
}

async function runTest({ sender, webhook, keys }: Pass): Promise<void> {
  const { id: webhookId, testId } = webhook
  if (testId === undefined || webhook.testOutcome !== undefined) return
  const startedMs = sender.nowMs()
  const body = testEventText({ id: testId, webhook: webhook.name, nowMs: startedMs })
  const sent = await send({ sender, webhook, keys }, { eventId: testId, body })
  const outcome = printJson({
    delivered: sent.outcome === 'delivered',
    reason: 'reason' in sent ? sent.reason : null,
    'took-ms': BigInt(sender.nowMs() - startedMs),
  })
  await recordWebhookTest(sender.database, { webhookId, testId, outcome })
}

/** Waiting events whose turn has come. */
async function sendDue(pass: Pass): Promise<'done' | 'held'> {
  const { sender, webhook } = pass
  const due = await dueDeliveries(sender.database, {
    webhookId: webhook.id,
    nowMs: sender.nowMs(),
    limit: sender.config.batchMax,
  })
  if (due.length === 0) return 'done'
  const attempts = await deliver(pass, due)
  return settle(pass, { events: due, attempts })
}

/** What the feed has behind the webhook's place. Events behind a waiting one of their subject wait too. */
async function sendNews(pass: Pass): Promise<PassOutcome> {
  const { sender, webhook } = pass
  const { database, config } = sender
  const waiting = await waitingSubjects(database, { webhookId: webhook.id })
  const waitingCount = [...waiting.values()].reduce((sum, count) => sum + count, 0)
  if (waitingCount >= config.waitingMax) return 'held'
  const news = await readNews({ ...sender, limit: config.batchMax }, webhook)
  if (news.outcome === 'lost') return skipLostEvents(pass)
  const { events, cursor: feedCursor, isAtEnd } = news
  const fresh = events.filter(({ subject }) => !waiting.has(subject))
  const attempts = await deliver(pass, fresh)
  const settled = await settle(pass, { events, attempts, feedCursor })
  if (settled === 'held') return 'held'
  return isAtEnd ? 'at-end' : 'again'
}

/** The events at the webhook's place were pruned: it goes on with the oldest that are kept, and says so. */
async function skipLostEvents(pass: Pass): Promise<PassOutcome> {
  const { log, metrics } = pass.sender
  metrics.lostPlaces.inc()
  log.error({ webhook: pass.webhook.name }, 'events were pruned before the webhook sent them')
  const place = { feedCursor: FEED_START, hasLostEvents: true }
  return (await settle(pass, { events: [], attempts: new Map(), ...place })) === 'held'
    ? 'held'
    : 'again'
}

function deliver(
  pass: Pass,
  events: readonly WebhookDelivery[],
): Promise<ReadonlyMap<string, Attempt>> {
  return deliverBatch(events, {
    concurrency: pass.sender.config.concurrency,
    send: (event) => send(pass, event),
    mayGoOn: () => mayGoOn(pass),
  })
}

/** Whether the sender goes on and holds the webhook for as long as an attempt takes, after a renewal if need be. */
async function mayGoOn(pass: Pass): Promise<boolean> {
  const { sender, webhook } = pass
  if (sender.signal.aborted) return false
  if (sender.nowMs() + sender.config.timeoutMs < pass.heldUntilMs) return true
  const heldUntilMs = holdEnd(sender)
  if ((await hold(sender, webhook.id)) === undefined) return false
  pass.heldUntilMs = heldUntilMs
  return true
}

async function send(
  { sender, webhook, keys }: Pick<Pass, 'sender' | 'webhook' | 'keys'>,
  { eventId, body }: Pick<WebhookDelivery, 'eventId' | 'body'>,
): Promise<SendOutcome> {
  const sent = await attempt()
  sender.metrics.attempts.inc({ outcome: sent.outcome })
  return sent

  async function attempt(): Promise<SendOutcome> {
    if (keys === undefined) return SECRET_CLOSED
    invariant(URL.canParse(webhook.url), `webhook ${webhook.name} has a URL`)
    const signed = signEvent({ id: eventId, nowMs: sender.nowMs(), body, keys })
    const headers = { 'content-type': CLOUD_EVENT_MEDIA_TYPE, 'user-agent': 'Timelake', ...signed }
    return sender.poster.post({ url: new URL(webhook.url), headers, body })
  }
}

const SECRET_CLOSED: SendOutcome = {
  outcome: 'away',
  reason: 'the secret does not open with TIMELAKE_SECRET_KEY of this process',
}

interface Work {
  readonly events: readonly WebhookDelivery[]
  readonly attempts: ReadonlyMap<string, Attempt>
  readonly feedCursor?: string
  readonly hasLostEvents?: boolean
}

async function settle(pass: Pass, work: Work): Promise<'done' | 'held'> {
  const { sender, webhook } = pass
  const { events, attempts, ...place } = work
  const { nowMs, random, holder, metrics, log } = sender
  sender.reachFaultPoint('webhooks.sent')
  const planned = planSettlement({ webhook, events, attempts, nowMs: nowMs(), random })
  const dead = planned.kept.filter(({ givenUpAtMs }) => givenUpAtMs !== undefined)
  const settlement: WebhookSettlement = {
    webhookId: webhook.id,
    holder,
    placeVersion: webhook.placeVersion,
    version: webhook.version,
    nowMs: nowMs(),
    ...place,
    ...planned,
  }
  if ((await settleWebhook(sender.database, settlement)) === 'lost') return 'held'
  metrics.deadLetters.inc(dead.length)
  for (const { eventId, lastFailure } of dead) {
    log.warn({ webhook: webhook.name, eventId, reason: lastFailure }, 'event given up')
  }
  const { receiver } = planned
  return receiver !== undefined &&
    (receiver.failureCount > 0 || receiver.pausedReason !== undefined)
    ? 'held'
    : 'done'
}

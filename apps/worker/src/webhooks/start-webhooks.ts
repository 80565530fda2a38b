import { feedHead, openFeed } from '@timelake/database/feed'
import type { Database } from '@timelake/database/sql-session'
import {
  endWebhookLeases,
  pruneDeadLetters,
  sendableWebhooks,
  type SendableWebhook,
} from '@timelake/database/webhook-sending'
import type { SendRequest } from '@timelake/iceberg/io/rest-catalog'
import type { SecretBox } from '@timelake/storage/secret-box'
import type { ReachFaultPoint } from '@timelake/timelake/contract/fault-points'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { repeat } from '../repeat.ts'
import { openChanges } from './ask-for-changes.ts'
import { openPoster, resolveHost } from './post-event.ts'
import { sendWebhook, type WebhookSender } from './send-webhook.ts'
import { defaultWebhookConfig, type WebhookConfig } from './webhook-config.ts'
import { makeWebhookMetrics } from './webhook-metrics.ts'

export interface WebhooksOptions {
  readonly config: Partial<WebhookConfig>
  readonly context: WebhooksContext
}

/** The outside world of the sender. */
export interface WebhooksContext {
  readonly database: Database
  readonly secretBox: SecretBox
  nowMs(): number
  newUuid(): string
  /** From 0 to 1, for pauses. */
  random(): number
  readonly log: Logger
  readonly registry: Registry
  readonly reachFaultPoint: ReachFaultPoint
  /** The catalog: a function in the same process, or `fetch`. */
  readonly catalogFetch: SendRequest
  /** Where `catalogFetch` finds the catalog. Default: a name that a catalog in the same process ignores. */
  readonly catalogUri?: string
  readonly catalogToken?: string
  /** The addresses of a host name; default: the resolver of this machine. */
  readonly resolveHost?: (host: string) => Promise<readonly string[]>
}

export interface RunningWebhooks {
  /** Lets attempts that have begun finish, and hands the webhooks over to other senders. */
  stop(): Promise<void>
}

const PRUNE_INTERVAL_MS = 60_000
const PRUNE_ROWS_MAX = 1_000

/**
 * Sends events to webhooks until `stop`, beside other processes that do the same: each webhook is one sender's at a time. It
 * needs the database and nothing else. Rejects when the feed cannot be opened.
 */
export async function startWebhooks({
  config,
  context,
}: WebhooksOptions): Promise<RunningWebhooks> {
  const { database, newUuid, log } = context
  const whole = { ...defaultWebhookConfig, ...config }
  await openFeed(database, { id: newUuid() })
  if (whole.isOnlySender) await endWebhookLeases(database, { holder: undefined })
  const stopping = new AbortController()
  const poster = openPoster({ ...whole, resolveHost: context.resolveHost ?? resolveHost })
  const sender: WebhookSender = {
    ...context,
    config: whole,
    poster,
    changes: openChanges(context),
    metrics: makeWebhookMetrics(context),
    holder: newUuid(),
    signal: stopping.signal,
  }
  const rounds = makeRounds(sender)
  const loop = repeat(() => rounds.begin(), {
    intervalMs: whole.intervalMs,
    onError: (error) => log.error({ err: error }, 'looking for webhooks failed; it is tried again'),
  })
  return {
    async stop() {
      stopping.abort(new Error('the sender is stopping'))
      await loop.stop()
      await rounds.ended()
      poster.close()
      // Without the database the leases run out by themselves.
      await endWebhookLeases(database, sender).catch(() => {})
    },
  }
}

interface Rounds {
  /** Looks for work and begins it; waits for none of it. */
  begin(): Promise<'wait'>
  ended(): Promise<void>
}

interface Seen {
  /** The head of the feed when all before it was settled. */
  readonly head: string
  readonly placeVersion: bigint
  readonly atMs: number
}

function makeRounds(sender: WebhookSender): Rounds {
  const { database, config, nowMs, log } = sender
  const running = new Map<string, Promise<void>>()
  const seen = new Map<string, Seen>()
  let prunedAtMs = 0

  const run = async (webhook: SendableWebhook, head: string): Promise<void> => {
    const { id, name, placeVersion } = webhook
    try {
      const startedMs = nowMs()
      const outcome = await sendAll(sender, id)
      if (outcome === 'at-end') seen.set(id, { head, placeVersion, atMs: startedMs })
    } catch (error) {
      log.error({ err: error, webhook: name }, 'sending failed; it is tried again')
    } finally {
      running.delete(id)
    }
  }
  return {
    async begin() {
      const webhooks = await sendableWebhooks(database)
      const head = webhooks.length === 0 ? '' : await feedHead(database)
      for (const webhook of webhooks) {
        const isIdle = !hasWork(webhook, { seen: seen.get(webhook.id), head, sender })
        if (isIdle || running.has(webhook.id)) continue
        running.set(webhook.id, run(webhook, head))
      }
      if (nowMs() - prunedAtMs >= PRUNE_INTERVAL_MS) {
        prunedAtMs = nowMs()
        const givenUpBeforeMs = prunedAtMs - config.deadLetterMsMax
        await pruneDeadLetters(database, { givenUpBeforeMs, limit: PRUNE_ROWS_MAX })
      }
      return 'wait'
    },
    async ended() {
      await Promise.all(running.values())
    },
  }
}

async function sendAll(sender: WebhookSender, webhookId: string): Promise<'at-end' | 'held'> {
  for (;;) {
    const outcome = await sendWebhook(sender, webhookId)
    if (outcome !== 'again') return outcome
    if (sender.signal.aborted) return 'held'
  }
}

function hasWork(
  webhook: SendableWebhook,
  now: { readonly seen: Seen | undefined; readonly head: string; readonly sender: WebhookSender },
): boolean {
  const { testId, testOutcome, pausedReason, nextAttemptAtMs, dueAtMs } = webhook
  if (testId !== undefined && testOutcome === undefined) return true
  const nowMs = now.sender.nowMs()
  if (pausedReason !== undefined || nextAttemptAtMs > nowMs) return false
  if (dueAtMs !== undefined && dueAtMs <= nowMs) return true
  const { seen } = now
  if (seen === undefined || seen.head !== now.head) return true
  if (seen.placeVersion !== webhook.placeVersion) return true
  return nowMs - seen.atMs >= now.sender.config.idleSaveMs
}

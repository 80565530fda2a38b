/*
 * Webhooks as operators see them: where events are sent to, signed, and what became of events that a receiver did not take.
 * webhook-sending.ts is the senders' side. Whatever changes what is to be sent raises place_version, so that a sender that
 * works meanwhile finds its own result out of date and sends again. Errors: those of the session.
 */
import { printFeedCursor } from './feed-cursor.ts'
import { isStorableName } from './stored-name.ts'
import type { SqlSession } from './sql-session.ts'
import { msOf, type WebhookRecord, type WebhookRow, webhookRowOf } from './webhook-row.ts'

export type NewWebhook = Pick<
  WebhookRow,
  | 'id'
  | 'name'
  | 'url'
  | 'filter'
  | 'sealedSecret'
  | 'attemptsMax'
  | 'retryForMs'
  | 'feedCursor'
  | 'pausedReason'
> & {
  readonly nowMs: number
  /** Webhooks that there may be. */
  readonly countMax: number
}

const CREATE = `
insert into webhook (id, name, url, filter, sealed_secret, attempts_max, retry_for_ms, feed_cursor, paused_reason,
  created_at_ms, updated_at_ms)
select $1::text, $2::text, $3::text, $4::text, $5::text, $6::int, $7::bigint, $8::text, $9::text, $10::bigint, $10::bigint
where (select count(*) from webhook) < $11::int
on conflict (name) do nothing returning *`

export type CreateWebhookOutcome =
  | { readonly outcome: 'created'; readonly row: WebhookRow }
  | { readonly outcome: 'exists' }
  /** There are as many as there may be; a race may let a few more through. */
  | { readonly outcome: 'too-many' }

/** Makes a webhook unless its name is taken. */
export async function createWebhook(
  session: SqlSession,
  webhook: NewWebhook,
): Promise<CreateWebhookOutcome> {
  const { id, name, url, filter, sealedSecret, attemptsMax, retryForMs } = webhook
  const [record] = await session.query<WebhookRecord>(CREATE, [
    ...[id, name, url, filter, sealedSecret, attemptsMax, retryForMs, webhook.feedCursor],
    ...[webhook.pausedReason ?? null, webhook.nowMs, webhook.countMax],
  ])
  if (record !== undefined) return { outcome: 'created', row: webhookRowOf(record) }
  return { outcome: (await findWebhook(session, name)) === undefined ? 'too-many' : 'exists' }
}

/** The webhook of exactly this name. */
export async function findWebhook(
  session: SqlSession,
  name: string,
): Promise<WebhookRow | undefined> {
  if (!isStorableName(name)) return undefined
  const [record] = await session.query<WebhookRecord>('select * from webhook where name = $1', [
    name,
  ])
  return record && webhookRowOf(record)
}

/** The webhook with this id. */
export async function findWebhookById(
  session: SqlSession,
  id: string,
): Promise<WebhookRow | undefined> {
  const [record] = await session.query<WebhookRecord>('select * from webhook where id = $1', [id])
  return record && webhookRowOf(record)
}

/** All webhooks by name. */
export async function listWebhooks(session: SqlSession): Promise<WebhookRow[]> {
  const records = await session.query<WebhookRecord>('select * from webhook order by name')
  return records.map(webhookRowOf)
}

export interface WebhookUpdate {
  readonly id: string
  /** The version that the change was made from. */
  readonly expectedVersion: bigint
  readonly url: string
  readonly filter: string
  readonly attemptsMax: number
  readonly retryForMs: number
  readonly sealedSecret: string
  readonly sealedOldSecret: string | undefined
  readonly oldSecretUntilMs: number | undefined
  readonly pausedReason: string | undefined
  readonly nowMs: number
}

// Who changes something is told at once whether it helped: the pause after failures is over.
const UPDATE = `
update webhook set url = $3, filter = $4, attempts_max = $5::int, retry_for_ms = $6::bigint, sealed_secret = $7,
  sealed_old_secret = $8, old_secret_until_ms = $9::bigint, paused_reason = $10, next_attempt_at_ms = 0,
  version = version + 1, updated_at_ms = $11::bigint
where id = $1 and version = $2::bigint returning *`

/** Replaces what operators say, if the version is still the expected one; undefined when it is not, or the row is gone. */
export async function updateWebhook(
  session: SqlSession,
  update: WebhookUpdate,
): Promise<WebhookRow | undefined> {
  const { id, expectedVersion, url, filter, attemptsMax, retryForMs } = update
  const [record] = await session.query<WebhookRecord>(UPDATE, [
    ...[id, expectedVersion, url, filter, attemptsMax, retryForMs, update.sealedSecret],
    ...[update.sealedOldSecret ?? null, update.oldSecretUntilMs ?? null],
    ...[update.pausedReason ?? null, update.nowMs],
  ])
  return record && webhookRowOf(record)
}

/** Forgets a webhook with everything that waits for it. */
export async function deleteWebhook(
  session: SqlSession,
  { id }: { readonly id: string },
): Promise<'deleted' | 'missing'> {
  const rows = await session.query('delete from webhook where id = $1 returning 1', [id])
  return rows.length === 1 ? 'deleted' : 'missing'
}

/** Asks for a trial; the one before it, if it still runs, is forgotten. */
export async function requestWebhookTest(
  session: SqlSession,
  { id, testId }: { readonly id: string; readonly testId: string },
): Promise<void> {
  await session.query('update webhook set test_id = $2, test_outcome = null where id = $1', [
    id,
    testId,
  ])
}

const MOVE = `
with moved as (
  update webhook set feed_cursor = $2, place_version = place_version + 1, next_attempt_at_ms = 0, failure_count = 0,
    failing_since_ms = null
  where id = $1 returning *
), emptied as (
  delete from webhook_delivery where webhook_id in (select id from moved) and given_up_at_ms is null
)
select * from moved`

/**
 * Sends everything behind the cursor, again if it was sent before. What waits comes again with it or is given up; dead
 * letters stay. Undefined when the webhook is gone.
 */
export async function moveWebhook(
  session: SqlSession,
  { id, cursor }: { readonly id: string; readonly cursor: string },
): Promise<WebhookRow | undefined> {
  const [record] = await session.query<WebhookRecord>(MOVE, [id, cursor])
  return record && webhookRowOf(record)
}

/** The place in the feed just before an event; undefined when the event is not kept. */
export async function placeBeforeEvent(
  session: SqlSession,
  eventId: string,
): Promise<string | undefined> {
  const [row] = await session.query<{ feed_id: string; transaction_id: string; seq: bigint }>(
    `select f.id as feed_id, e.transaction_id::text as transaction_id, e.seq
     from outbox_event e, event_feed f where e.event_id = $1`,
    [eventId],
  )
  if (row === undefined) return undefined
  const { feed_id: feedId, seq } = row
  return printFeedCursor({ feedId, transactionId: BigInt(row.transaction_id), seq: seq - 1n })
}

/** An event that was not delivered. */
export interface WebhookDelivery {
  readonly eventId: string
  /** The table, view or namespace: within one, events are sent in the order of their numbers. */
  readonly subject: string
  readonly eventNumber: bigint
  readonly kind: string
  /** What is sent, byte for byte. */
  readonly body: string
  /** 0: it waits behind another one. */
  readonly attempts: number
  readonly firstAttemptAtMs: number | undefined
  readonly nextAttemptAtMs: number
  readonly lastFailure: string | undefined
  /** Present for a dead letter. */
  readonly givenUpAtMs: number | undefined
}

export interface DeliveryRecord {
  readonly event_id: string
  readonly subject: string
  readonly event_number: bigint
  readonly kind: string
  readonly body: string
  readonly attempts: number
  readonly first_attempt_at_ms: bigint | null
  readonly next_attempt_at_ms: bigint
  readonly last_failure: string | null
  readonly given_up_at_ms: bigint | null
}

/** Where a page of dead letters goes on. */
export interface DeadLetterPosition {
  readonly givenUpAtMs: number
  readonly eventId: string
}

/** Events that were given up, oldest first, those behind `after`, at most `limit`. */
export async function listDeadLetters(
  session: SqlSession,
  request: {
    readonly webhookId: string
    readonly after?: DeadLetterPosition | undefined
    readonly limit: number
  },
): Promise<WebhookDelivery[]> {
  const { webhookId, after, limit } = request
  const records = await session.query<DeliveryRecord>(
    `select * from webhook_delivery where webhook_id = $1 and given_up_at_ms is not null
       and (given_up_at_ms, event_id) > ($2::bigint, $3::text)
     order by given_up_at_ms, event_id limit $4`,
    [webhookId, after?.givenUpAtMs ?? -1, after?.eventId ?? '', limit],
  )
  return records.map(deliveryOf)
}

/** Which dead letters: the one of an event, or all. */
export interface DeadLetterChoice {
  readonly webhookId: string
  readonly eventId: string | undefined
}

const REPLAY = `
with raised as (
  update webhook set place_version = place_version + 1 where id = $1 returning id
), back as (
  update webhook_delivery set given_up_at_ms = null, attempts = 0, first_attempt_at_ms = null, next_attempt_at_ms = 0
  where webhook_id in (select id from raised) and given_up_at_ms is not null and ($2::text is null or event_id = $2::text)
  returning 1
)
select count(*) as count from back`

/** Lets dead letters wait for a fresh start of attempts; answers how many. */
export async function replayDeadLetters(
  session: SqlSession,
  { webhookId, eventId }: DeadLetterChoice,
): Promise<number> {
  return countOf(session, REPLAY, [webhookId, eventId ?? null])
}

const DISCARD = `
with gone as (
  delete from webhook_delivery
  where webhook_id = $1 and given_up_at_ms is not null and ($2::text is null or event_id = $2::text) returning 1
)
select count(*) as count from gone`

/** Forgets dead letters; answers how many. */
export async function discardDeadLetters(
  session: SqlSession,
  { webhookId, eventId }: DeadLetterChoice,
): Promise<number> {
  return countOf(session, DISCARD, [webhookId, eventId ?? null])
}

/** How many events wait for a webhook, and how many were given up. */
export interface DeliveryCounts {
  readonly waiting: number
  readonly deadLetters: number
}

const NOTHING: DeliveryCounts = { waiting: 0, deadLetters: 0 }

/** The counts of each webhook, by its id. */
export async function countDeliveries(
  session: SqlSession,
): Promise<(webhookId: string) => DeliveryCounts> {
  const rows = await session.query<{ webhook_id: string; waiting: bigint; dead: bigint }>(
    `select webhook_id, count(*) filter (where given_up_at_ms is null) as waiting,
       count(*) filter (where given_up_at_ms is not null) as dead
     from webhook_delivery group by webhook_id`,
  )
  const counts = new Map(
    rows.map((row) => [
      row.webhook_id,
      { waiting: Number(row.waiting), deadLetters: Number(row.dead) },
    ]),
  )
  return (webhookId) => counts.get(webhookId) ?? NOTHING
}

/** A delivery of its columns. */
export function deliveryOf(record: DeliveryRecord): WebhookDelivery {
  return {
    eventId: record.event_id,
    subject: record.subject,
    eventNumber: record.event_number,
    kind: record.kind,
    body: record.body,
    attempts: record.attempts,
    firstAttemptAtMs: msOf(record.first_attempt_at_ms),
    nextAttemptAtMs: Number(record.next_attempt_at_ms),
    lastFailure: record.last_failure ?? undefined,
    givenUpAtMs: msOf(record.given_up_at_ms),
  }
}

async function countOf(
  session: SqlSession,
  text: string,
  params: readonly unknown[],
): Promise<number> {
  const [row] = await session.query<{ count: bigint }>(text, params)
  return Number(row?.count ?? 0n)
}

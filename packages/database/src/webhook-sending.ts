/*
 * What senders of webhooks read and write. One sender at a time works for a webhook, by a lease; what it did counts only
 * while it holds the lease and nobody else changed what is to be sent, and what it found the receiver to be only while
 * nobody changed the webhook. Errors: those of the session.
 */
import type { SqlSession } from './sql-session.ts'
import { type WebhookRecord, type WebhookRow, webhookRowOf } from './webhook-row.ts'
import { deliveryOf, type DeliveryRecord, type WebhookDelivery } from './webhooks.ts'

const SENDABLE = `
select w.*, (
  select min(head.next_attempt_at_ms) from (
    select distinct on (d.subject) d.next_attempt_at_ms from webhook_delivery d
    where d.webhook_id = w.id and d.given_up_at_ms is null order by d.subject, d.event_number
  ) as head
) as due_at_ms
from webhook w where w.paused_reason is null or (w.test_id is not null and w.test_outcome is null)
order by w.id`

/** A webhook that may have something to send. */
export interface SendableWebhook extends WebhookRow {
  /** When the next waiting event is due; absent when none waits. */
  readonly dueAtMs: number | undefined
}

/** The webhooks that are not paused, or are to be tried. */
export async function sendableWebhooks(session: SqlSession): Promise<SendableWebhook[]> {
  const records = await session.query<WebhookRecord & { readonly due_at_ms: bigint | null }>(
    SENDABLE,
  )
  return records.map((record) => ({
    ...webhookRowOf(record),
    dueAtMs: record.due_at_ms === null ? undefined : Number(record.due_at_ms),
  }))
}

export interface WebhookLease {
  readonly webhookId: string
  readonly holder: string
  readonly nowMs: number
  readonly leaseMs: number
}

/** Holds the webhook for `leaseMs` from now on, again for its holder; undefined when another one has it or it is gone. */
export async function leaseWebhook(
  session: SqlSession,
  { webhookId, holder, nowMs, leaseMs }: WebhookLease,
): Promise<WebhookRow | undefined> {
  const [record] = await session.query<WebhookRecord>(
    `update webhook set lease_holder = $2, lease_until_ms = $3::bigint + $4::bigint
     where id = $1 and (lease_holder = $2 or lease_until_ms <= $3::bigint) returning *`,
    [webhookId, holder, nowMs, leaseMs],
  )
  return record && webhookRowOf(record)
}

/** Lets others go on at once. Without a holder, all leases end: right only where no other process sends. */
export async function endWebhookLeases(
  session: SqlSession,
  { holder }: { readonly holder: string | undefined },
): Promise<void> {
  await session.query(
    `update webhook set lease_holder = null, lease_until_ms = 0
     where lease_holder is not null and ($1::text is null or lease_holder = $1::text)`,
    [holder ?? null],
  )
}

const DUE = `
with head as (
  select distinct on (subject) subject, next_attempt_at_ms from webhook_delivery
  where webhook_id = $1 and given_up_at_ms is null order by subject, event_number
)
select d.* from head join webhook_delivery d on d.subject = head.subject
where d.webhook_id = $1 and d.given_up_at_ms is null and head.next_attempt_at_ms <= $2::bigint
order by d.subject, d.event_number limit $3`

/** Waiting events whose turn has come, in order within each subject, with those that wait behind them. */
export async function dueDeliveries(
  session: SqlSession,
  request: { readonly webhookId: string; readonly nowMs: number; readonly limit: number },
): Promise<WebhookDelivery[]> {
  const { webhookId, nowMs, limit } = request
  const records = await session.query<DeliveryRecord>(DUE, [webhookId, nowMs, limit])
  return records.map(deliveryOf)
}

/** How many events of each subject wait. */
export async function waitingSubjects(
  session: SqlSession,
  { webhookId }: { readonly webhookId: string },
): Promise<ReadonlyMap<string, number>> {
  const rows = await session.query<{ subject: string; count: bigint }>(
    `select subject, count(*) as count from webhook_delivery
     where webhook_id = $1 and given_up_at_ms is null group by subject`,
    [webhookId],
  )
  return new Map(rows.map(({ subject, count }) => [subject, Number(count)]))
}

/** What a sender did in one pass. */
export interface WebhookSettlement {
  readonly webhookId: string
  readonly holder: string
  /** As the sender found it. */
  readonly placeVersion: bigint
  /** As the sender found it. */
  readonly version: bigint
  readonly nowMs: number
  /** How far the feed was read; absent when it was not. */
  readonly feedCursor?: string | undefined
  readonly deliveredIds: readonly string[]
  /** Events that wait from now on, still wait, or are given up. */
  readonly kept: readonly WebhookDelivery[]
  /**
   * How the receiver is. Absent: as it was, nothing was sent to it. Not written down when the webhook's version is another
   * one by now: the failures were of a receiver or a secret that somebody has just mended.
   */
  readonly receiver?: ReceiverState | undefined
  /** Whether events between the cursor and the oldest one that is kept were lost. */
  readonly hasLostEvents?: boolean
}

export interface ReceiverState {
  /** Passes in a row in which it was away; 0 when something got through. */
  readonly failureCount: number
  readonly nextAttemptAtMs: number
  readonly lastFailure: string | undefined
  /** Nothing more is sent. */
  readonly pausedReason: string | undefined
}

// What an operator changed meanwhile is not judged by failures from before.
const ofSameVersion = (column: string, value: string): string =>
  `${column} = case when version = $22::bigint then ${value} else ${column} end`

// $1 webhook, $2 holder, $3 place version, $4 now, $5 cursor, $6 delivered, $7 lost, $8 to $11 receiver, $12 … kept,
// $22 version
const SETTLE = `
with own as (
  update webhook set feed_cursor = coalesce($5::text, feed_cursor),
    delivered_count = delivered_count + cardinality($6::text[]),
    last_delivered_at_ms = case when cardinality($6::text[]) > 0 then $4::bigint else last_delivered_at_ms end,
    events_lost_at_ms = case when $7::boolean then $4::bigint else events_lost_at_ms end,
    ${ofSameVersion('failure_count', 'coalesce($8::int, failure_count)')},
    ${ofSameVersion(
      'failing_since_ms',
      `case when $8::int is null then failing_since_ms when $8::int > 0
        then coalesce(failing_since_ms, $4::bigint) end`,
    )},
    ${ofSameVersion('next_attempt_at_ms', 'coalesce($9::bigint, next_attempt_at_ms)')},
    ${ofSameVersion('last_failure', 'coalesce($10::text, last_failure)')},
    ${ofSameVersion('last_failed_at_ms', 'case when $10::text is null then last_failed_at_ms else $4::bigint end')},
    ${ofSameVersion('paused_reason', 'coalesce($11::text, paused_reason)')}
  where id = $1 and lease_holder = $2 and place_version = $3::bigint returning id
), gone as (
  delete from webhook_delivery where webhook_id in (select id from own) and event_id = any($6::text[])
), kept as (
  insert into webhook_delivery (webhook_id, event_id, subject, event_number, kind, body, attempts, first_attempt_at_ms,
    next_attempt_at_ms, last_failure, given_up_at_ms)
  select own.id, k.event_id, k.subject, k.event_number, k.kind, k.body, k.attempts, nullif(k.first_ms, -1), k.next_ms,
    nullif(k.failure, ''), nullif(k.given_up_ms, -1)
  from own, unnest($12::text[], $13::text[], $14::bigint[], $15::text[], $16::text[], $17::int[], $18::bigint[],
    $19::bigint[], $20::text[], $21::bigint[])
    as k (event_id, subject, event_number, kind, body, attempts, first_ms, next_ms, failure, given_up_ms)
  on conflict (webhook_id, event_id) do update set attempts = excluded.attempts,
    first_attempt_at_ms = excluded.first_attempt_at_ms, next_attempt_at_ms = excluded.next_attempt_at_ms,
    last_failure = excluded.last_failure, given_up_at_ms = excluded.given_up_at_ms
)
select 1 from own`

/** Writes down what a pass did. `lost`: the lease is another one's, or what is to be sent was changed; nothing is written. */
export async function settleWebhook(
  session: SqlSession,
  settlement: WebhookSettlement,
): Promise<'settled' | 'lost'> {
  const { webhookId, holder, placeVersion, nowMs, receiver } = settlement
  const rows = await session.query(SETTLE, [
    ...[webhookId, holder, placeVersion, nowMs, settlement.feedCursor ?? null],
    ...[settlement.deliveredIds, settlement.hasLostEvents ?? false],
    ...[receiver?.failureCount ?? null, receiver?.nextAttemptAtMs ?? null],
    ...[receiver?.lastFailure ?? null, receiver?.pausedReason ?? null],
    ...keptColumns(settlement.kept),
    settlement.version,
  ])
  return rows.length === 1 ? 'settled' : 'lost'
}

// Arrays hold no nulls: -1 and '' stand for them.
function keptColumns(kept: readonly WebhookDelivery[]): readonly (readonly unknown[])[] {
  return [
    kept.map(({ eventId }) => eventId),
    kept.map(({ subject }) => subject),
    kept.map(({ eventNumber }) => eventNumber),
    kept.map(({ kind }) => kind),
    kept.map(({ body }) => body),
    kept.map(({ attempts }) => attempts),
    kept.map(({ firstAttemptAtMs }) => firstAttemptAtMs ?? -1),
    kept.map(({ nextAttemptAtMs }) => nextAttemptAtMs),
    kept.map(({ lastFailure }) => lastFailure ?? ''),
    kept.map(({ givenUpAtMs }) => givenUpAtMs ?? -1),
  ]
}

/** Writes down what came of a trial, JSON text, if it is still the one that was asked for last. */
export async function recordWebhookTest(
  session: SqlSession,
  test: { readonly webhookId: string; readonly testId: string; readonly outcome: string },
): Promise<void> {
  await session.query('update webhook set test_outcome = $3 where id = $1 and test_id = $2', [
    test.webhookId,
    test.testId,
    test.outcome,
  ])
}

/** Deletes up to `limit` dead letters that were given up before the given time; answers how many. */
export async function pruneDeadLetters(
  session: SqlSession,
  { givenUpBeforeMs, limit }: { readonly givenUpBeforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await session.query(
    `delete from webhook_delivery where (webhook_id, event_id) in (
       select webhook_id, event_id from webhook_delivery where given_up_at_ms < $1 order by given_up_at_ms limit $2
     ) returning 1`,
    [givenUpBeforeMs, limit],
  )
  return rows.length
}

/*
 * The feed: all events in an order that can be followed by a cursor. The order is by transaction, then by sequence number,
 * and it ends before the oldest transaction that is still open, so nothing comes up behind a cursor that was handed out.
 * The events of one table (view, namespace) come in the order of their numbers, because whoever numbers one has begun its
 * transaction after the one before ended (event-order.ts sees to that where no comparison of pointers does).
 * Errors: those of the session.
 */
import { feedTag, parseFeedCursor, printFeedCursor } from './feed-cursor.ts'
import { invariant } from './invariant.ts'
import { type EventCursor, FIRST_EVENT } from './name-changes.ts'
import { type EventKind, type EventRecord, type RecordedEvent, recordedEventOf } from './outbox.ts'
import { areStorableLevels, isStorableName, joinLevels } from './stored-name.ts'
import type { Database, SqlSession } from './sql-session.ts'

export interface FeedEvent extends RecordedEvent {
  /** The place behind this event, as `after` of a later read. */
  readonly cursor: string
  /** JSON text, once it was made (event-details.ts). */
  readonly details: string | undefined
}

/** An event passes when every member that is there lets it pass; an empty list lets nothing pass. */
export interface FeedFilter {
  readonly warehouseIds?: readonly string[]
  /** Levels; what lies in deeper namespaces passes too. */
  readonly namespaces?: readonly (readonly string[])[]
  readonly tables?: readonly TableFilter[]
  readonly kinds?: readonly EventKind[]
}

/** A table or view by its id or UUID, whatever its name, or by the name that it has in the event. */
export type TableFilter =
  { readonly id: string } | { readonly levels: readonly string[]; readonly name: string }

export interface FeedRequest {
  /** The cursor of an event or of an earlier read. Absent: before the oldest event that is kept. */
  readonly after?: string | undefined
  /** Events in one answer, at least 1. */
  readonly limit: number
  readonly filter?: FeedFilter | undefined
}

/**
 * `pruned`: events behind the cursor are gone, or the cursor is of a database that was rebuilt since: begin again without
 * one. `malformed`: no feed printed this cursor.
 */
export type FeedPage =
  | {
      readonly outcome: 'read'
      readonly events: readonly FeedEvent[]
      /** Where to go on: behind the last event, or behind what the filter did not let pass. */
      readonly cursor: string
      /** Whether nothing more is there now. */
      readonly isAtEnd: boolean
    }
  | { readonly outcome: 'pruned' | 'malformed' }

/**
 * Makes the feed usable: the first call for a database gives it this id. In a database that was copied from another server
 * (a restored dump), where transactions are numbered anew, the events that are there move to the front and the feed gets
 * this id, so that nobody goes on with a cursor of the old one.
 */
export async function openFeed(database: Database, { id }: { readonly id: string }): Promise<void> {
  await database.query(
    `insert into event_feed (is_only, id, pruned_transaction_id, pruned_seq) values (true, $1, '0', 0)
     on conflict do nothing`,
    [id],
  )
  const [copied] = await database.query(COPIED)
  if (copied === undefined) return
  await database.transaction(async (session) => {
    await session.query('select 1 from event_feed for update')
    const moved = await session.query(
      `update outbox_event set transaction_id = $1::xid8
       where transaction_id >= pg_snapshot_xmax(pg_current_snapshot()) returning 1`,
      [FRONT_TRANSACTION],
    )
    if (moved.length === 0) return
    await session.query(
      `update event_feed set id = $1, pruned_transaction_id = '0', pruned_seq = 0`,
      [id],
    )
  })
}

// Every event was written by a transaction that this server has numbered; others came with a dump.
const COPIED = `
select 1 from (select transaction_id from outbox_event order by transaction_id desc, seq desc limit 1) as newest
where transaction_id >= pg_snapshot_xmax(pg_current_snapshot())`

/** The number of the transaction that makes a new database cluster: before all of ours. */
const FRONT_TRANSACTION = 1n

/** Events that one read passes over at most when the filter lets nothing pass. */
const SCANNED_MAX = 5_000

/**
 * SQL that says whether an event passes the filter of `filterParameters`, which start at parameter number `parameter`: true,
 * or anything else.
 */
export function passesFilter(parameter: number): string {
  const [warehouses, kinds, spaces, ids, names] = Array.from(
    { length: 5 },
    (_, index) => `$${parameter + index}::text[]`,
  )
  return `(${warehouses} is null or warehouse_id = any(${warehouses})) and (${kinds} is null or kind = any(${kinds}))
    and (${spaces} is null or exists (
      select from unnest(${spaces}) as space where starts_with(levels || E'\\x1f', space || E'\\x1f')))
    and (${ids} is null or table_id = any(${ids}) or table_uuid = any(${ids})
      or levels || E'\\x1f' || name = any(${names}))`
}

// $1 transaction, $2 seq, $3 scanned, $4 limit, $5 warehouses, $6 kinds, $7 namespaces, $8 table ids, $9 table names
const READ = `
with feed as materialized (
  select id, (pruned_transaction_id, pruned_seq) > ($1::xid8, $2::bigint) as is_pruned,
    pruned_transaction_id, pruned_seq, pg_snapshot_xmin(pg_current_snapshot()) as reach
  from event_feed
), scanned as materialized (
  select seq, transaction_id,
    ${passesFilter(5)} as passes
  from outbox_event
  where (transaction_id, seq) > ($1::xid8, $2::bigint)
    and transaction_id < pg_snapshot_xmin(pg_current_snapshot())
  order by transaction_id, seq limit $3
), page as materialized (
  select seq, transaction_id from scanned where passes is true order by transaction_id, seq limit $4
)
select feed.id as feed_id, feed.is_pruned, feed.reach::text as reach, (select count(*) from scanned) as scanned_count,
  (select transaction_id::text from scanned order by scanned.transaction_id desc, scanned.seq desc limit 1)
    as scanned_transaction_id,
  (select seq from scanned order by scanned.transaction_id desc, scanned.seq desc limit 1) as scanned_seq,
  page.transaction_id::text as transaction_id, e.seq, e.event_id, e.warehouse_id, e.table_id, e.table_uuid,
  e.event_number, e.kind, e.levels, e.name, e.payload, e.created_at_ms, d.details
from feed left join page on true left join outbox_event e on e.seq = page.seq
  left join event_details d on d.seq = page.seq
order by page.transaction_id, page.seq`

interface ReadRow extends EventRecord {
  readonly feed_id: string
  readonly is_pruned: boolean
  readonly reach: string
  readonly scanned_count: bigint
  readonly scanned_transaction_id: string | null
  readonly scanned_seq: bigint | null
  readonly transaction_id: string | null
  readonly details: string | null
}

/**
 * The events behind the cursor that pass the filter, in order, up to `limit`. Waits for no transaction that is open: its
 * events, and those of transactions that began after it, come when it has ended. The feed must have been opened.
 */
export async function readFeed(session: SqlSession, request: FeedRequest): Promise<FeedPage> {
  const { after, limit, filter = {} } = request
  const asked = after === undefined ? undefined : parseFeedCursor(after)
  if (after !== undefined && asked === undefined) return { outcome: 'malformed' }
  const scannedMax = Math.max(limit, SCANNED_MAX)
  const { transactionId, seq } = asked ?? FIRST_EVENT
  const params = [transactionId, seq, scannedMax, limit, ...filterParameters(filter)]
  const rows = await session.query<ReadRow>(READ, params)
  const [first] = rows
  invariant(first !== undefined, 'the feed is opened before it is read')
  const { feed_id: feedId } = first
  if (asked !== undefined && (first.is_pruned || asked.feedTag !== feedTag(feedId))) {
    return { outcome: 'pruned' }
  }
  const events = rows.flatMap((row) => eventOf(row, feedId))
  const isFull = events.length === limit
  const isAtEnd = !isFull && first.scanned_count < BigInt(scannedMax)
  const last = events.at(-1)
  const cursor =
    isFull && last !== undefined
      ? last.cursor
      : printFeedCursor({ feedId, ...reachOf(first, isAtEnd) })
  return { outcome: 'read', events, cursor, isAtEnd }
}

// What has been read to the end is covered up to the oldest open transaction: a cursor there is never pruned while it idles.
function reachOf(row: ReadRow, isAtEnd: boolean): EventCursor {
  const { scanned_transaction_id: transactionId, scanned_seq: seq } = row
  if (isAtEnd || transactionId === null || seq === null) {
    return { transactionId: BigInt(row.reach), seq: 0n }
  }
  return { transactionId: BigInt(transactionId), seq }
}

/** The five parameters of `passesFilter`. */
export function filterParameters({
  warehouseIds,
  kinds,
  namespaces,
  tables,
}: FeedFilter): readonly unknown[] {
  const names = tables?.flatMap((table) => ('id' in table ? [] : [table]))
  return [
    warehouseIds?.filter(isStorableName) ?? null,
    kinds ?? null,
    namespaces?.filter(areStorableLevels).map(joinLevels) ?? null,
    tables?.flatMap((table) => ('id' in table && isStorableName(table.id) ? [table.id] : [])) ??
      null,
    names
      ?.map(({ levels, name }) => [...levels, name])
      .filter(areStorableLevels)
      .map(joinLevels) ?? null,
  ]
}

function eventOf(row: ReadRow, feedId: string): readonly FeedEvent[] {
  if (row.transaction_id === null) return []
  const transactionId = BigInt(row.transaction_id)
  const cursor = printFeedCursor({ feedId, transactionId, seq: row.seq })
  return [{ ...recordedEventOf(row), cursor, details: row.details ?? undefined }]
}

/** The cursor behind everything that is there now: what a follower of news begins with. */
export async function feedEnd(session: SqlSession): Promise<string> {
  const [row] = await session.query<{ id: string; reach: string }>(
    'select id, pg_snapshot_xmin(pg_current_snapshot())::text as reach from event_feed',
  )
  invariant(row !== undefined, 'the feed is opened before it is read')
  return printFeedCursor({ feedId: row.id, transactionId: BigInt(row.reach), seq: 0n })
}

/** The newest event that can be read: a text that changes whenever there is more. */
export async function feedHead(session: SqlSession): Promise<string> {
  const [row] = await session.query<{ head: string }>(
    `select transaction_id || '.' || seq as head from outbox_event
     where transaction_id < pg_snapshot_xmin(pg_current_snapshot()) order by transaction_id desc, seq desc limit 1`,
  )
  return row?.head ?? ''
}

export interface FeedPruning {
  readonly createdBeforeMs: number
  readonly limit: number
  /** Told, in the same transaction, of the last event that is about to go, before it and those before it do. */
  readonly beforePruning?: (session: SqlSession, last: EventCursor) => Promise<void>
}

/**
 * Deletes the oldest events, up to `limit`, that were created before the given time and handed to the relay; answers how
 * many. Always from the front of the feed, so that what is left has no gaps.
 */
export function pruneFeed(
  database: Pick<Database, 'transaction'>,
  { createdBeforeMs, limit, beforePruning }: FeedPruning,
): Promise<number> {
  return database.transaction(async (session) => {
    // One at a time: what another one deletes meanwhile would look like the end of the front.
    await session.query('select 1 from event_feed for update')
    const params = [createdBeforeMs, limit]
    const [last] = await session.query<{ transaction_id: string; seq: bigint }>(
      LAST_OF_FRONT,
      params,
    )
    if (last === undefined) return 0
    const { transaction_id: transactionId, seq } = last
    await beforePruning?.(session, { transactionId: BigInt(transactionId), seq })
    const [row] = await session.query<{ pruned: bigint }>(PRUNE, params)
    return Number(row?.pruned ?? 0n)
  })
}

const FRONT = `
with oldest as materialized (
  select seq, transaction_id, created_at_ms < $1::bigint and dispatched_at_ms is not null as is_old
  from outbox_event where transaction_id < pg_snapshot_xmin(pg_current_snapshot())
  order by transaction_id, seq limit $2
), front as materialized (
  select seq, transaction_id from (
    select seq, transaction_id, bool_and(is_old) over (order by transaction_id, seq) as is_front from oldest
  ) as marked where is_front
)`

const LAST_OF_FRONT = `${FRONT}
select transaction_id::text as transaction_id, seq from front order by front.transaction_id desc, seq desc limit 1`

// Between the two, new events only follow: what is at the front stays so.
const PRUNE = `${FRONT}, gone as (
  delete from outbox_event where seq = any(array(select seq from front)) returning 1
), noted as (
  update event_feed set pruned_transaction_id = last.transaction_id, pruned_seq = last.seq
  from (select transaction_id, seq from front order by transaction_id desc, seq desc limit 1) as last
)
select count(*) as pruned from gone`

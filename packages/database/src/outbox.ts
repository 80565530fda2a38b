/*
 * Events. A row is written in the transaction of the change that it tells of (apply-change.ts) and stays until it was
 * dispatched and pruned (feed.ts). Event numbers are dense per table and per namespace. seq is no order to follow by: a row shows up
 * when its transaction ends, perhaps behind later ones. The relay goes by what was not dispatched yet, so it misses none;
 * who follows by a cursor takes that of feed.ts.
 */
import { splitLevels } from './stored-name.ts'
import type { SqlSession } from './sql-session.ts'

/** Every kind of event. Those of jobs tell how a run ended, by its state. */
export const EVENT_KINDS = [
  'table-created',
  'table-committed',
  'table-dropped',
  'table-renamed',
  'table-registered',
  'view-created',
  'view-committed',
  'view-dropped',
  'view-renamed',
  'view-registered',
  'namespace-created',
  'namespace-dropped',
  'namespace-updated',
  'job-succeeded',
  'job-nothing-to-do',
  'job-skipped',
  'job-failed',
  'job-abandoned',
] as const

export type EventKind = (typeof EVENT_KINDS)[number]

export interface EventInput {
  readonly kind: EventKind
  /** JSON text; kept byte for byte. */
  readonly payload: string
}

/** An event as it was written down. */
export interface RecordedEvent {
  readonly seq: bigint
  /** `<id of the table, view or namespace>-<event number>`: the same event always has the same id. */
  readonly eventId: string
  readonly warehouseId: string
  /** The table or view. Absent for events of namespaces, like `tableUuid` and `name`. */
  readonly tableId: string | undefined
  readonly tableUuid: string | undefined
  /** Dense per table, view or namespace, from 1. */
  readonly eventNumber: bigint
  readonly kind: EventKind
  /** The names at the time of the event; after a rename, the new ones. */
  readonly levels: readonly string[]
  readonly name: string | undefined
  readonly payload: string
  readonly createdAtMs: number
}

export interface OutboxEvent extends RecordedEvent {
  readonly dispatchedAtMs: number | undefined
}

export interface EventRecord {
  readonly seq: bigint
  readonly event_id: string
  readonly warehouse_id: string
  readonly table_id: string | null
  readonly table_uuid: string | null
  readonly event_number: bigint
  readonly kind: EventKind
  readonly levels: string
  readonly name: string | null
  readonly payload: string
  readonly created_at_ms: bigint
}

interface OutboxRow extends EventRecord {
  readonly dispatched_at_ms: bigint | null
}

/**
 * Up to `limit` events that were not dispatched, oldest first. They stay until they are marked. Inside a transaction they
 * are the caller's alone until it ends: others who ask meanwhile get the ones after.
 */
export async function takeUndispatchedEvents(
  session: SqlSession,
  { limit }: { readonly limit: number },
): Promise<OutboxEvent[]> {
  const rows = await session.query<OutboxRow>(
    'select * from outbox_event where dispatched_at_ms is null order by seq limit $1 for update skip locked',
    [limit],
  )
  return rows.map(eventOf)
}

/** Marks events as handed on; marking twice keeps the first time. */
export async function markEventsDispatched(
  session: SqlSession,
  seqs: readonly bigint[],
  nowMs: number,
): Promise<void> {
  await session.query(
    'update outbox_event set dispatched_at_ms = $2 where seq = any($1::bigint[]) and dispatched_at_ms is null',
    [seqs, nowMs],
  )
}

/** How many events wait, and since when the oldest does. */
export async function outboxDepth(
  session: SqlSession,
): Promise<{ readonly waitingCount: number; readonly oldestCreatedAtMs: number | undefined }> {
  const [row] = await session.query<{ waiting: bigint; oldest: bigint | null }>(
    'select count(*) as waiting, min(created_at_ms) as oldest from outbox_event where dispatched_at_ms is null',
  )
  return {
    waitingCount: Number(row?.waiting ?? 0n),
    oldestCreatedAtMs: typeof row?.oldest === 'bigint' ? Number(row.oldest) : undefined,
  }
}

function eventOf(row: OutboxRow): OutboxEvent {
  const { dispatched_at_ms: dispatchedAtMs } = row
  return {
    ...recordedEventOf(row),
    dispatchedAtMs: dispatchedAtMs === null ? undefined : Number(dispatchedAtMs),
  }
}

/** The event in a row of outbox_event. */
export function recordedEventOf(row: EventRecord): RecordedEvent {
  return {
    seq: row.seq,
    eventId: row.event_id,
    warehouseId: row.warehouse_id,
    tableId: row.table_id ?? undefined,
    tableUuid: row.table_uuid ?? undefined,
    eventNumber: row.event_number,
    kind: row.kind,
    levels: splitLevels(row.levels),
    name: row.name ?? undefined,
    payload: row.payload,
    createdAtMs: Number(row.created_at_ms),
  }
}

/*
 * Dropped tables and views: their last state, whether a purge of their files was asked for, has begun and was done. Rows
 * are written by dropTable (tables.ts). A table comes back only while its purge has not begun, and a purge begins only
 * while the table is dropped: both decide on the locked row. Errors: those of the session.
 */
import { inEventOrder } from './event-order.ts'
import type { IdempotencyTicket } from './idempotency.ts'
import { lockLocations } from './lock-locations.ts'
import { overlapCondition, overlapParameters } from './location-overlap.ts'
import type { EventInput } from './outbox.ts'
import { isStorableName } from './stored-name.ts'
import type { Database, SqlSession } from './sql-session.ts'
import { TABLE_COLUMNS, type TableRecord, type TableRow, tableRowOf } from './table-row.ts'
import { type ExtraRoot, listExtraRoots } from './table-roots.ts'
import { restoreTable } from './tables.ts'

/** The last state of a table that was dropped, under the name that it had. */
export interface DroppedTableRow extends TableRow {
  readonly purgeRequested: boolean
  readonly droppedAtMs: number
  /** When the purge was asked for, with the drop or later: its grace counts from then. Absent while nobody asks. */
  readonly purgeRequestedAtMs: number | undefined
  /** Present from just before the first file is deleted: the table cannot come back. */
  readonly purgeStartedAtMs: number | undefined
  /** Absent until its files were purged. */
  readonly purgedAtMs: number | undefined
}

interface DroppedTableRecord extends TableRecord {
  readonly purge_requested: boolean
  readonly dropped_at_ms: bigint
  readonly purge_requested_at_ms: bigint | null
  readonly purge_started_at_ms: bigint | null
  readonly purged_at_ms: bigint | null
}

/** The dropped table with this id; undefined for one that is live, was restored or never was. */
export async function findDroppedTable(
  session: SqlSession,
  id: string,
): Promise<DroppedTableRow | undefined> {
  if (!isStorableName(id)) return undefined
  const [record] = await session.query<DroppedTableRecord>(
    'select * from dropped_table where id = $1',
    [id],
  )
  return record && droppedRowOf(record)
}

/** Whether a table of this UUID was dropped from the warehouse and has not come back. */
export async function isTableDropped(
  session: SqlSession,
  table: { readonly warehouseId: string; readonly tableUuid: string },
): Promise<boolean> {
  const rows = await session.query(
    'select 1 from dropped_table where warehouse_id = $1 and table_uuid = $2 limit 1',
    [table.warehouseId, table.tableUuid],
  )
  return rows.length === 1
}

/** Where a page of dropped tables goes on. */
export interface DroppedTablePosition {
  readonly droppedAtMs: number
  readonly id: string
}

/** A dropped table, and when a purge of its files is due; absent while none is scheduled. */
export interface ListedDroppedTable extends DroppedTableRow {
  readonly purgeDueAtMs: number | undefined
}

/** The dropped tables (not views) of a warehouse, last dropped first, those behind `after`, at most `limit`. */
export async function listDroppedTables(
  session: SqlSession,
  request: {
    readonly warehouseId: string
    readonly after?: DroppedTablePosition | undefined
    readonly limit: number
    /** The kind of job that purges. */
    readonly jobKind: string
  },
): Promise<ListedDroppedTable[]> {
  const { warehouseId, after, limit, jobKind } = request
  const records = await session.query<DroppedTableRecord & { readonly due_at_ms: bigint | null }>(
    `select d.*, s.due_at_ms from dropped_table d
     left join maintenance_schedule s on s.table_id = d.id and s.job_kind = $5
     where d.warehouse_id = $1 and d.kind = 'table'
       and ($2::bigint is null or d.dropped_at_ms < $2 or (d.dropped_at_ms = $2 and d.id > $3::text))
     order by d.dropped_at_ms desc, d.id limit $4`,
    [warehouseId, after?.droppedAtMs ?? null, after?.id ?? null, limit, jobKind],
  )
  return records.map((record) => ({
    ...droppedRowOf(record),
    purgeDueAtMs: numberOf(record.due_at_ms),
  }))
}

const REQUEST_PURGE = `
with asked as (
  update dropped_table set purge_requested = true, purge_requested_at_ms = $2::bigint
  where id = $1::text and not purge_requested returning id
), scheduled as (
  insert into maintenance_schedule (table_id, job_kind, due_at_ms, reason, pending_commits)
  select id, $3::text, $4::bigint, $5::text, 0 from asked
  on conflict (table_id, job_kind) do update set due_at_ms = excluded.due_at_ms, reason = excluded.reason
)
select exists (select from asked) as asked, exists (select from dropped_table where id = $1::text) as found`

export interface PurgeRequest {
  readonly tableId: string
  readonly nowMs: number
  /** The kind of job that purges. */
  readonly jobKind: string
  readonly dueAtMs: number
  readonly reason: string
}

/** Asks for the purge of a table that was dropped without one, and schedules it. A second time changes nothing. */
export async function requestPurge(
  session: SqlSession,
  request: PurgeRequest,
): Promise<'requested' | 'requested-before' | 'missing'> {
  const { tableId, nowMs, jobKind, dueAtMs, reason } = request
  if (!isStorableName(tableId)) return 'missing'
  const [row] = await session.query<{ asked: boolean; found: boolean }>(REQUEST_PURGE, [
    tableId,
    nowMs,
    jobKind,
    dueAtMs,
    reason,
  ])
  if (row?.asked === true) return 'requested'
  return row?.found === true ? 'requested-before' : 'missing'
}

const CANCEL_PURGE = `
with kept as (
  update dropped_table set purge_requested = false, purge_requested_at_ms = null
  where id = $1::text and purge_started_at_ms is null and purged_at_ms is null returning id
), unscheduled as (
  delete from maintenance_schedule where table_id = (select id from kept) and job_kind = $2::text
)
select exists (select from kept) as kept, exists (select from dropped_table where id = $1::text) as found`

/** Takes the wish for a purge back, unless the purge has begun. A second time changes nothing. */
export async function cancelPurge(
  session: SqlSession,
  { tableId, jobKind }: { readonly tableId: string; readonly jobKind: string },
): Promise<'kept' | 'purge-begun' | 'missing'> {
  if (!isStorableName(tableId)) return 'missing'
  const [row] = await session.query<{ kept: boolean; found: boolean }>(CANCEL_PURGE, [
    tableId,
    jobKind,
  ])
  if (row?.kept === true) return 'kept'
  return row?.found === true ? 'purge-begun' : 'missing'
}

/**
 * Records that a purge is about to delete its first file, if the table is still dropped and the purge is still the one
 * that was asked for when `dropped` was read. `changed`: delete nothing. A second time keeps the first time.
 */
export async function beginPurge(
  session: SqlSession,
  dropped: Pick<DroppedTableRow, 'id' | 'droppedAtMs' | 'purgeRequestedAtMs'> & {
    readonly nowMs: number
  },
): Promise<'begun' | 'changed'> {
  const { id, droppedAtMs, purgeRequestedAtMs = null, nowMs } = dropped
  const rows = await session.query(
    `update dropped_table set purge_started_at_ms = coalesce(purge_started_at_ms, $4::bigint)
     where id = $1 and dropped_at_ms = $2 and purge_requested
       and coalesce(purge_requested_at_ms, dropped_at_ms) = $3 returning 1`,
    [id, droppedAtMs, purgeRequestedAtMs, nowMs],
  )
  return rows.length === 1 ? 'begun' : 'changed'
}

export interface TableUndrop {
  readonly tableId: string
  /** Where it goes; in its own warehouse. */
  readonly namespaceId: string
  /** Its folders outside its location, as its metadata says; absent: those that are on record. */
  readonly extraRoots?: readonly string[] | undefined
  readonly name: string
  readonly nowMs: number
  readonly event: EventInput
  readonly idempotency?: IdempotencyTicket | undefined
}

/**
 * Brings a dropped table back under its id with its last state; a wish for a purge is forgotten. `purge-begun`: its files
 * are being deleted or are gone. Throws LocationTakenError when another table lies there now.
 */
export async function undropTable(
  database: Pick<Database, 'transaction'>,
  undrop: TableUndrop,
): Promise<'restored' | 'missing' | 'purge-begun' | 'exists' | 'namespace-missing'> {
  const { tableId, namespaceId, name, nowMs, event, idempotency } = undrop
  if (!isStorableName(tableId)) return 'missing'
  return database.transaction(async (session) => {
    // In this order, because whoever deletes the warehouse holds it first and then what is in it.
    await lockLocations(session, { droppedTableId: tableId })
    const [record] = await session.query<DroppedTableRecord>(
      'select * from dropped_table where id = $1 for update',
      [tableId],
    )
    if (record === undefined) return 'missing'
    const dropped = droppedRowOf(record)
    if (dropped.purgeStartedAtMs !== undefined || dropped.purgedAtMs !== undefined) {
      return 'purge-begun'
    }
    const extraRoots = rootsBack(undrop, await listExtraRoots(session, tableId))
    const restored = { ...dropped, namespaceId, name, nowMs, event, idempotency, extraRoots }
    const outcome = await inEventOrder(session, tableId, (held) => restoreTable(held, restored))
    if (outcome === 'restored') {
      await session.query('delete from maintenance_schedule where table_id = $1', [tableId])
    }
    return outcome === 'purged' ? 'purge-begun' : outcome
  })
}

/** Those that it had given up come back as such. */
function rootsBack({ extraRoots }: TableUndrop, kept: readonly ExtraRoot[]): readonly ExtraRoot[] {
  if (extraRoots === undefined) return kept
  const left = kept.filter(
    ({ location, leftAtMs }) => leftAtMs !== undefined && !extraRoots.includes(location),
  )
  return [...extraRoots.map((location) => ({ location })), ...left]
}

/** Records that the files are gone; a second time keeps the first. `missing`: it is not dropped any more. */
export async function markTablePurged(
  session: SqlSession,
  { tableId, nowMs }: { readonly tableId: string; readonly nowMs: number },
): Promise<'marked' | 'missing'> {
  const rows = await session.query(
    `with purged as (
       update dropped_table set purged_at_ms = coalesce(purged_at_ms, $2::bigint)
       where id = $1 and purge_requested returning id
     ), unrooted as (
       delete from table_root where table_id = (select id from purged)
     )
     select 1 from purged`,
    [tableId, nowMs],
  )
  return rows.length === 1 ? 'marked' : 'missing'
}

const FIND_SHARER = `
select ${TABLE_COLUMNS} from catalog_table t join namespace n on n.id = t.namespace_id
where t.table_uuid = $1 or t.metadata_location = $2 or ${overlapCondition('t.location', 3)}
  or exists (select from table_root r where r.table_id = t.id and ${overlapCondition('r.location', 3)})
limit 1`

export interface SharedState {
  readonly tableUuid: string
  readonly metadataLocation: string
  /** Normalized, without a trailing slash. */
  readonly folder: string
}

/**
 * A live table of any warehouse that has this UUID or this metadata file, or a folder that equals, contains or lies inside
 * this one: the table was registered again, or something else lives there now.
 */
export async function findTableSharing(
  session: SqlSession,
  { tableUuid, metadataLocation, folder }: SharedState,
): Promise<TableRow | undefined> {
  const params = [tableUuid, metadataLocation, ...overlapParameters(folder)]
  const [record] = await session.query<TableRecord>(FIND_SHARER, params)
  return record && tableRowOf(record)
}

function droppedRowOf(record: DroppedTableRecord): DroppedTableRow {
  const requestedAtMs = numberOf(record.purge_requested_at_ms)
  const droppedAtMs = Number(record.dropped_at_ms)
  return {
    ...tableRowOf(record),
    purgeRequested: record.purge_requested,
    droppedAtMs,
    purgeRequestedAtMs: record.purge_requested ? (requestedAtMs ?? droppedAtMs) : undefined,
    purgeStartedAtMs: numberOf(record.purge_started_at_ms),
    purgedAtMs: numberOf(record.purged_at_ms),
  }
}

function numberOf(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value)
}

/*
 * Which tables and namespaces changed their names, and what those are now: for whoever keeps a copy of the names
 * outside the database. Errors: those of the session.
 */
import { splitLevels } from './stored-name.ts'
import type { SqlSession } from './sql-session.ts'
import type { RowKind } from './table-row.ts'

/**
 * A place in the order of the events: by transaction, then by sequence number. Sequence numbers alone are no order to
 * follow: they become visible when their transactions end, an earlier one perhaps after a later one.
 */
export interface EventCursor {
  readonly transactionId: bigint
  readonly seq: bigint
}

/** Before every event. */
export const FIRST_EVENT: EventCursor = { transactionId: 0n, seq: 0n }

export interface NameChanges {
  /** Everything up to here is covered. */
  readonly cursor: EventCursor
  readonly tableIds: readonly string[]
  readonly namespaceIds: readonly string[]
}

export interface NamedTable {
  readonly id: string
  readonly kind: RowKind
  readonly tableUuid: string
  readonly levels: readonly string[]
  readonly name: string
  readonly location: string
  readonly metadataLocation: string
}

export interface NamedNamespace {
  readonly id: string
  readonly levels: readonly string[]
  readonly properties: Readonly<Record<string, string>>
}

interface EventRow {
  readonly seq: bigint
  readonly transaction_id: string
  readonly event_id: string
  readonly table_id: string | null
  readonly is_naming: boolean
}

// A commit names nothing new unless it puts the metadata into another folder. Every transaction before the oldest one that
// is still open has ended, so no event can come up behind those that are read here.
const EVENTS_AFTER = `
select seq, transaction_id::text as transaction_id, event_id, table_id,
  kind not in ('table-committed', 'view-committed') and not starts_with(kind, 'job-')
    or regexp_replace(payload::json ->> 'metadata-location', '[^/]*$', '')
      is distinct from regexp_replace(payload::json ->> 'previous-metadata-location', '[^/]*$', '') as is_naming
from outbox_event
where (transaction_id, seq) > ($1::xid8, $2::bigint) and warehouse_id = $3
  and transaction_id < pg_snapshot_xmin(pg_current_snapshot())
order by transaction_id, seq limit $4`

/**
 * The subjects of up to `limit` events behind the cursor that made, renamed, moved, changed or dropped something; other
 * commits of tables, and how jobs ended, are passed over. Undefined when nothing is behind it. Waits for no transaction that is open: its
 * events, and those of transactions that began after it, come when it has ended.
 */
export async function nameChangesAfter(
  session: SqlSession,
  {
    warehouseId,
    after,
    limit,
  }: { readonly warehouseId: string; readonly after: EventCursor; readonly limit: number },
): Promise<NameChanges | undefined> {
  const { transactionId, seq } = after
  const params = [transactionId, seq, warehouseId, limit]
  const rows = await session.query<EventRow>(EVENTS_AFTER, params)
  const last = rows.at(-1)
  if (last === undefined) return undefined
  const changes = rows.filter(({ is_naming }) => is_naming)
  const tableIds = changes.map(({ table_id }) => table_id).filter((id) => id !== null)
  // @NOTE The id of an event is the id of its subject, a dash and a number.
  const namespaceIds = changes
    .filter(({ table_id }) => table_id === null)
    .map(({ event_id }) => event_id.slice(0, event_id.lastIndexOf('-')))
  return {
    cursor: { transactionId: BigInt(last.transaction_id), seq: last.seq },
    tableIds: [...new Set(tableIds)],
    namespaceIds: [...new Set(namespaceIds)],
  }
}

interface NamedTableRow {
  readonly id: string
  readonly kind: RowKind
  readonly table_uuid: string
  readonly levels: string
  readonly name: string
  readonly location: string
  readonly metadata_location: string
}

const TABLES = `
select t.id, t.kind, t.table_uuid, n.levels, t.name, t.location, t.metadata_location
from catalog_table t join namespace n on n.id = t.namespace_id`

/** The live tables and views among these ids. */
export async function findNamedTables(
  session: SqlSession,
  ids: readonly string[],
): Promise<NamedTable[]> {
  const rows = await session.query<NamedTableRow>(`${TABLES} where t.id = any($1::text[])`, [ids])
  return rows.map(namedTable)
}

/** A page of a warehouse's live tables and views in the order of their ids. */
export async function listNamedTables(
  session: SqlSession,
  { warehouseId, afterId, limit }: { warehouseId: string; afterId: string; limit: number },
): Promise<NamedTable[]> {
  const rows = await session.query<NamedTableRow>(
    `${TABLES} where t.warehouse_id = $1 and t.id > $2 order by t.id limit $3`,
    [warehouseId, afterId, limit],
  )
  return rows.map(namedTable)
}

interface NamedNamespaceRow {
  readonly id: string
  readonly levels: string
  readonly properties: string
}

/** The namespaces among these ids. */
export async function findNamedNamespaces(
  session: SqlSession,
  ids: readonly string[],
): Promise<NamedNamespace[]> {
  const rows = await session.query<NamedNamespaceRow>(
    'select id, levels, properties from namespace where id = any($1::text[])',
    [ids],
  )
  return rows.map(namedNamespace)
}

/** A page of a warehouse's namespaces in the order of their ids. */
export async function listNamedNamespaces(
  session: SqlSession,
  { warehouseId, afterId, limit }: { warehouseId: string; afterId: string; limit: number },
): Promise<NamedNamespace[]> {
  const rows = await session.query<NamedNamespaceRow>(
    `select id, levels, properties from namespace
     where warehouse_id = $1 and id > $2 order by id limit $3`,
    [warehouseId, afterId, limit],
  )
  return rows.map(namedNamespace)
}

function namedTable(row: NamedTableRow): NamedTable {
  return {
    id: row.id,
    kind: row.kind,
    tableUuid: row.table_uuid,
    levels: splitLevels(row.levels),
    name: row.name,
    location: row.location,
    metadataLocation: row.metadata_location,
  }
}

function namedNamespace(row: NamedNamespaceRow): NamedNamespace {
  return {
    id: row.id,
    levels: splitLevels(row.levels),
    // `as`: namespaces.ts wrote an object of strings.
    properties: JSON.parse(row.properties) as Record<string, string>,
  }
}

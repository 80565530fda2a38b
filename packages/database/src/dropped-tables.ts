/*
 * Dropped tables: their last state, whether a purge of their files was asked for and when it was done. Rows are written
 * by dropTable and taken back by restoreTable (tables.ts). Errors: those of the session.
 */
import { overlapCondition, overlapParameters } from './location-overlap.ts'
import { isStorableName } from './stored-name.ts'
import type { SqlSession } from './sql-session.ts'
import { TABLE_COLUMNS, type TableRecord, type TableRow, tableRowOf } from './table-row.ts'

/** The last state of a table that was dropped, under the name that it had. */
export interface DroppedTableRow extends TableRow {
  readonly purgeRequested: boolean
  readonly droppedAtMs: number
  /** Absent until its files were purged. */
  readonly purgedAtMs: number | undefined
}

interface DroppedTableRecord extends TableRecord {
  readonly purge_requested: boolean
  readonly dropped_at_ms: bigint
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
  if (record === undefined) return undefined
  return {
    ...tableRowOf(record),
    purgeRequested: record.purge_requested,
    droppedAtMs: Number(record.dropped_at_ms),
    purgedAtMs: record.purged_at_ms === null ? undefined : Number(record.purged_at_ms),
  }
}

/** Records that the files are gone; a second time keeps the first. `missing`: it is not dropped any more. */
export async function markTablePurged(
  session: SqlSession,
  { tableId, nowMs }: { readonly tableId: string; readonly nowMs: number },
): Promise<'marked' | 'missing'> {
  const rows = await session.query(
    `update dropped_table set purged_at_ms = coalesce(purged_at_ms, $2::bigint)
     where id = $1 and purge_requested returning 1`,
    [tableId, nowMs],
  )
  return rows.length === 1 ? 'marked' : 'missing'
}

const FIND_SHARER = `
select ${TABLE_COLUMNS} from catalog_table t join namespace n on n.id = t.namespace_id
where t.table_uuid = $1 or t.metadata_location = $2 or ${overlapCondition('t.location', 3)}
limit 1`

export interface SharedState {
  readonly tableUuid: string
  readonly metadataLocation: string
  /** Normalized, without a trailing slash. */
  readonly folder: string
}

/**
 * A live table of any warehouse that has this UUID or this metadata file, or whose location equals, contains or lies
 * inside the folder: the table was registered again, or something else lives there now.
 */
export async function findTableSharing(
  session: SqlSession,
  { tableUuid, metadataLocation, folder }: SharedState,
): Promise<TableRow | undefined> {
  const params = [tableUuid, metadataLocation, ...overlapParameters(folder)]
  const [record] = await session.query<TableRecord>(FIND_SHARER, params)
  return record && tableRowOf(record)
}

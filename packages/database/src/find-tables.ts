/*
 * Looking tables and views up. Nothing here locks; the pointer that is read may be stale when it is used, which the swap finds.
 */
import { overlapParameters, overlapQuery } from './location-overlap.ts'
import type { SqlSession } from './sql-session.ts'
import { areStorableLevels, isStorableName, joinLevels, keysetStart } from './stored-name.ts'
import {
  JOIN_NAMESPACE,
  type RowKind,
  TABLE_COLUMNS,
  type TableRecord,
  type TableRow,
  tableRowOf,
} from './table-row.ts'

// The namespace comes first, by itself, so that one row of one index is all that is left to look at.
const FIND = `
select ${TABLE_COLUMNS}
from catalog_table t ${JOIN_NAMESPACE}
where t.name = $3
  and t.namespace_id = (select id from namespace where warehouse_id = $1 and levels = $2)`

/** The table or view of exactly this name: there is at most one. */
export async function findTable(
  session: SqlSession,
  table: {
    readonly warehouseId: string
    readonly levels: readonly string[]
    readonly name: string
  },
): Promise<TableRow | undefined> {
  if (!areStorableLevels(table.levels) || !isStorableName(table.name)) return undefined
  const [record] = await session.query<TableRecord>(FIND, [
    table.warehouseId,
    joinLevels(table.levels),
    table.name,
  ])
  return record && tableRowOf(record)
}

const FIND_BY_ID = `
select ${TABLE_COLUMNS} from catalog_table t ${JOIN_NAMESPACE} where t.id = $1`

/** The live table or view with this id, under whatever name it has now. */
export async function findTableById(
  session: SqlSession,
  id: string,
): Promise<TableRow | undefined> {
  if (!isStorableName(id)) return undefined
  const [record] = await session.query<TableRecord>(FIND_BY_ID, [id])
  return record && tableRowOf(record)
}

/** The names of a namespace's tables, or views, by code point, those behind `after`, at most `limit`. */
export async function listTables(
  session: SqlSession,
  request: {
    readonly namespaceId: string
    readonly kind?: RowKind
    readonly after?: string | undefined
    readonly limit?: number | undefined
  },
): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    `select name from catalog_table where namespace_id = $1 and name > $2 and kind = $4 order by name limit $3`,
    [
      request.namespaceId,
      keysetStart(request.after),
      request.limit ?? null,
      request.kind ?? 'table',
    ],
  )
  return rows.map((row) => row.name)
}

/** The tables of a warehouse by id, those behind `afterId`, at most `limit`. */
export async function listWarehouseTables(
  session: SqlSession,
  request: {
    readonly warehouseId: string
    readonly afterId?: string | undefined
    readonly limit: number
  },
): Promise<TableRow[]> {
  const records = await session.query<TableRecord>(
    `select ${TABLE_COLUMNS} from catalog_table t join namespace n on n.id = t.namespace_id
     where t.warehouse_id = $1 and t.id > $2 and t.kind = 'table' order by t.id limit $3`,
    [request.warehouseId, keysetStart(request.afterId), request.limit],
  )
  return records.map(tableRowOf)
}

// Rows are fetched once they are known, so that the way to a namespace is in the statement once.
const FIND_NEAR = `
select ${TABLE_COLUMNS} from (
${overlapQuery(
  'l.location',
  2,
  (near) => `select l.id from catalog_table l
    where l.warehouse_id = $1 and ${near} order by l.location limit 100`,
)}
union
${overlapQuery(
  'r.location',
  2,
  (near) => `select r.table_id from table_root r
    where r.warehouse_id = $1 and ${near} order by r.location limit 100`,
)}
) as near(id)
cross join lateral (select * from catalog_table where id = near.id limit 1) as t ${JOIN_NAMESPACE}
order by t.location limit 100`

/**
 * Live tables and views with a folder that equals, contains or lies inside the given one (normalized, no trailing slash): their
 * location, another one that they use, or one that they gave up; the first hundred by location.
 */
export async function findTablesNear(
  session: SqlSession,
  request: { readonly warehouseId: string; readonly location: string },
): Promise<TableRow[]> {
  const records = await session.query<TableRecord>(FIND_NEAR, [
    request.warehouseId,
    ...overlapParameters(request.location),
  ])
  return records.map(tableRowOf)
}

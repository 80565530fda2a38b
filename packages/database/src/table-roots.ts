/*
 * The folders of a table or view beside its location, and those that it gave up: written with the change that gives or takes
 * them, under the same lock as locations (lock-locations.ts), and kept when the table is dropped. Errors: those of the session.
 */
import { NOW_PARAMETER } from './apply-change.ts'
import type { SqlSession } from './sql-session.ts'
import { keysetStart } from './stored-name.ts'
import {
  JOIN_NAMESPACE,
  TABLE_COLUMNS,
  type TableRecord,
  type TableRow,
  tableRowOf,
} from './table-row.ts'

/** A folder outside its table's location. */
export interface ExtraRoot {
  /** Normalized, without a trailing slash. */
  readonly location: string
  /** When the table gave it up; files of it may still be live there. Absent while it is in use. */
  readonly leftAtMs?: number | undefined
}

/** Where a table that moves has its folders now, beside its location. All normalized, without a trailing slash. */
export interface MovedRoots {
  /** Those outside its location. */
  readonly extra: readonly string[]
  /** Those of `extra` and its location that it did not have before: only they are looked at for overlaps. */
  readonly fresh: readonly string[]
  /**
   * Those that it had; what it does not have any more is kept as given up. Undefined: nothing live can be there, so whatever
   * was given up before is forgotten too.
   */
  readonly left: readonly string[] | undefined
}

/**
 * Common table expressions that write the folders of the table `tableId` (an SQL text or parameter) which is made. They need
 * the CTE `changed`; `parameter` is the number of the first of the two parameters of `newRootParameters`.
 */
export function newRootExpressions(tableId: string, parameter: number): string {
  return `root as (
  insert into table_root (table_id, warehouse_id, location, left_at_ms)
  select ${tableId}, changed.warehouse_id, given.location, given.left_at_ms
  from changed, unnest($${parameter}::text[], $${parameter + 1}::bigint[]) as given(location, left_at_ms)
  on conflict (table_id, location) do update set left_at_ms = excluded.left_at_ms
)`
}

/** The two parameters of `newRootExpressions`. */
export function newRootParameters(roots: readonly ExtraRoot[] = []): readonly unknown[] {
  return [
    roots.map(({ location }) => location),
    roots.map(({ leftAtMs }) => (leftAtMs === undefined ? null : BigInt(leftAtMs))),
  ]
}

/** The value of `extra_roots` for a table that is made; undefined roots are found out later. */
export function rootsKnown(roots: readonly ExtraRoot[] | undefined): TableRow['rootState'] {
  if (roots === undefined) return 'unknown'
  return roots.length === 0 ? 'none' : 'some'
}

/**
 * Common table expressions that write the folders of the table `tableId` when it moves to `location` (SQL texts or
 * parameters). They need the CTE `changed`; `parameter` is the number of the first of the three of `movedRootParameters`.
 */
export function movedRootExpressions(where: {
  readonly tableId: string
  readonly location: string
  readonly parameter: number
}): string {
  const { tableId, location, parameter } = where
  const [extra, left, keeps] = [
    `$${parameter}::text[]`,
    `$${parameter + 1}::text[]`,
    `$${parameter + 2}::boolean`,
  ]
  return `given as materialized (
  select e.location, null::bigint as left_at_ms from unnest(${extra}) as e(location)
  union all
  select l.location, ${NOW_PARAMETER}
  from (
    select unnest(${left}) as location
    union
    select r.location from table_root r where r.table_id = ${tableId} and r.left_at_ms is null
  ) as l
  where ${keeps} and l.location <> all(${extra}) and not starts_with(l.location || '/', ${location} || '/')
), root as (
  insert into table_root (table_id, warehouse_id, location, left_at_ms)
  select ${tableId}, changed.warehouse_id, given.location, given.left_at_ms from changed, given
  on conflict (table_id, location) do update set left_at_ms = excluded.left_at_ms
), unrooted as (
  delete from table_root r
  where r.table_id = ${tableId} and exists (select from changed) and r.location not in (select g.location from given g)
    and (not ${keeps} or starts_with(r.location || '/', ${location} || '/'))
)`
}

/** The three parameters of `movedRootExpressions`. */
export function movedRootParameters({ extra, left }: MovedRoots): readonly unknown[] {
  return [extra, left ?? [], left !== undefined]
}

/** SQL for the value of `extra_roots` of a table that moves; `parameter` as for `movedRootExpressions`. */
export function movedRootsKnown(parameter: number): string {
  return `case when cardinality($${parameter}::text[]) > 0 or $${parameter + 2}::boolean then 'some' else 'none' end`
}

/** Roots of a table that are read at most, those that were given up last before others. */
const ROOTS_MAX = 1_000

/** The folders of a live or dropped table outside its location: those in use, then those given up, the last one first. */
export async function listExtraRoots(session: SqlSession, tableId: string): Promise<ExtraRoot[]> {
  const rows = await session.query<{ location: string; left_at_ms: bigint | null }>(
    `select location, left_at_ms from table_root where table_id = $1
     order by left_at_ms desc nulls first, location limit $2`,
    [tableId, ROOTS_MAX],
  )
  return rows.map(({ location, left_at_ms: leftAtMs }) => ({
    location,
    ...(leftAtMs === null ? {} : { leftAtMs: Number(leftAtMs) }),
  }))
}

/** Tables and views whose folders nobody looked at yet, by id, those behind `afterId`, at most `limit`. */
export async function listTablesOfUnknownRoots(
  session: SqlSession,
  { afterId, limit }: { readonly afterId?: string | undefined; readonly limit: number },
): Promise<TableRow[]> {
  const records = await session.query<TableRecord>(
    `select ${TABLE_COLUMNS} from catalog_table t ${JOIN_NAMESPACE}
     where t.extra_roots = 'unknown' and t.id > $1 order by t.id limit $2`,
    [keysetStart(afterId), limit],
  )
  return records.map(tableRowOf)
}

const RECORD = `
with changed as (
  update catalog_table set extra_roots = case when cardinality($2::text[]) > 0 then 'some' else 'none' end
  where id = $1::text and extra_roots = 'unknown' returning warehouse_id
), ${newRootExpressions('$1::text', 2)}
select exists (select from changed) as recorded`

/**
 * Writes down the folders of a table that nobody looked at before, whatever lies there already. `known`: a change of the table
 * has done so meanwhile, or it is gone.
 */
export async function recordRoots(
  session: SqlSession,
  { tableId, extra }: { readonly tableId: string; readonly extra: readonly string[] },
): Promise<'recorded' | 'known'> {
  const roots = extra.map((location) => ({ location }))
  const [row] = await session.query<{ recorded: boolean }>(RECORD, [
    tableId,
    ...newRootParameters(roots),
  ])
  return row?.recorded === true ? 'recorded' : 'known'
}

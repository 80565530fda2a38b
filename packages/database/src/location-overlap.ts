/**
 * SQL that is true when the column `location` equals, contains or lies inside one of the locations of `overlapParameters`,
 * which start at parameter number `parameter`. Whole segments count: `/a/b` does not contain `/a/bc`. Exact under the
 * collation "C", where everything below `/a/b` sorts between `/a/b/` and `/a/b0`.
 */
export function overlapCondition(column: string, parameter: number): string {
  const [holders, from, to] = [parameter, parameter + 1, parameter + 2]
  return `(${column} = any($${holders}::text[]) or exists (
    select from unnest($${from}::text[], $${to}::text[]) as inside(low, high)
    where ${column} >= inside.low and ${column} < inside.high))`
}

/**
 * The same as a query of its own. `select` gives the query for a condition, with a limit; the rows of all conditions
 * follow each other. Each condition has one way to go, by index, which a limit keeps the planner from changing: it plans
 * once, perhaps over a handful of tables.
 */
export function overlapQuery(
  column: string,
  parameter: number,
  select: (condition: string) => string,
): string {
  const [holders, from, to] = [parameter, parameter + 1, parameter + 2]
  return `select around.* from unnest($${holders}::text[]) as holder(location)
  cross join lateral (${select(`${column} = holder.location`)}) as around
  union all
  select within.* from unnest($${from}::text[], $${to}::text[]) as inside(low, high)
  cross join lateral (${select(`${column} >= inside.low and ${column} < inside.high`)}) as within`
}

/**
 * A query whose rows say that a live table or view has a folder near the locations of `overlapParameters`, which start at
 * parameter number `parameter`. `condition` says which of them count, of `t`, the row; `warehouseId` is an SQL text.
 */
export function tablesNear(
  parameter: number,
  { warehouseId, condition }: { readonly warehouseId: string; readonly condition: string },
): string {
  const atLocation = overlapQuery(
    't.location',
    parameter,
    (near) => `select 1 from catalog_table t
      where t.warehouse_id = ${warehouseId} and ${condition} and ${near} limit 1`,
  )
  const atRoots = overlapQuery(
    'r.location',
    parameter,
    (near) => `select 1 from table_root r
      cross join lateral (select 1 from catalog_table t where t.id = r.table_id and ${condition} limit 1) as live
      where r.warehouse_id = ${warehouseId} and ${near} limit 1`,
  )
  return `${atLocation}
  union all
  ${atRoots}`
}

/**
 * The same for tables other than `tableId` (an SQL text or parameter) of its warehouse. Views overlap among each other freely.
 */
export function otherTableNear(tableId: string, parameter: number): string {
  const own = (column: string) => `(select ${column} from catalog_table where id = ${tableId})`
  return tablesNear(parameter, {
    warehouseId: own('warehouse_id'),
    condition: `t.id <> ${tableId} and 'table' in (t.kind, ${own('kind')})`,
  })
}

/** The locations with everything that contains one of them, and the bounds of what lies inside. */
export function overlapParameters(...locations: readonly string[]): readonly unknown[] {
  return [
    [...new Set(locations.flatMap((location) => [location, ...holdersOf(location)]))],
    locations.map((location) => `${location}/`),
    locations.map((location) => `${location}0`),
  ]
}

/** Every prefix of the location that ends before a slash. */
function holdersOf(location: string): string[] {
  const holders: string[] = []
  for (let end = location.lastIndexOf('/'); end > 0; end = location.lastIndexOf('/', end - 1)) {
    holders.push(location.slice(0, end))
  }
  return holders
}

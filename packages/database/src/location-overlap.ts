/**
 * SQL that is true when the column `location` equals, contains or lies inside the location of `overlapParameters`,
 * which start at parameter number `parameter`. Whole segments count: `/a/b` does not contain `/a/bc`. Exact under the
 * collation "C", where everything below `/a/b` sorts between `/a/b/` and `/a/b0`.
 */
export function overlapCondition(column: string, parameter: number): string {
  const [holders, from, to] = [parameter, parameter + 1, parameter + 2]
  return `(${column} = any($${holders}::text[]) or (${column} >= $${from}::text and ${column} < $${to}::text))`
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
  union all (${select(`${column} >= $${from}::text and ${column} < $${to}::text`)})`
}

/**
 * SQL whose rows say that another table of the same warehouse as `tableId` (an SQL text or parameter) overlaps with the
 * location of `overlapParameters`, which start at parameter number `parameter`. Views overlap among each other freely.
 */
export function otherTableNear(tableId: string, parameter: number): string {
  const own = (column: string) => `(select ${column} from catalog_table where id = ${tableId})`
  return overlapQuery(
    'o.location',
    parameter,
    (near) => `select 1 from catalog_table o
      where o.warehouse_id = ${own('warehouse_id')} and o.id <> ${tableId}
        and 'table' in (o.kind, ${own('kind')}) and ${near} limit 1`,
  )
}

/** The location with everything that contains it, and the bounds of what lies inside. */
export function overlapParameters(location: string): readonly unknown[] {
  return [[location, ...holdersOf(location)], `${location}/`, `${location}0`]
}

/** Every prefix of the location that ends before a slash. */
function holdersOf(location: string): string[] {
  const holders: string[] = []
  for (let end = location.lastIndexOf('/'); end > 0; end = location.lastIndexOf('/', end - 1)) {
    holders.push(location.slice(0, end))
  }
  return holders
}

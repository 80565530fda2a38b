/**
 * SQL that is true when the column `location` equals, contains or lies inside the location of `overlapParameters`,
 * which start at parameter number `parameter`. Whole segments count: `/a/b` does not contain `/a/bc`. Exact under the
 * collation "C", where everything below `/a/b` sorts between `/a/b/` and `/a/b0`.
 */
export function overlapCondition(column: string, parameter: number): string {
  const [holders, from, to] = [parameter, parameter + 1, parameter + 2]
  return `(${column} = any($${holders}::text[]) or (${column} >= $${from}::text and ${column} < $${to}::text))`
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

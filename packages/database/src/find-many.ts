import type { SqlSession } from './sql-session.ts'
import { areStorableLevels, isStorableName, joinLevels } from './stored-name.ts'
import { TABLE_COLUMNS, type TableRecord, type TableRow, tableRowOf } from './table-row.ts'

/** A table or view as requests name it. */
export interface TableKey {
  readonly warehouseId: string
  readonly levels: readonly string[]
  readonly name: string
}

// Each name is looked up by itself, by index, whatever the planner thinks of the number of names.
const FIND_MANY = `
select k.place, found.*
from unnest($1::text[], $2::text[], $3::text[]) with ordinality as k(warehouse_id, levels, name, place)
cross join lateral (
  select ${TABLE_COLUMNS}
  from catalog_table t join namespace n on n.id = t.namespace_id
  where t.name = k.name
    and t.namespace_id = (select h.id from namespace h where h.warehouse_id = k.warehouse_id and h.levels = k.levels)
) found`

/** The tables or views of exactly these names, in their order; undefined where there is none. Errors: those of the session. */
export async function findMany(
  session: SqlSession,
  keys: readonly TableKey[],
): Promise<readonly (TableRow | undefined)[]> {
  const places = keys.flatMap((key, place) => (isStorable(key) ? [place] : []))
  const found = keys.map((): TableRow | undefined => undefined)
  if (places.length === 0) return found
  const asked = keys.filter(isStorable)
  const records = await session.query<TableRecord & { readonly place: bigint }>(FIND_MANY, [
    asked.map(({ warehouseId }) => warehouseId),
    asked.map(({ levels }) => joinLevels(levels)),
    asked.map(({ name }) => name),
  ])
  for (const record of records) {
    const place = places[Number(record.place) - 1]
    if (place !== undefined) found[place] = tableRowOf(record)
  }
  return found
}

function isStorable({ levels, name }: TableKey): boolean {
  return areStorableLevels(levels) && isStorableName(name)
}

/*
 * Warehouses: a name and the location below which everything of it lives.
 */
import type { SqlSession } from './sql-session.ts'
import { isStorableName } from './stored-name.ts'

export interface WarehouseRow {
  readonly id: string
  readonly name: string
  readonly location: string
}

/** The warehouse of this name, made if it is missing. An existing one keeps its id and location: compare them. */
export async function ensureWarehouse(
  session: SqlSession,
  warehouse: WarehouseRow & { readonly nowMs: number },
): Promise<WarehouseRow> {
  const { id, name, location, nowMs } = warehouse
  await session.query(
    `insert into warehouse (id, name, location, created_at_ms) values ($1, $2, $3, $4)
     on conflict (name) do nothing`,
    [id, name, location, nowMs],
  )
  return (await findWarehouse(session, name)) ?? { id, name, location }
}

/** The warehouse of exactly this name. */
export async function findWarehouse(
  session: SqlSession,
  name: string,
): Promise<WarehouseRow | undefined> {
  if (!isStorableName(name)) return undefined
  const [row] = await session.query<WarehouseRow>(
    'select id, name, location from warehouse where name = $1',
    [name],
  )
  return row
}

/** All warehouses by name. */
export async function listWarehouses(session: SqlSession): Promise<WarehouseRow[]> {
  return session.query<WarehouseRow>('select id, name, location from warehouse order by name')
}

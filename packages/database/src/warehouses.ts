/*
 * Warehouses: a name, the location below which everything of it lives, and how its objects are reached.
 */
import type { SqlSession } from './sql-session.ts'
import { isStorableName } from './stored-name.ts'

export interface WarehouseRow {
  readonly id: string
  readonly name: string
  /** Normalized, without a trailing slash. */
  readonly location: string
  /** JSON text; holds no secret. */
  readonly storageProfile: string
  /** Never shown, never logged. */
  readonly sealedCredentials: string | undefined
  /** JSON text: allowed locations, defaults and overrides for clients, delegation. */
  readonly settings: string
  /** Counts the changes of the row. */
  readonly version: bigint
}

export type NewWarehouse = Pick<WarehouseRow, 'id' | 'name' | 'location'> &
  Partial<Pick<WarehouseRow, 'storageProfile' | 'sealedCredentials' | 'settings'>> & {
    readonly nowMs: number
  }

interface WarehouseRecord {
  readonly id: string
  readonly name: string
  readonly location: string
  readonly storage_profile: string
  readonly sealed_credentials: string | null
  readonly settings: string
  readonly version: bigint
}

const COLUMNS = 'id, name, location, storage_profile, sealed_credentials, settings, version'

/** The warehouse of this name, made if it is missing. An existing one keeps everything it has: compare. */
export async function ensureWarehouse(
  session: SqlSession,
  warehouse: NewWarehouse,
): Promise<WarehouseRow> {
  const [record] = await session.query<WarehouseRecord>(
    `with made as (
       insert into warehouse (id, name, location, storage_profile, sealed_credentials, settings, created_at_ms, updated_at_ms)
       values ($1::text, $2::text, $3::text, coalesce($4::text, '{"type":"file"}'), $5::text, coalesce($6::text, '{}'),
         $7::bigint, $7::bigint)
       on conflict (name) do nothing returning ${COLUMNS}
     )
     select * from made`,
    [
      warehouse.id,
      warehouse.name,
      warehouse.location,
      warehouse.storageProfile ?? null,
      warehouse.sealedCredentials ?? null,
      warehouse.settings ?? null,
      warehouse.nowMs,
    ],
  )
  if (record !== undefined) return warehouseRowOf(record)
  const found = await findWarehouse(session, warehouse.name)
  if (found === undefined) return ensureWarehouse(session, warehouse)
  return found
}

/** The warehouse of exactly this name. */
export async function findWarehouse(
  session: SqlSession,
  name: string,
): Promise<WarehouseRow | undefined> {
  if (!isStorableName(name)) return undefined
  return findOne(session, 'name', name)
}

/** The warehouse with this id. */
export async function findWarehouseById(
  session: SqlSession,
  id: string,
): Promise<WarehouseRow | undefined> {
  if (!isStorableName(id)) return undefined
  return findOne(session, 'id', id)
}

/** All warehouses by name. */
export async function listWarehouses(session: SqlSession): Promise<WarehouseRow[]> {
  const records = await session.query<WarehouseRecord>(
    `select ${COLUMNS} from warehouse order by name`,
  )
  return records.map(warehouseRowOf)
}

async function findOne(
  session: SqlSession,
  column: 'name' | 'id',
  value: string,
): Promise<WarehouseRow | undefined> {
  const [record] = await session.query<WarehouseRecord>(
    `select ${COLUMNS} from warehouse where ${column} = $1`,
    [value],
  )
  return record && warehouseRowOf(record)
}

function warehouseRowOf(record: WarehouseRecord): WarehouseRow {
  return {
    id: record.id,
    name: record.name,
    location: record.location,
    storageProfile: record.storage_profile,
    sealedCredentials: record.sealed_credentials ?? undefined,
    settings: record.settings,
    version: record.version,
  }
}

/*
 * Warehouses: a name, the location below which everything of it lives, and how its objects are reached. Changes take the
 * table's lock first, so that each sees all the others; requests for tables are not held up by it.
 */
import { invariant } from './invariant.ts'
import type { Database, SqlSession } from './sql-session.ts'
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

/** A warehouse that lies where another one may not; answers whether this is such a one. */
export type OverlapRule = (other: WarehouseRow) => boolean

export type CreateWarehouseOutcome =
  | { readonly outcome: 'created'; readonly row: WarehouseRow }
  | { readonly outcome: 'exists' }
  | { readonly outcome: 'location-taken'; readonly by: WarehouseRow }

/**
 * Makes a warehouse unless its name is taken or `overlaps` is true of another one. Which places overlap is the caller's to
 * know: rows do not say which endpoints are one store.
 */
export async function createWarehouse(
  database: Pick<Database, 'transaction'>,
  warehouse: NewWarehouse,
  overlaps: OverlapRule,
): Promise<CreateWarehouseOutcome> {
  return database.transaction(async (session) => {
    await lockWarehouses(session)
    const others = await listWarehouses(session)
    if (others.some(({ name }) => name === warehouse.name)) return { outcome: 'exists' }
    const by = others.find(overlaps)
    if (by !== undefined) return { outcome: 'location-taken', by }
    return { outcome: 'created', row: await ensureWarehouse(session, warehouse) }
  })
}

export interface WarehouseUpdate {
  readonly id: string
  /** The version that the change was made from. */
  readonly expectedVersion: bigint
  readonly location: string
  readonly storageProfile: string
  readonly sealedCredentials: string | undefined
  readonly settings: string
  readonly nowMs: number
}

export type UpdateWarehouseOutcome =
  | { readonly outcome: 'updated'; readonly row: WarehouseRow }
  | { readonly outcome: 'missing' }
  /** Somebody else changed it since. */
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'location-taken'; readonly by: WarehouseRow }
  /** Its location cannot change any more: tables name their files by absolute location. */
  | { readonly outcome: 'not-empty'; readonly contents: WarehouseContents }

const UPDATE = `
update warehouse set location = $2::text, storage_profile = $3::text, sealed_credentials = $4::text,
  settings = $5::text, version = version + 1, updated_at_ms = $6::bigint
where id = $1::text returning ${COLUMNS}`

/** Replaces everything but the name, if the version is still the expected one. */
export async function updateWarehouse(
  database: Pick<Database, 'transaction'>,
  update: WarehouseUpdate,
  overlaps: OverlapRule,
): Promise<UpdateWarehouseOutcome> {
  const { id, location, nowMs } = update
  return database.transaction(async (session) => {
    await lockWarehouses(session)
    const all = await listWarehouses(session)
    const known = all.find((row) => row.id === id)
    if (known === undefined) return { outcome: 'missing' }
    if (known.version !== update.expectedVersion) return { outcome: 'stale' }
    const by = all.find((row) => row.id !== id && overlaps(row))
    if (by !== undefined) return { outcome: 'location-taken', by }
    if (known.location !== location) {
      await lockContents(session, id)
      const contents = await countContents(session, id)
      if (!isEmpty(contents)) return { outcome: 'not-empty', contents }
    }
    const { storageProfile, sealedCredentials = null, settings } = update
    const params = [id, location, storageProfile, sealedCredentials, settings, nowMs]
    const [record] = await session.query<WarehouseRecord>(UPDATE, params)
    invariant(record !== undefined, 'a warehouse stays while the lock is held')
    return { outcome: 'updated', row: warehouseRowOf(record) }
  })
}

/** What is in a warehouse. */
export interface WarehouseContents {
  readonly namespaces: number
  readonly tables: number
  readonly views: number
  /** Dropped tables whose files were not purged: they may come back, or wait for their purge. */
  readonly droppedTables: number
}

export type DeleteWarehouseOutcome =
  | { readonly outcome: 'deleted' }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'not-empty'; readonly contents: WarehouseContents }

/**
 * Removes an empty warehouse; no object is touched. `isForced` gives up dropped tables: they cannot come back, and a
 * purge that waits never runs.
 */
export async function deleteWarehouse(
  database: Pick<Database, 'transaction'>,
  { id, isForced }: { readonly id: string; readonly isForced: boolean },
): Promise<DeleteWarehouseOutcome> {
  return database.transaction(async (session) => {
    await lockWarehouses(session)
    if (!(await lockContents(session, id))) return { outcome: 'missing' }
    const contents = await countContents(session, id)
    const held = isForced ? { ...contents, droppedTables: 0 } : contents
    if (!isEmpty(held)) return { outcome: 'not-empty', contents }
    await session.query(
      `delete from maintenance_schedule where table_id in (select id from dropped_table where warehouse_id = $1)`,
      [id],
    )
    await session.query('delete from dropped_table where warehouse_id = $1', [id])
    await session.query('delete from idempotency_key where warehouse_id = $1', [id])
    await session.query('delete from warehouse where id = $1', [id])
    return { outcome: 'deleted' }
  })
}

async function lockWarehouses(session: SqlSession): Promise<void> {
  await session.query('lock table warehouse in share row exclusive mode')
}

/** Waits for whoever makes something in the warehouse, and makes later ones wait; false when it is not there. */
async function lockContents(session: SqlSession, id: string): Promise<boolean> {
  const rows = await session.query('select 1 from warehouse where id = $1 for update', [id])
  return rows.length === 1
}

const COUNT_CONTENTS = `
select (select count(*) from namespace where warehouse_id = $1)::int as namespaces,
  (select count(*) from catalog_table where warehouse_id = $1 and kind = 'table')::int as tables,
  (select count(*) from catalog_table where warehouse_id = $1 and kind = 'view')::int as views,
  (select count(*) from dropped_table where warehouse_id = $1 and kind = 'table' and purged_at_ms is null)::int as dropped`

async function countContents(session: SqlSession, id: string): Promise<WarehouseContents> {
  const [row] = await session.query<{
    namespaces: number
    tables: number
    views: number
    dropped: number
  }>(COUNT_CONTENTS, [id])
  invariant(row !== undefined, 'a count answers one row')
  const { dropped: droppedTables, ...counts } = row
  return { ...counts, droppedTables }
}

function isEmpty({ namespaces, tables, views, droppedTables }: WarehouseContents): boolean {
  return namespaces + tables + views + droppedTables === 0
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

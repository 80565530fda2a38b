/*
 * Who gives a table a location looks first whether another lies there. On several connections two of them could look
 * before either has written, so they take turns: they hold their warehouse's row until their transaction ends. Commits
 * that leave a table where it is, and everything else, do not wait for them.
 */
import type { Database, SqlSession } from './sql-session.ts'

/** A database, or the session of a transaction that is open already. */
export type DatabaseOrTransaction = SqlSession | Database

/** The warehouse itself, or that of a table. */
export type WarehouseOf =
  | { readonly warehouseId: string }
  | { readonly tableId: string }
  | { readonly droppedTableId: string }

/** Runs `change`, which is one statement, while nobody else gives a table of the warehouse a location. */
export function whileLocationsStand<T>(
  session: DatabaseOrTransaction,
  warehouse: WarehouseOf,
  change: (session: SqlSession) => Promise<T>,
): Promise<T> {
  if (isSerial(session)) return change(session)
  return inTransaction(session, async (held) => {
    await lockLocations(held, warehouse)
    return change(held)
  })
}

// Not `for update`: that would stop everybody who makes a row that refers to the warehouse.
const LOCK = `
select 1 from warehouse
where id = coalesce($1::text, (select warehouse_id from catalog_table where id = $2::text),
  (select warehouse_id from dropped_table where id = $3::text)) for no key update`

/**
 * Holds the locations of a warehouse until the transaction ends. A transaction that changes several tables calls it
 * before it changes the first, because those who wait for it may hold a table.
 */
export async function lockLocations(session: SqlSession, warehouse: WarehouseOf): Promise<void> {
  await session.query(LOCK, [
    'warehouseId' in warehouse ? warehouse.warehouseId : null,
    'tableId' in warehouse ? warehouse.tableId : null,
    'droppedTableId' in warehouse ? warehouse.droppedTableId : null,
  ])
}

/** Whether nobody else can do anything between two looks, so that a change of one statement needs nothing around it. */
export function isSerial(session: DatabaseOrTransaction): boolean {
  return 'isSerial' in session && session.isSerial === true
}

/** Runs in a transaction of its own, or in the one that is open already. */
export function inTransaction<T>(
  session: DatabaseOrTransaction,
  run: (session: SqlSession) => Promise<T>,
): Promise<T> {
  return 'transaction' in session ? session.transaction(run) : run(session)
}

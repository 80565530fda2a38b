import { listNamedNamespaces, listNamedTables } from '@timelake/database/name-changes'
import type { Database } from '@timelake/database/sql-session'
import { findWarehouse } from '@timelake/database/warehouses'
import { closeAll, type Closer } from './close-all.ts'
import { makeLog } from './context.ts'
import { makeDataDirectory, WAREHOUSE_NAME } from './data-directory.ts'
import { CommandError, EXIT_CODES } from './exit-code.ts'
import { openState } from './open-state.ts'
import { lostHome, type LostWarehouse, type Recovery } from './recovery.ts'
import { restoreRows } from './restore-rows.ts'

const NOTHING_CHANGED = 'Nothing was changed.'

/**
 * Fills the rows of one warehouse into a database that has none for it, in one transaction, and says how it went: the
 * warehouse of the settings, or one whose row is there again. Refuses a warehouse that has a namespace.
 */
export async function recoverInside(recovery: Recovery): Promise<string> {
  const { command, context, directory } = recovery
  if (command.isForced) {
    throw new CommandError(
      EXIT_CODES.wrongUsage,
      '--force sets an embedded database aside; here empty the database yourself, or use a new one',
    )
  }
  // Opening a database would bring it up to date; the settings say as much as its row for the warehouse would.
  if (command.isDryRun && command.warehouse === undefined) {
    await recovery.plan(lostHome(recovery))
    return NOTHING_CHANGED
  }
  makeDataDirectory(directory)
  const closers: Closer[] = []
  try {
    const log = makeLog(context.settings)
    const { database } = await openState({
      settings: context.settings,
      directory,
      log,
      closers,
      beforeFirstStart: async () => {},
    })
    const warehouse = await lostWarehouse(recovery, database)
    const plan = await recovery.plan(warehouse)
    if (command.isDryRun) return NOTHING_CHANGED
    await restoreRows(database, {
      plan,
      warehouse,
      nowMs: context.nowMs(),
      newUuid: context.newUuid,
    })
    return `The warehouse ${warehouse.name} was recovered.`
  } finally {
    await closeAll(closers)
  }
}

async function lostWarehouse(recovery: Recovery, database: Database): Promise<LostWarehouse> {
  const name = recovery.command.warehouse ?? WAREHOUSE_NAME
  const row = await findWarehouse(database, name)
  if (row === undefined) {
    if (recovery.command.warehouse === undefined) return lostHome(recovery)
    throw new CommandError(
      EXIT_CODES.failed,
      `the database has no warehouse ${name}: make it again, with its storage profile and credentials, and repeat`,
    )
  }
  await refuseRows(database, row)
  return row
}

async function refuseRows(database: Database, { id, name }: LostWarehouse): Promise<void> {
  const page = { warehouseId: id, afterId: '', limit: 1 }
  const namespaces = await listNamedNamespaces(database, page)
  const tables = await listNamedTables(database, page)
  if (namespaces.length + tables.length === 0) return
  throw new CommandError(
    EXIT_CODES.refused,
    `the database has namespaces of the warehouse ${name}: recovery fills in only what is empty`,
  )
}

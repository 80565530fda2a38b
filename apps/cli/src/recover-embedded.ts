import { existsSync, renameSync, rmSync } from 'node:fs'
import { DatabaseTooNewError } from '@timelake/database/database-errors'
import { lockDataDirectory } from '@timelake/database/data-directory-lock'
import { listNamedTables } from '@timelake/database/name-changes'
import { listWarehouses } from '@timelake/database/warehouses'
import { hasDatabase, makeDataDirectory, type DataDirectory } from './data-directory.ts'
import { CommandError, EXIT_CODES } from './exit-code.ts'
import { openDatabaseAt } from './open-database.ts'
import type { RecoveryPlan } from './plan-recovery.ts'
import { lostHome, type LostWarehouse, type Recovery } from './recovery.ts'
import { restoreRows } from './restore-rows.ts'

/**
 * Rebuilds the database of a data directory from the warehouse of the settings and says how it went. Refuses while a
 * server uses the directory, and without `--force` when the database can be read. The old files are set aside, never
 * deleted; the new ones take their place only when they are complete.
 */
export async function recoverEmbedded(recovery: Recovery): Promise<string> {
  const { command, context, directory } = recovery
  const warehouse = lostHome(recovery)
  makeDataDirectory(directory)
  const lock = lockDataDirectory(directory.path, { pid: process.pid })
  try {
    if (!command.isForced) await refuseHealthyDatabase(directory)
    const plan = await recovery.plan(warehouse)
    if (command.isDryRun) return 'Nothing was changed.'
    const aside = await rebuildDatabase(recovery, warehouse, plan)
    if (aside !== undefined) context.print(`The old database is now ${aside}.`)
    return 'The database was rebuilt.'
  } finally {
    lock.release()
  }
}

async function refuseHealthyDatabase(directory: DataDirectory): Promise<void> {
  if (!hasDatabase(directory)) return
  const tableCount = await countTables(directory)
  if (tableCount === undefined) return
  throw new CommandError(
    EXIT_CODES.refused,
    `the database in ${directory.databasePath} can be read and has ${tableCount} tables: ` +
      'use --force to set it aside and rebuild it',
  )
}

// Undefined when the database cannot be opened or read to the end, whatever the reason: that is what damaged means.
async function countTables({ databasePath }: DataDirectory): Promise<number | undefined> {
  try {
    const database = await openDatabaseAt(databasePath, false)
    try {
      let count = 0
      for (const { id } of await listWarehouses(database)) {
        const page = { warehouseId: id, afterId: '', limit: Number.MAX_SAFE_INTEGER }
        count += (await listNamedTables(database, page)).length
      }
      return count
    } finally {
      await database.close()
    }
  } catch (error) {
    if (error instanceof DatabaseTooNewError) throw error
    return undefined
  }
}

/** The new database is built beside the old one and takes its name at the end; answers where the old one went. */
async function rebuildDatabase(
  { directory, context: { nowMs, newUuid } }: Recovery,
  warehouse: LostWarehouse,
  plan: RecoveryPlan,
): Promise<string | undefined> {
  const { databasePath } = directory
  const unfinishedPath = `${databasePath}.recovering`
  rmSync(unfinishedPath, { recursive: true, force: true })
  const database = await openDatabaseAt(unfinishedPath, true)
  try {
    await restoreRows(database, { plan, warehouse, nowMs: nowMs(), newUuid })
  } finally {
    await database.close()
  }
  const aside = `${databasePath}.before-recovery-${new Date(nowMs()).toISOString().replaceAll(':', '-')}`
  const isThere = existsSync(databasePath)
  if (isThere) renameSync(databasePath, aside)
  renameSync(unfinishedPath, databasePath)
  return isThere ? aside : undefined
}

import { existsSync, renameSync, rmSync } from 'node:fs'
import { DatabaseTooNewError } from '@timelake/database/database-errors'
import { lockDataDirectory } from '@timelake/database/data-directory-lock'
import { listNamedTables } from '@timelake/database/name-changes'
import { findWarehouse } from '@timelake/database/warehouses'
import { openLocalObjectStore } from '@timelake/storage/local-object-store'
import { openNameRecords } from '@timelake/storage/name-records'
import type { CommandContext } from './command-context.ts'
import type { Command } from './command-line.ts'
import {
  dataDirectoryAt,
  hasDatabase,
  makeDataDirectory,
  WAREHOUSE_NAME,
  type DataDirectory,
} from './data-directory.ts'
import { CommandError, EXIT_CODES, type ExitCode } from './exit-code.ts'
import { openDatabaseAt } from './open-database.ts'
import { planRecovery, type RecoveryPlan } from './plan-recovery.ts'
import { printRecoveryPlan } from './print-recovery-plan.ts'
import { restoreRows } from './restore-rows.ts'
import { scanWarehouse } from './scan-warehouse.ts'

type RecoverCommand = Extract<Command, { kind: 'recover' }>

/**
 * Rebuilds the database of a data directory from its warehouse. Refuses while a server uses the directory, and without
 * `--force` when the database can be read. The old files are set aside, never deleted; the new ones take their place
 * only when they are complete. Errors: CommandError, DataDirectoryInUseError, those of the store and the database.
 */
export async function recover(
  command: Omit<RecoverCommand, 'kind'>,
  context: CommandContext,
): Promise<ExitCode> {
  const { settings, print } = context
  const directory = dataDirectoryAt(settings.dataDirectory)
  if (!existsSync(directory.warehousePath)) {
    throw new CommandError(EXIT_CODES.failed, `there is no warehouse at ${directory.warehousePath}`)
  }
  makeDataDirectory(directory)
  const lock = lockDataDirectory(directory.path, { pid: process.pid })
  try {
    if (!command.isForced) await refuseHealthyDatabase(directory)
    const plan = await planFor(directory, command, settings.metadataBytesMax)
    print(printRecoveryPlan(plan))
    if (command.isDryRun) {
      print('Nothing was changed.')
      return EXIT_CODES.done
    }
    const aside = await rebuildDatabase(directory, plan, context)
    if (aside !== undefined) print(`The old database is now ${aside}.`)
    print('The database was rebuilt.')
    return EXIT_CODES.done
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
      const warehouse = await findWarehouse(database, WAREHOUSE_NAME)
      if (warehouse === undefined) return 0
      const page = { warehouseId: warehouse.id, afterId: '', limit: Number.MAX_SAFE_INTEGER }
      return (await listNamedTables(database, page)).length
    } finally {
      await database.close()
    }
  } catch (error) {
    if (error instanceof DatabaseTooNewError) throw error
    return undefined
  }
}

async function planFor(
  { warehouseLocation }: DataDirectory,
  { unnamedInto }: Omit<RecoverCommand, 'kind'>,
  metadataBytesMax: number,
): Promise<RecoveryPlan> {
  const store = openLocalObjectStore()
  const names = await openNameRecords(store, warehouseLocation).readAll()
  const { records } = names
  const scan = await scanWarehouse({ store, warehouseLocation, records, metadataBytesMax })
  const plan = planRecovery({ records, found: scan.found, unnamedInto })
  const unreadable = names.unreadable.map((location) => `${location}: cannot be read`)
  return { ...plan, problems: [...unreadable, ...scan.problems, ...plan.problems] }
}

/** The new database is built beside the old one and takes its name at the end; answers where the old one went. */
async function rebuildDatabase(
  directory: DataDirectory,
  plan: RecoveryPlan,
  { nowMs, newUuid }: CommandContext,
): Promise<string | undefined> {
  const { databasePath, warehouseLocation } = directory
  const unfinishedPath = `${databasePath}.recovering`
  rmSync(unfinishedPath, { recursive: true, force: true })
  const database = await openDatabaseAt(unfinishedPath, true)
  try {
    const warehouse = { name: WAREHOUSE_NAME, location: warehouseLocation }
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

import { openNameRecords } from '@timelake/storage/name-records'
import { StoreUnavailableError } from '@timelake/storage/object-store'
import { StorageProfileError } from '@timelake/storage/storage-profile'
import type { WarehouseStores } from '@timelake/storage/warehouse-stores'
import type { CommandContext } from './command-context.ts'
import { openStores } from './context.ts'
import { dataDirectoryAt } from './data-directory.ts'
import { CommandError, EXIT_CODES, type ExitCode } from './exit-code.ts'
import type { LostWarehouse, RecoverCommand, Recovery } from './recovery.ts'
import { planRecovery, type RecoveryPlan } from './plan-recovery.ts'
import { printRecoveryPlan } from './print-recovery-plan.ts'
import { recoverInside } from './recover-inside.ts'
import { recoverEmbedded } from './recover-embedded.ts'
import { scanWarehouse } from './scan-warehouse.ts'

/**
 * Rebuilds the rows of a warehouse from its objects: in a new embedded database of the data directory, or inside a
 * database that has none for it (PostgreSQL, or a warehouse named by the command). Never deletes a database and never
 * adds to a warehouse that has rows. Errors: CommandError, DataDirectoryInUseError, those of the database.
 */
export async function recover(command: RecoverCommand, context: CommandContext): Promise<ExitCode> {
  const { settings, print } = context
  const directory = dataDirectoryAt(settings.dataDirectory)
  const stores = openStores(settings, directory)
  try {
    const plan = async (warehouse: LostWarehouse): Promise<RecoveryPlan> => {
      const made = await planFor({ command, context, stores }, warehouse)
      print(printRecoveryPlan(made))
      return made
    }
    const recovery: Recovery = { command, context, directory, plan }
    const isInside = settings.databaseUrl !== undefined || command.warehouse !== undefined
    const outcome = await (isInside ? recoverInside(recovery) : recoverEmbedded(recovery))
    print(outcome)
    return EXIT_CODES.done
  } finally {
    stores.close()
  }
}

interface PlanOptions {
  readonly command: RecoverCommand
  readonly context: CommandContext
  readonly stores: WarehouseStores
}

async function planFor(options: PlanOptions, warehouse: LostWarehouse): Promise<RecoveryPlan> {
  const { unnamedInto } = options.command
  const { metadataBytesMax } = options.context.settings
  const { location } = warehouse
  try {
    const store = options.stores.storeOf(warehouse)
    const names = await openNameRecords(store, location).readAll()
    const { records } = names
    const warehouseLocation = location
    const scan = await scanWarehouse({ store, warehouseLocation, records, metadataBytesMax })
    const plan = planRecovery({ records, found: scan.found, unnamedInto })
    const unreadable = names.unreadable.map((each) => `${each}: cannot be read`)
    return { ...plan, problems: [...unreadable, ...scan.problems, ...plan.problems] }
  } catch (cause) {
    const isOfStore = cause instanceof StoreUnavailableError || cause instanceof StorageProfileError
    if (!isOfStore) throw cause
    const sentence = `cannot read the warehouse ${location}: ${cause.message}`
    throw new CommandError(EXIT_CODES.failed, sentence, { cause })
  }
}

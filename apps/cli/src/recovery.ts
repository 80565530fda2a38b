import { existsSync } from 'node:fs'
import type { StoredWarehouse } from '@timelake/storage/warehouse-stores'
import type { CommandContext } from './command-context.ts'
import type { Command } from './command-line.ts'
import { WAREHOUSE_NAME, type DataDirectory } from './data-directory.ts'
import { CommandError, EXIT_CODES } from './exit-code.ts'
import { homeWarehouse, storedHome } from './home-warehouse.ts'
import type { RecoveryPlan } from './plan-recovery.ts'

export type RecoverCommand = Omit<Extract<Command, { kind: 'recover' }>, 'kind'>

/** A lost warehouse: how its objects are reached, and what its row said. */
export interface LostWarehouse extends StoredWarehouse {
  readonly name: string
}

/** What one recovery works with. */
export interface Recovery {
  readonly command: RecoverCommand
  readonly context: CommandContext
  readonly directory: DataDirectory
  /** Scans a warehouse, plans and prints the plan. Errors: CommandError when its store cannot be read. */
  readonly plan: (warehouse: LostWarehouse) => Promise<RecoveryPlan>
}

/**
 * The warehouse that the settings describe. Throws CommandError when they describe none, or a folder of this machine
 * that is not there.
 */
export function lostHome({ context, directory }: Recovery): LostWarehouse {
  const home = homeWarehouse(context.settings, directory)
  if (home === undefined) {
    throw new CommandError(
      EXIT_CODES.wrongUsage,
      'set TIMELAKE_WAREHOUSE_LOCATION to the warehouse that is to be recovered, or name one with --warehouse',
    )
  }
  const isOwnFolder = home.location === directory.warehouseLocation
  if (isOwnFolder && !existsSync(directory.warehousePath)) {
    throw new CommandError(EXIT_CODES.failed, `there is no warehouse at ${directory.warehousePath}`)
  }
  return { ...storedHome(home), name: WAREHOUSE_NAME }
}

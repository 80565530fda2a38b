import { lockDataDirectory } from '@timelake/database/data-directory-lock'
import { migrate } from '@timelake/database/migrate'
import { migrationsDirectory } from '@timelake/database/migrations-directory'
import { openPostgresDatabase } from '@timelake/database/open-postgres-database'
import { findWarehouse } from '@timelake/database/warehouses'
import type { Database, EmbeddedDatabase } from '@timelake/database/sql-session'
import type { Settings } from '@timelake/timelake/contract/settings'
import type { Logger } from 'pino'
import type { Closer } from './close-all.ts'
import { hasDatabase, WAREHOUSE_NAME, type DataDirectory } from './data-directory.ts'
import { openDatabaseAt } from './open-database.ts'

/** Where the rows are: in this process alone, or on a server that other processes use too. */
export type OpenState =
  | { readonly kind: 'embedded'; readonly database: EmbeddedDatabase }
  | { readonly kind: 'shared'; readonly database: Database }

export interface OpenStateOptions {
  readonly settings: Settings
  readonly directory: DataDirectory
  readonly log: Logger
  /** Gets what must be closed later. */
  readonly closers: Closer[]
  /** Called when the database knows no warehouse `main` yet; throws to refuse. */
  readonly beforeFirstStart: () => Promise<void>
}

/**
 * The migrated database of the settings. Errors: DataDirectoryInUseError, DatabaseTooNewError, MigrationChangedError,
 * DatabaseUnavailableError, and those of `beforeFirstStart`.
 */
export async function openState(options: OpenStateOptions): Promise<OpenState> {
  const { databaseUrl } = options.settings
  return databaseUrl === undefined ? openEmbedded(options) : openShared(options, databaseUrl)
}

async function openEmbedded(options: OpenStateOptions): Promise<OpenState> {
  const { directory, closers, beforeFirstStart } = options
  const lock = lockDataDirectory(directory.path, { pid: process.pid })
  closers.push(async () => lock.release())
  const isFresh = !hasDatabase(directory)
  if (isFresh) await beforeFirstStart()
  const database = await openDatabaseAt(directory.databasePath, isFresh)
  closers.push(() => database.close())
  return { kind: 'embedded', database }
}

async function openShared(
  { settings, closers, log, beforeFirstStart }: OpenStateOptions,
  url: string,
): Promise<OpenState> {
  const database = await openPostgresDatabase({
    url,
    connectionsMax: settings.databaseConnectionsMax,
    applicationName: 'timelake',
    onNotice: (text) => log.info({ notice: text }, 'the database says'),
  })
  closers.push(() => database.close())
  await migrate(database, migrationsDirectory())
  if ((await findWarehouse(database, WAREHOUSE_NAME)) === undefined) await beforeFirstStart()
  return { kind: 'shared', database }
}

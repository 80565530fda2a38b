import { migrate } from '@timelake/database/migrate'
import { migrationsDirectory } from '@timelake/database/migrations-directory'
import { openPgliteDatabase } from '@timelake/database/open-pglite-database'
import { ensurePgliteTemplate } from '@timelake/database/pglite-template'
import type { EmbeddedDatabase } from '@timelake/database/sql-session'
import { templateCacheDirectory } from './data-directory.ts'

/**
 * The migrated database in a directory, made from the template when the directory has none. The caller holds the lock
 * of the data directory. Errors: DatabaseTooNewError, MigrationChangedError, DatabaseUnavailableError.
 */
export async function openDatabaseAt(
  databasePath: string,
  isFresh: boolean,
): Promise<EmbeddedDatabase> {
  const template = isFresh
    ? { templateFile: await ensurePgliteTemplate(templateCacheDirectory()) }
    : {}
  const database = await openPgliteDatabase({ dataDirectory: databasePath, ...template })
  try {
    await migrate(database, migrationsDirectory())
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

import { migrate } from '@timelake/database/migrate'
import { migrationsDirectory } from '@timelake/database/migrations-directory'
import { openPgliteDatabase } from '@timelake/database/open-pglite-database'
import { ensurePgliteTemplate } from '@timelake/database/pglite-template'
import type { EmbeddedDatabase } from '@timelake/database/sql-session'
import { testCacheDirectory } from './test-cache-directory.ts'

/** A new, empty, migrated database in memory. It takes about half a second: open one per file and close it. */
export async function openTestDatabase(): Promise<EmbeddedDatabase> {
  const templateFile = await ensurePgliteTemplate(testCacheDirectory())
  const database = await openPgliteDatabase({ templateFile })
  await migrate(database, migrationsDirectory())
  return database
}

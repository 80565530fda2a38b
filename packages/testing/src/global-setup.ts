import { ensurePgliteTemplate } from '@timelake/database/pglite-template'
import { testCacheDirectory } from './test-cache-directory.ts'

/** Runs once before all suites: makes the database template that every test file starts from. */
export default async function setup(): Promise<void> {
  await ensurePgliteTemplate(testCacheDirectory())
}

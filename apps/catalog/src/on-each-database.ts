import { testServices } from '@timelake/testing/test-services'
import { describe } from 'vitest'

const HAS_SERVER = testServices().databaseUrl !== undefined

/** The suite once on a database in memory, once on PostgreSQL. */
export function describeOnEachDatabase(
  name: string,
  suite: (on: 'pglite' | 'postgres') => void,
): void {
  describe(`${name} on PGlite`, () => suite('pglite'))
  describeOnPostgres(name, () => suite('postgres'))
}

/** For suites that need several processes on one database. */
export function describeOnPostgres(name: string, suite: () => void): void {
  describe.skipIf(!HAS_SERVER)(`${name} on PostgreSQL (skipped without TEST_DATABASE_URL)`, suite)
}

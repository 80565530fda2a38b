import { createHash, randomBytes } from 'node:crypto'
import { migrate, readMigrations } from '@timelake/database/migrate'
import { migrationsDirectory } from '@timelake/database/migrations-directory'
import {
  openPostgresDatabase,
  type PostgresOptions,
} from '@timelake/database/open-postgres-database'
import type { Database } from '@timelake/database/sql-session'
import { testServices } from './test-services.ts'

export interface PostgresTestDatabase extends Database {
  /** For further connections to the same database, as of another process. */
  readonly url: string
}

/** Guards the making of the template; the number only has to be ours. */
const TEMPLATE_LOCK = 7_241_994
const CONNECTIONS_MAX = 8

/**
 * A new, empty, migrated database on the server of TEST_DATABASE_URL, dropped when it is closed. It takes some ten
 * milliseconds, because it is copied from a template that the first caller makes. Throws where there is no server:
 * look at `testServices().databaseUrl` first.
 */
export async function openPostgresTestDatabase(
  options: Partial<PostgresOptions> = {},
): Promise<PostgresTestDatabase> {
  const template = await ensureTemplate()
  return openFrom(template, options)
}

/** The same without tables, for tests of migrations. */
export function openEmptyPostgresTestDatabase(
  options: Partial<PostgresOptions> = {},
): Promise<PostgresTestDatabase> {
  return openFrom('template0', options)
}

async function openFrom(
  template: string,
  options: Partial<PostgresOptions>,
): Promise<PostgresTestDatabase> {
  const name = `timelake_test_${randomBytes(6).toString('hex')}`
  await onServer((server) => server.runScript(`create database ${name} template ${template}`))
  const url = urlOf(name)
  const database = await openPostgresDatabase({ url, connectionsMax: CONNECTIONS_MAX, ...options })
  return {
    url,
    query: (text, params) => database.query(text, params),
    runScript: (text) => database.runScript(text),
    transaction: (run) => database.transaction(run),
    async close() {
      await database.close()
      await onServer((server) => server.runScript(`drop database ${name} with (force)`))
    },
  }
}

/** The name of a migrated database, made once for each set of migrations. */
async function ensureTemplate(): Promise<string> {
  const hash = createHash('sha256')
  for (const { checksum } of readMigrations(migrationsDirectory())) hash.update(checksum)
  const name = `timelake_template_${hash.digest('hex').slice(0, 12)}`
  await onServer((server) => makeTemplate(server, name))
  return name
}

async function makeTemplate(server: Database, name: string): Promise<void> {
  const isThere = async () =>
    (await server.query('select 1 from pg_database where datname = $1', [name])).length === 1
  if (await isThere()) return
  await server.transaction(async (session) => {
    await session.query('select pg_advisory_xact_lock($1::bigint)', [TEMPLATE_LOCK])
    if (await isThere()) return
    const unfinished = `${name}_${randomBytes(4).toString('hex')}`
    await server.runScript(`create database ${unfinished} template template0 encoding 'UTF8'`)
    const database = await openPostgresDatabase({ url: urlOf(unfinished), connectionsMax: 1 })
    await migrate(database, migrationsDirectory())
    await database.close()
    await server.runScript(`alter database ${unfinished} rename to ${name}`)
  })
}

async function onServer<T>(work: (server: Database) => Promise<T>): Promise<T> {
  const server = await openPostgresDatabase({ url: serverUrl(), connectionsMax: 2 })
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}

function serverUrl(): string {
  const { databaseUrl } = testServices()
  if (databaseUrl === undefined)
    throw new Error('a test asks for PostgreSQL without TEST_DATABASE_URL')
  return databaseUrl
}

function urlOf(databaseName: string): string {
  const url = new URL(serverUrl())
  url.pathname = `/${databaseName}`
  return url.href
}

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseTooNewError, MigrationChangedError } from './database-errors.ts'
import type { Database, SqlSession } from './sql-session.ts'

export interface Migration {
  readonly version: number
  /** The file name, for example `0001-catalog.sql`. */
  readonly name: string
  readonly text: string
  readonly checksum: string
}

interface AppliedMigration {
  readonly version: number
  readonly name: string
  readonly checksum: string
}

const MIGRATION_FILE = /^(\d{4})-[a-z0-9-]+\.sql$/

/**
 * Processes that start at once apply each migration once: they wait for each other, however long that takes. The number
 * only has to be ours.
 */
const TAKE_TURNS = `
set local statement_timeout = 0;
set local lock_timeout = 0;
select pg_advisory_xact_lock(7241993)`

/**
 * Brings the schema up to the newest file of the directory, each migration in its own transaction together with its
 * record. Answers the names that it applied now. Throws DatabaseTooNewError when the database has seen a version
 * that the directory does not have, and MigrationChangedError when an applied file reads differently.
 */
export async function migrate(
  database: Database,
  migrationsDirectory: string,
): Promise<{ applied: string[] }> {
  const migrations = readMigrations(migrationsDirectory)
  const applied: string[] = []
  for (const migration of await pendingMigrations(database, migrations)) {
    const ran = await database.transaction((session) => applyMigration(session, migration))
    if (ran) applied.push(migration.name)
  }
  return { applied }
}

/** The migrations in order. Throws MigrationChangedError unless the numbers run 1, 2, 3 … without gaps. */
export function readMigrations(directory: string): Migration[] {
  const names = readdirSync(directory).filter((name) => MIGRATION_FILE.test(name))
  return names.sort().map((name, index) => {
    const version = Number(MIGRATION_FILE.exec(name)?.[1])
    if (version !== index + 1) {
      throw new MigrationChangedError(
        `migrations are numbered without gaps: expected ${index + 1}, found ${name}`,
      )
    }
    const text = readFileSync(join(directory, name), 'utf8').replaceAll('\r\n', '\n')
    return { version, name, text, checksum: createHash('sha256').update(text).digest('hex') }
  })
}

async function pendingMigrations(
  database: Database,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const applied = await readApplied(database)
  const newest = applied.at(-1)?.version ?? 0
  if (newest > migrations.length) throw new DatabaseTooNewError(newest, migrations.length)
  for (const record of applied) checkUnchanged(record, migrations)
  return migrations.slice(newest)
}

async function readApplied(session: SqlSession): Promise<AppliedMigration[]> {
  // @NOTE to_regclass answers from a cache, which a session that waits for its turn does not refresh.
  const found = await session.query(
    `select 1 from pg_class where relnamespace = 'public'::regnamespace and relname = 'schema_migration'`,
  )
  if (found.length === 0) return []
  return session.query(
    'select version, name, checksum from public.schema_migration order by version',
  )
}

function checkUnchanged(record: AppliedMigration, migrations: readonly Migration[]): void {
  const known = migrations[record.version - 1]
  if (known?.checksum === record.checksum) return
  throw new MigrationChangedError(
    `migration ${record.name} was changed after it was applied to this database: ` +
      'restore the file, and put what is new into a new migration',
  )
}

async function applyMigration(session: SqlSession, migration: Migration): Promise<boolean> {
  await session.runScript(TAKE_TURNS)
  const applied = await readApplied(session)
  if (applied.some((record) => record.version === migration.version)) return false
  await session.runScript(migration.text)
  await session.query(
    'insert into public.schema_migration (version, name, checksum) values ($1, $2, $3)',
    [migration.version, migration.name, migration.checksum],
  )
  return true
}

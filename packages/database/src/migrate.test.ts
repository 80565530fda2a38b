import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  openEmptyPostgresTestDatabase,
  openPostgresTestDatabase,
} from '@timelake/testing/open-postgres-test-database'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { testServices } from '@timelake/testing/test-services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DatabaseTooNewError, MigrationChangedError } from './database-errors.ts'
import { migrate, type Migration, readMigrations } from './migrate.ts'
import { migrationsDirectory } from './migrations-directory.ts'
import { openPostgresDatabase } from './open-postgres-database.ts'
import { printSchema } from './print-schema.ts'
import type { Database } from './sql-session.ts'

const isThere = testServices().databaseUrl !== undefined

describe('migrations of the embedded database', () => describeMigrations(openTestDatabase))

describe.skipIf(!isThere)('migrations of PostgreSQL (skipped without TEST_DATABASE_URL)', () => {
  describeMigrations(openPostgresTestDatabase)

  it('are applied once by processes that start together on an empty database', async () => {
    const first = await openEmptyPostgresTestDatabase({ connectionsMax: 1, ...IMPATIENT })
    const others = await Promise.all(
      [1, 2, 3].map(() =>
        openPostgresDatabase({ url: first.url, connectionsMax: 1, ...IMPATIENT }),
      ),
    )
    try {
      const ours = readMigrations(migrationsDirectory())
      const slow = `${String(ours.length + 1).padStart(4, '0')}-slow.sql`
      await withDirectory(ours, { [slow]: 'select pg_sleep(0.3)' }, async (files) => {
        const results = await Promise.all([first, ...others].map((each) => migrate(each, files)))
        const names = [...ours.map(({ name }) => name), slow]
        expect(results.flatMap(({ applied }) => applied).sort()).toEqual(names)
      })
      const golden = await readFile(join(migrationsDirectory(), 'schema.sql'), 'utf8')
      expect(await printSchema(first)).toBe(golden)
    } finally {
      for (const other of others) await other.close()
      await first.close()
    }
  })
})

/** Shorter than the migration of that test takes: who waits for a migration waits as long as it takes. */
const IMPATIENT = { statementTimeoutMs: 100, lockTimeoutMs: 50 }

type NamedText = Pick<Migration, 'name' | 'text'>

/** Runs with a directory of these migrations and the extra ones, whose names are the keys. */
async function withDirectory(
  ours: readonly NamedText[],
  extra: Readonly<Record<string, string>>,
  run: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'timelake-migrations-'))
  try {
    for (const { name, text } of ours) await writeFile(join(directory, name), text)
    for (const [name, text] of Object.entries(extra)) await writeFile(join(directory, name), text)
    await run(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

function describeMigrations(open: () => Promise<Database>): void {
  let database: Database
  const ours = readMigrations(migrationsDirectory())
  const nextNumber = String(ours.length + 1).padStart(4, '0')

  beforeAll(async () => {
    database = await open()
  })

  afterAll(() => database.close())

  it('add up to schema.sql (npx tsx packages/database/src/print-schema.ts)', async () => {
    const golden = await readFile(join(migrationsDirectory(), 'schema.sql'), 'utf8')
    expect(await printSchema(database)).toBe(golden)
  })

  it('keep clear of the names of the queue, which shares the database', async () => {
    const tables = await database.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    )
    const taken = /^(job|meta|dedup|metrics|scheduler|migration|relay_.*)$/
    expect(tables.map((table) => table.name).filter((name) => taken.test(name))).toEqual([])
  })

  it('are applied once, with their record', async () => {
    await withDirectory(
      ours,
      { [`${nextNumber}-more.sql`]: 'create table more (a int); create table even_more (b int);' },
      async (files) => {
        expect(await migrate(database, files)).toEqual({ applied: [`${nextNumber}-more.sql`] })
        expect(await migrate(database, files)).toEqual({ applied: [] })
        expect(await database.query('select * from even_more')).toEqual([])
        await undo(`drop table more; drop table even_more;`)
      },
    )
  })

  it('are applied whole or not at all', async () => {
    const broken = 'create table half (a int); insert into no_such_table values (1);'
    await withDirectory(ours, { [`${nextNumber}-broken.sql`]: broken }, async (files) => {
      await expect(migrate(database, files)).rejects.toMatchObject({ code: '42P01' })
      await expect(database.query('select * from half')).rejects.toMatchObject({ code: '42P01' })
      expect(await migrate(database, migrationsDirectory())).toEqual({ applied: [] })
    })
  })

  it('are applied once by several that start together', async () => {
    await withDirectory(
      ours,
      { [`${nextNumber}-race.sql`]: 'create table race (a int)' },
      async (files) => {
        const results = await Promise.all([1, 2, 3].map(() => migrate(database, files)))
        expect(results.flatMap(({ applied }) => applied)).toEqual([`${nextNumber}-race.sql`])
        await undo('drop table race')
      },
    )
  })

  it('are refused when the database has seen a newer one', async () => {
    await withDirectory(
      ours,
      { [`${nextNumber}-newer.sql`]: 'create table newer (a int)' },
      async (files) => {
        await migrate(database, files)
        const error = await migrate(database, migrationsDirectory()).catch(
          (caught: unknown) => caught,
        )
        expect(error).toBeInstanceOf(DatabaseTooNewError)
        expect(String(error)).toContain(`schema version ${ours.length + 1}`)
        expect(String(error)).toContain(`versions up to ${ours.length}`)
        await undo('drop table newer')
      },
    )
  })

  it('are refused when an applied one was changed, but not for another line ending', async () => {
    const [first] = ours
    const changed = { [first?.name ?? '']: `${first?.text ?? ''}\n-- changed\n` }
    await withDirectory(ours, changed, async (files) => {
      await expect(migrate(database, files)).rejects.toThrow(MigrationChangedError)
    })
    const windows = { [first?.name ?? '']: (first?.text ?? '').replaceAll('\n', '\r\n') }
    await withDirectory(ours, windows, async (files) => {
      expect(await migrate(database, files)).toEqual({ applied: [] })
    })
  })

  it('are refused when a number is missing', async () => {
    await withDirectory(ours, { '0099-gap.sql': 'select 1' }, async (files) => {
      await expect(migrate(database, files)).rejects.toThrow(MigrationChangedError)
    })
  })

  const undo = async (sql: string) => {
    await database.runScript(sql)
    await database.query('delete from schema_migration where version > $1', [ours.length])
  }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testCacheDirectory } from '@timelake/testing/test-cache-directory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newNamespace, newTable, newWarehouse } from './contract/contract-world.ts'
import { DatabaseUnavailableError, StatementError } from './database-errors.ts'
import { findTableById } from './find-tables.ts'
import { migrate } from './migrate.ts'
import { migrationsDirectory } from './migrations-directory.ts'
import { openPgliteDatabase } from './open-pglite-database.ts'
import { ensurePgliteTemplate, pgliteTemplatePath } from './pglite-template.ts'

/** Making a database without a template takes seconds, on a busy machine many. */
const TIMEOUT_MS = 180_000

describe('the embedded database', { timeout: TIMEOUT_MS }, () => {
  let directory: string
  let templateFile: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'timelake-database-'))
    templateFile = await ensurePgliteTemplate(testCacheDirectory())
  })

  afterAll(() => rm(directory, { recursive: true, force: true }))

  it('makes its directory with its parents, for its owner only', async () => {
    const dataDirectory = join(directory, 'a', 'b', 'database')
    const database = await openPgliteDatabase({ dataDirectory, templateFile })
    await database.close()
    expect((await stat(dataDirectory)).mode & 0o777).toBe(0o700)
  })

  it('starts migrated from the template and keeps its rows when it is opened again', async () => {
    const dataDirectory = join(directory, 'kept')
    const first = await openPgliteDatabase({ dataDirectory, templateFile })
    expect(await migrate(first, migrationsDirectory())).toEqual({ applied: [] })
    const table = await newTable(first, await newNamespace(first, await newWarehouse(first)))
    await first.close()
    const second = await openPgliteDatabase({ dataDirectory, templateFile })
    expect(await findTableById(second, table.id)).toMatchObject({ name: 't' })
    await second.close()
  })

  it('starts without a template too, when it is missing', async () => {
    const database = await openPgliteDatabase({ templateFile: join(directory, 'missing.tar') })
    const { applied } = await migrate(database, migrationsDirectory())
    const files = (await readdir(migrationsDirectory())).filter((name) => /^\d/.test(name))
    expect(applied).toEqual(files.sort())
    await database.close()
  })

  it('does not take a directory with damaged files for a fresh one', async () => {
    const dataDirectory = join(directory, 'damaged')
    await (await openPgliteDatabase({ dataDirectory, templateFile })).close()
    await rm(join(dataDirectory, 'global', 'pg_control'))
    const opened = openPgliteDatabase({ dataDirectory, templateFile })
    await expect(opened).rejects.toThrow(DatabaseUnavailableError)
  })

  it('refuses statements after it was closed, and does not hang', async () => {
    const database = await openPgliteDatabase({ templateFile })
    await database.close()
    await expect(database.query('select 1')).rejects.toThrow(DatabaseUnavailableError)
  })

  it('keeps every acknowledged swap when its process is killed', async () => {
    const dataDirectory = join(directory, 'killed')
    const acknowledged = await writeUntilKilled(dataDirectory, templateFile)
    const database = await openPgliteDatabase({ dataDirectory, templateFile })
    const [row] = await database.query<{ n: bigint; newest: bigint }>(
      'select count(*) as n, max(event_number) as newest from outbox_event where table_id is not null',
    )
    const [table] = await database.query<{ version: bigint; event_number: bigint }>(
      'select version, event_number from catalog_table',
    )
    expect(Number(table?.version)).toBeGreaterThanOrEqual(acknowledged)
    expect(row).toEqual({ n: table?.event_number, newest: table?.event_number })
    await database.close()
  })

  it('checkpoints a long write-ahead log and vacuums worn tables by itself', async () => {
    const dataDirectory = join(directory, 'busy')
    const database = await openPgliteDatabase({ dataDirectory, templateFile })
    await database.runScript('create table worn (text text)')
    const rows = 'select repeat(md5(n::text), 4) from generate_series(1, 100000) as n'
    for (let i = 0; i < 4; i++) await database.query(`insert into worn ${rows}`)
    await database.query(`delete from worn where text like '0%'`)
    await database.query('delete from worn')
    for (let i = 0; i < 1000; i++) await database.query('select $1::int', [i])
    const [worn] = await database.query<{ bytes: bigint }>(
      `select pg_relation_size('worn') as bytes`,
    )
    const log = await readdir(join(dataDirectory, 'pg_wal'))
    await database.close()
    expect(worn).toEqual({ bytes: 0n })
    expect(log.filter((name) => /^[0-9A-F]{24}$/.test(name)).length).toBeLessThanOrEqual(5)
  })

  it('evicts prepared statements instead of keeping every text for ever', async () => {
    const database = await openPgliteDatabase({ templateFile })
    for (let i = 0; i < 600; i++) await database.query(`select ${i} as n`)
    const [row] = await database.query<{ n: bigint }>(
      'select count(*) as n from pg_prepared_statements',
    )
    expect(Number(row?.n)).toBeLessThanOrEqual(500)
    expect(await database.query('select 0 as n')).toEqual([{ n: 0 }])
    await database.close()
  })

  it('builds one template when two build it at once, in the place of older ones', async () => {
    const cache = join(directory, 'cache')
    await mkdir(cache)
    await writeFile(join(cache, 'pglite-0.0.1-0000000000000000.tar'), 'old')
    const file = pgliteTemplatePath(cache)
    expect(await Promise.all([ensurePgliteTemplate(cache), ensurePgliteTemplate(cache)])).toEqual([
      file,
      file,
    ])
    expect(await readdir(cache)).toEqual([basename(file)])
  })

  it('runs no statement in parallel with itself', async () => {
    const database = await openPgliteDatabase({ templateFile })
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) => database.query('select 10 / ($1::int % 2) as n', [i])),
    )
    expect(results.map(({ status }) => status)).toEqual(
      Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? 'rejected' : 'fulfilled')),
    )
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(StatementError)
    }
    await database.close()
  })
})

/** Lets a child process swap as fast as it can, kills it, and answers the last swap that it had reported. */
async function writeUntilKilled(dataDirectory: string, templateFile: string): Promise<number> {
  const script = fileURLToPath(new URL('./fixtures/swap-for-ever.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, dataDirectory, templateFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let newest = 0
  for await (const chunk of child.stdout) {
    newest = Number(String(chunk).trim().split('\n').at(-1))
    if (newest >= 200 && !child.killed) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return newest
}

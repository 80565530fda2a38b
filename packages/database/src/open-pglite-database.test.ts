import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testCacheDirectory } from '@timelake/testing/test-cache-directory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newNamespace, newTable, newWarehouse, event, NOW_MS } from './contract/contract-world.ts'
import { DatabaseUnavailableError, StatementError } from './database-errors.ts'
import { findTableById } from './find-tables.ts'
import { migrate } from './migrate.ts'
import { migrationsDirectory } from './migrations-directory.ts'
import { openPgliteDatabase } from './open-pglite-database.ts'
import { ensurePgliteTemplate, pgliteTemplatePath } from './pglite-template.ts'
import { swapMetadataLocation } from './swap-metadata-location.ts'

describe('the embedded database', () => {
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

  it('keeps the write-ahead log short and the tables small', async () => {
    const dataDirectory = join(directory, 'busy')
    const database = await openPgliteDatabase({ dataDirectory, templateFile })
    const table = await newTable(database, await newNamespace(database, await newWarehouse(database)))
    const payload = JSON.stringify('x'.repeat(20_000))
    let expected = table.metadataLocation
    for (let i = 0; i < 3000; i++) {
      const swap = { tableId: table.id, expected, next: `m${i}`, tableUuid: 'u', nowMs: NOW_MS }
      const outcome = await swapMetadataLocation(database, {
        ...swap,
        location: table.location,
        event: event('table-committed', i % 2 === 0 ? payload : '{}'),
      })
      if (outcome === 'swapped') expected = swap.next
      if (i % 100 === 99) await database.query('delete from outbox_event')
    }
    const [size] = await database.query<{ bytes: bigint }>(
      `select pg_total_relation_size('outbox_event') as bytes`,
    )
    await database.close()
    expect(Number(size?.bytes)).toBeLessThan(20 * 1024 * 1024)
    const segments = (await readdir(join(dataDirectory, 'pg_wal'))).filter((name) => /^[0-9A-F]{24}$/.test(name))
    expect(segments.length).toBeLessThanOrEqual(6)
  })

  it('evicts prepared statements instead of keeping every text for ever', async () => {
    const database = await openPgliteDatabase({ templateFile })
    for (let i = 0; i < 600; i++) await database.query(`select ${i} as n`)
    const [row] = await database.query<{ n: bigint }>('select count(*) as n from pg_prepared_statements')
    expect(Number(row?.n)).toBeLessThanOrEqual(500)
    expect(await database.query('select 0 as n')).toEqual([{ n: 0 }])
    await database.close()
  })

  it('builds one template when two processes build it at once', async () => {
    const cache = join(directory, 'cache')
    const file = pgliteTemplatePath(cache)
    expect(await Promise.all([ensurePgliteTemplate(cache), ensurePgliteTemplate(cache)])).toEqual([file, file])
    expect(await readdir(cache)).toHaveLength(1)
  })

  it('replaces the templates of other versions', async () => {
    const cache = join(directory, 'old-cache')
    const file = await ensurePgliteTemplate(cache)
    await rm(file)
    await writeFile(join(cache, 'pglite-0.0.1-0000000000000000.tar'), 'old')
    await ensurePgliteTemplate(cache)
    expect(await readdir(cache)).toEqual([file.slice(cache.length + 1)])
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

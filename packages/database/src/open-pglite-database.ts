import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { DatabaseUnavailableError } from './database-errors.ts'
import { INT8_OID } from './decode-rows.ts'
import { PgliteConnection } from './pglite-connection.ts'
import { PgliteDatabase } from './pglite-database.ts'
import type { EmbeddedDatabase } from './sql-session.ts'

export interface PgliteDatabaseOptions {
  /** Absent: in this process's memory, gone when it is closed. */
  readonly dataDirectory?: string
  /** A file of `buildPgliteTemplate`; it makes the first start of a directory quick. Ignored when it is absent. */
  readonly templateFile?: string
}

/**
 * Opens PostgreSQL inside this process. The schema is whatever the directory or the template holds: call `migrate`.
 * A new data directory is readable by its owner only. Nothing guards the directory against a second process, which
 * would lose data silently: hold `lockDataDirectory` first. PGlite never flushes to disk: a killed process loses
 * nothing, a power cut may.
 */
export async function openPgliteDatabase(
  options: PgliteDatabaseOptions = {},
): Promise<EmbeddedDatabase> {
  const pglite = await openPglite(options)
  return new PgliteDatabase(new PgliteConnection(pglite))
}

/** Settings on top of the driver's own; small buffers, because the table of pointers is small. */
const START_PARAMETERS = [
  ['shared_buffers', '16MB'],
  ['max_connections', '10'],
  ['wal_level', 'minimal'],
  ['max_wal_senders', '0'],
  ['min_wal_size', '32MB'],
  ['max_wal_size', '64MB'],
  ['jit', 'off'],
  // Planning the swap anew each time costs four times its execution.
  ['plan_cache_mode', 'force_generic_plan'],
  // Plans are made once, perhaps over empty tables, and must still be right when these have grown: by index.
  ['enable_seqscan', 'off'],
  ['enable_hashjoin', 'off'],
  ['enable_mergejoin', 'off'],
  // The queue's tables live in schema bullmq; ours come first.
  ['search_path', 'public,bullmq'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`])

/** The driver itself, for making templates. */
export async function openPglite(options: PgliteDatabaseOptions): Promise<PGlite> {
  const settings: PGliteOptions = {
    startParams: [...PGlite.defaultStartParams, ...START_PARAMETERS],
    parsers: { [INT8_OID]: (text: string) => BigInt(text) },
  }
  if (options.dataDirectory !== undefined) {
    mkdirSync(options.dataDirectory, { recursive: true, mode: 0o700 })
    await chmod(options.dataDirectory, 0o700)
    settings.dataDir = options.dataDirectory
  }
  if (isFresh(options.dataDirectory) && options.templateFile && existsSync(options.templateFile)) {
    settings.loadDataDir = new Blob([readFileSync(options.templateFile)])
  }
  try {
    return await PGlite.create(settings)
  } catch (error) {
    throw new DatabaseUnavailableError(
      `cannot open the database in ${options.dataDirectory ?? 'memory'}: its files may be damaged`,
      { cause: error },
    )
  }
}

function isFresh(dataDirectory: string | undefined): boolean {
  return dataDirectory === undefined || !existsSync(join(dataDirectory, 'PG_VERSION'))
}

import { DatabaseUnavailableError, UnsupportedServerError } from './database-errors.ts'
import { PostgresConnection } from './postgres-connection.ts'
import { PostgresDatabase } from './postgres-database.ts'
import { PostgresPool } from './postgres-pool.ts'
import type { Database, SqlSession } from './sql-session.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database?sslmode=verify-full`; its parameters win over the defaults here. */
  readonly url: string
  readonly connectionsMax: number
  /** What the server's lists of sessions show. */
  readonly applicationName?: string
  readonly statementTimeoutMs?: number
  readonly lockTimeoutMs?: number
  readonly idleInTransactionTimeoutMs?: number
  readonly connectTimeoutMs?: number
  /** Gets the server's notices and warnings. Default: nobody. */
  readonly onNotice?: (text: string) => void
}

const STATEMENT_TIMEOUT_MS = 30_000
const LOCK_TIMEOUT_MS = 10_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_MS = 10_000

/**
 * The database on a PostgreSQL server. Connections are opened when they are needed, at most `connectionsMax`, and anew
 * after an outage. The schema is whatever the server holds: call `migrate`. Prepared statements stay with their
 * session, so a pooler in between must keep sessions whole.
 * Errors: DatabaseUnavailableError, also for a URL that cannot be read; UnsupportedServerError. No message holds the
 * password.
 */
export async function openPostgresDatabase(options: PostgresOptions): Promise<Database> {
  if (!/^postgres(ql)?:\/\//.test(options.url)) {
    throw new DatabaseUnavailableError(
      'the database URL does not begin with postgres:// or postgresql://',
    )
  }
  const connection = {
    url: options.url,
    applicationName: options.applicationName ?? 'timelake',
    statementTimeoutMs: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: options.lockTimeoutMs ?? LOCK_TIMEOUT_MS,
    idleInTransactionTimeoutMs:
      options.idleInTransactionTimeoutMs ?? IDLE_IN_TRANSACTION_TIMEOUT_MS,
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    onNotice: options.onNotice ?? (() => {}),
  }
  const database = new PostgresDatabase(
    new PostgresPool({
      connectionsMax: options.connectionsMax,
      openConnection: () => PostgresConnection.open(connection),
    }),
  )
  try {
    checkServer(await readServer(database))
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

export interface ServerFacts {
  /** Such as 150018 for 15.18. */
  readonly version: number
  readonly encoding: string
}

async function readServer(session: SqlSession): Promise<ServerFacts> {
  const [row] = await session.query<ServerFacts>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
  )
  return row ?? { version: 0, encoding: '' }
}

const SERVER_VERSION_MIN = 15

/** Throws UnsupportedServerError unless a server like this can hold the catalog. */
export function checkServer({ version, encoding }: ServerFacts): void {
  const major = Math.floor(version / 10_000)
  if (major < SERVER_VERSION_MIN) {
    throw new UnsupportedServerError(
      `the database server is PostgreSQL ${major}: expected ${SERVER_VERSION_MIN} or newer`,
    )
  }
  if (encoding !== 'UTF8') {
    throw new UnsupportedServerError(
      `the database is encoded as ${encoding}: expected UTF8, as "create database … encoding 'UTF8'" makes it`,
    )
  }
}

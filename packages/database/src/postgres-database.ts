import { DatabaseUnavailableError } from './database-errors.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import type { PostgresPool } from './postgres-pool.ts'
import type { Database, SqlSession } from './sql-session.ts'
import { COMMIT, type HeldConnection, runTransaction } from './sql-transaction.ts'
import { TurnQueue } from './turn-queue.ts'

/** The database over a pool of connections to a PostgreSQL server. */
export class PostgresDatabase implements Database {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  query<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    return this.#pool.use((connection) => connection.query<Row>(text, params))
  }

  runScript(text: string): Promise<void> {
    return this.#pool.use((connection) => connection.runScript(text))
  }

  transaction<T>(run: (session: SqlSession) => Promise<T>): Promise<T> {
    return this.#pool.use((connection) => transactionOn(connection, run))
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

async function transactionOn<T>(
  connection: PostgresConnection,
  run: (session: SqlSession) => Promise<T>,
): Promise<T> {
  const turns = new TurnQueue()
  const held: HeldConnection = {
    query: (text, params) =>
      turns.run(() => connection.query<never>(text, params)).catch(throwUncommitted),
    runScript: (text) => turns.run(() => connection.runScript(text)).catch(throwUncommitted),
    command: (text) => {
      const answer = turns.run(() => connection.command(text))
      return text === COMMIT ? answer : answer.catch(throwUncommitted)
    },
  }
  return runTransaction(held, run)
}

/** A transaction whose connection is lost before its commit was sent is rolled back by the server. */
function throwUncommitted(error: unknown): never {
  if (!(error instanceof DatabaseUnavailableError)) throw error
  throw new DatabaseUnavailableError(error.message, { cause: error.cause, isUnsent: true })
}

import { StatementError } from './database-errors.ts'
import type { SqlSession } from './sql-session.ts'

/** The statement that ends a transaction, and what the server says when it did. */
export const COMMIT = 'COMMIT'

/** A connection that a transaction has to itself. Answers what is asked of it in the order of asking. */
export interface HeldConnection {
  query<Row>(text: string, params: readonly unknown[]): Promise<Row[]>
  runScript(text: string): Promise<void>
  /** BEGIN, COMMIT or ROLLBACK; the command tag of the answer. */
  command(text: string): Promise<string>
}

/**
 * What `Database.transaction` promises, on one connection: commits when `run` resolves, rolls back when it rejects and
 * throws that. The session that `run` gets is of no use afterwards.
 */
export async function runTransaction<T>(
  connection: HeldConnection,
  run: (session: SqlSession) => Promise<T>,
): Promise<T> {
  const session = new TransactionSession(connection)
  await connection.command('BEGIN')
  let value: T
  try {
    value = await run(session)
  } catch (error) {
    session.end()
    // When even this fails the connection is gone and the transaction with it; the first error says why.
    await connection.command('ROLLBACK').catch(() => {})
    throw error
  }
  session.end()
  if ((await connection.command(COMMIT)) !== COMMIT) {
    throw new StatementError(
      'the transaction was rolled back, because one of its statements had failed',
    )
  }
  return value
}

class TransactionSession implements SqlSession {
  readonly #connection: HeldConnection
  #ended = false

  constructor(connection: HeldConnection) {
    this.#connection = connection
  }

  async query<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    this.#checkOpen()
    return this.#connection.query(text, params)
  }

  async runScript(text: string): Promise<void> {
    this.#checkOpen()
    await this.#connection.runScript(text)
  }

  end(): void {
    this.#ended = true
  }

  #checkOpen(): void {
    if (this.#ended) throw new StatementError('the transaction of this session has ended')
  }
}

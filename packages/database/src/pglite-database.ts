import { StatementError } from './database-errors.ts'
import { decodeRows, nodePostgresParsers, type ParserOf, sessionParsers } from './decode-rows.ts'
import type { PgliteConnection } from './pglite-connection.ts'
import { PgliteQueuePool } from './pglite-queue-pool.ts'
import { PgliteUpkeep } from './pglite-upkeep.ts'
import type { QueuePool } from './queue-pool.ts'
import type { Database, SqlSession } from './sql-session.ts'
import { TurnQueue } from './turn-queue.ts'

/**
 * The database over one PGlite session. Statements outside a transaction and whole transactions take turns, so a
 * transaction is never mixed with anybody else's statements.
 */
export class PgliteDatabase implements Database {
  readonly #connection: PgliteConnection
  readonly #turns = new TurnQueue()
  readonly #upkeep = new PgliteUpkeep()
  readonly #parserOf: ParserOf
  readonly #queuePool: QueuePool

  constructor(connection: PgliteConnection) {
    this.#connection = connection
    const driver: ParserOf = (typeOid) => connection.parserOf(typeOid)
    this.#parserOf = sessionParsers(driver)
    this.#queuePool = new PgliteQueuePool({
      inTurn: (work) => this.#inTurn(() => work(connection)),
      onNotification: (listener) => connection.onNotification(listener),
      parserOf: nodePostgresParsers(driver),
    })
  }

  async query<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    return decodeRows(
      await this.#inTurn(() => this.#connection.execute(text, params)),
      this.#parserOf,
    )
  }

  async runScript(text: string): Promise<void> {
    await this.#inTurn(() => this.#connection.script(text))
  }

  transaction<T>(run: (session: SqlSession) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#transaction(run))
  }

  queuePool(): QueuePool {
    return this.#queuePool
  }

  close(): Promise<void> {
    return this.#turns.run(() => this.#connection.close())
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.run(work)
    if (this.#upkeep.countStatement()) {
      // Nobody waits for it, and when it fails the connection has failed, which the next caller is told.
      this.#turns.run(() => this.#upkeep.look(this.#connection)).catch(() => {})
    }
    return turn
  }

  async #transaction<T>(run: (session: SqlSession) => Promise<T>): Promise<T> {
    const session = new TransactionSession(this.#connection, this.#parserOf)
    await this.#connection.script('BEGIN')
    let value: T
    try {
      value = await run(session)
    } catch (error) {
      session.end()
      // When even this fails the connection has failed for good, and the first error says why.
      await this.#connection.script('ROLLBACK').catch(() => {})
      throw error
    }
    session.end()
    const { commandTag } = await this.#connection.script('COMMIT')
    if (commandTag !== 'COMMIT') {
      throw new StatementError(
        'the transaction was rolled back, because one of its statements had failed',
      )
    }
    return value
  }
}

class TransactionSession implements SqlSession {
  readonly #connection: PgliteConnection
  readonly #parserOf: ParserOf
  #ended = false

  constructor(connection: PgliteConnection, parserOf: ParserOf) {
    this.#connection = connection
    this.#parserOf = parserOf
  }

  async query<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    this.#checkOpen()
    return decodeRows(await this.#connection.execute(text, params), this.#parserOf)
  }

  async runScript(text: string): Promise<void> {
    this.#checkOpen()
    await this.#connection.script(text)
  }

  end(): void {
    this.#ended = true
  }

  #checkOpen(): void {
    if (this.#ended) throw new StatementError('the transaction of this session has ended')
  }
}

import { decodeRows, nodePostgresParsers, type ParserOf, sessionParsers } from './decode-rows.ts'
import type { PgliteConnection } from './pglite-connection.ts'
import { PgliteQueuePool } from './pglite-queue-pool.ts'
import { PgliteUpkeep } from './pglite-upkeep.ts'
import type { QueuePool } from './queue-pool.ts'
import type { EmbeddedDatabase, SqlSession } from './sql-session.ts'
import { type HeldConnection, runTransaction } from './sql-transaction.ts'
import { TurnQueue } from './turn-queue.ts'

/**
 * The database over one PGlite session. Statements outside a transaction and whole transactions take turns, so a
 * transaction is never mixed with anybody else's statements.
 */
export class PgliteDatabase implements EmbeddedDatabase {
  readonly isSerial = true
  readonly #connection: PgliteConnection
  readonly #turns = new TurnQueue()
  readonly #upkeep = new PgliteUpkeep()
  readonly #parserOf: ParserOf
  readonly #held: HeldConnection
  readonly #queuePool: QueuePool

  constructor(connection: PgliteConnection) {
    this.#connection = connection
    const driver: ParserOf = (typeOid) => connection.parserOf(typeOid)
    this.#parserOf = sessionParsers(driver)
    this.#held = {
      query: async (text, params) =>
        decodeRows(await connection.execute(text, params), this.#parserOf),
      runScript: async (text) => void (await connection.script(text)),
      command: async (text) => (await connection.script(text)).commandTag,
    }
    this.#queuePool = new PgliteQueuePool({
      inTurn: (work) => this.#inTurn(() => work(connection)),
      onNotification: (listener) => connection.onNotification(listener),
      parserOf: nodePostgresParsers(driver),
    })
  }

  query<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    return this.#inTurn(() => this.#held.query(text, params))
  }

  runScript(text: string): Promise<void> {
    return this.#inTurn(() => this.#held.runScript(text))
  }

  transaction<T>(run: (session: SqlSession) => Promise<T>): Promise<T> {
    return this.#inTurn(() => runTransaction(this.#held, run))
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
}

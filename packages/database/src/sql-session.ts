import type { QueuePool } from './queue-pool.ts'

/**
 * Runs one SQL statement at a time. int8 comes back as bigint, text and JSON as strings. Parameters: string, number,
 * bigint, boolean, null, and arrays of these.
 * Errors: StatementError (the database refused; nothing of the statement applies), DatabaseUnavailableError (the
 * outcome is unknown).
 */
export interface SqlSession {
  query<Row = Record<string, unknown>>(text: string, params?: readonly unknown[]): Promise<Row[]>
  /** Several statements without parameters, as in a migration file. */
  runScript(text: string): Promise<void>
}

/**
 * A database of this house. `transaction` commits when `run` resolves and rolls back when it rejects; inside it, use
 * only the session that it was given: the database itself may wait for the transaction to end.
 */
export interface Database extends SqlSession {
  /** Statements, and transactions, never run beside each other, whoever sends them: what one statement reads stands until it ends. */
  readonly isSerial?: boolean
  transaction<T>(run: (session: SqlSession) => Promise<T>): Promise<T>
  /** Waits for what was asked before; whatever is asked afterwards is refused with DatabaseUnavailableError. */
  close(): Promise<void>
}

/** The database inside this process, which also keeps the job queue. */
export interface EmbeddedDatabase extends Database {
  /** The same database for the job queue, shaped like a pool of node-postgres. */
  queuePool(): QueuePool
}

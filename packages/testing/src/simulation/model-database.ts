import { DatabaseUnavailableError, StatementError } from '@timelake/database/database-errors'
import type { Database, SqlSession } from '@timelake/database/sql-session'
import type { Fault, FaultPlan } from './fault-plan.ts'
import type { ModelRows } from './model-rows.ts'
import type { StepOwner, StepScheduler } from './step-scheduler.ts'

/** What one statement of the house means, in terms of the model. */
export interface ModelStatement {
  readonly name: string
  /** The rows that it locks, as texts; it waits while another transaction holds one of them. Absent: it changes nothing. */
  readonly locks?: (params: readonly unknown[], rows: ModelRows) => readonly string[]
  /** What it answers. Changes are handed to `transaction.change` and show up when the transaction commits. */
  run(transaction: ModelTransaction, params: readonly unknown[]): readonly unknown[]
}

/** Statements by their text. */
export type ModelStatements = ReadonlyMap<string, ModelStatement>

/** A transaction of the model. It reads what is committed, not what it changed itself. */
export interface ModelTransaction {
  readonly rows: ModelRows
  /** Assigned at the first use, as PostgreSQL does with the first write. */
  id(): bigint
  nextSeq(): bigint
  /** The oldest transaction that has an id and has not ended; the next id when there is none. */
  oldestOpenId(): bigint
  change(apply: () => void): void
}

/** The database of a simulated world. */
export interface ModelDatabase {
  readonly rows: ModelRows
  /** Texts that were sent and mean nothing to the model: a simulation that meets one proves nothing. */
  readonly unknownTexts: readonly string[]
  /** The database as this owner reaches it: every statement is a step, and statements fail as the plan says. */
  databaseFor(owner: StepOwner, faults?: FaultPlan): Database
  /** The owner is gone: transactions that it had not begun to commit are rolled back. */
  disconnect(owner: StepOwner): void
}

/**
 * A database in memory that knows the statements of the house by their text and does with each what PostgreSQL would do,
 * under READ COMMITTED: row locks, transactions that stay open, ids in the order of the first write, sequence numbers that
 * show up out of order. Throws StatementError for a text that it does not know.
 */
export function modelDatabase(
  scheduler: StepScheduler,
  {
    rows,
    statements,
    commitsEachStatement = false,
  }: {
    readonly rows: ModelRows
    readonly statements: ModelStatements
    /** A mistake that a simulation must find. */
    readonly commitsEachStatement?: boolean
  },
): ModelDatabase {
  const server = new ModelServer(rows, { statements, commitsEachStatement })
  return {
    rows,
    unknownTexts: server.unknownTexts,
    databaseFor: (owner, faults) => connect({ server, scheduler, owner, faults }),
    disconnect: (owner) => server.disconnect(owner),
  }
}

class OpenTransaction implements ModelTransaction {
  readonly #server: ModelServer
  readonly #changes: (() => void)[] = []
  assignedId: bigint | undefined = undefined
  #isEnded = false

  constructor(server: ModelServer) {
    this.#server = server
  }

  get rows(): ModelRows {
    return this.#server.rows
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  id(): bigint {
    this.assignedId ??= this.#server.assignId(this)
    return this.assignedId
  }

  nextSeq(): bigint {
    return this.#server.nextSeq()
  }

  oldestOpenId(): bigint {
    return this.#server.oldestOpenId()
  }

  change(apply: () => void): void {
    this.id()
    this.#changes.push(apply)
  }

  commit(): void {
    if (this.#isEnded) return
    this.flush()
    this.#end()
  }

  /** Lets everybody see what it changed so far. */
  flush(): void {
    for (const apply of this.#changes.splice(0)) apply()
  }

  rollBack(): void {
    if (!this.#isEnded) this.#end()
  }

  #end(): void {
    this.#isEnded = true
    this.#server.end(this)
  }
}

interface ServerRules {
  readonly statements: ModelStatements
  readonly commitsEachStatement: boolean
}

class ModelServer {
  readonly rows: ModelRows
  readonly commitsEachStatement: boolean
  readonly unknownTexts: string[] = []
  readonly #statements: ModelStatements
  readonly #locks = new Map<string, OpenTransaction>()
  readonly #open = new Set<OpenTransaction>()
  /** Those of several statements. */
  readonly #ownerOf = new Map<OpenTransaction, StepOwner>()
  // Ids below are the server's own.
  #lastId = 700n
  #lastSeq = 0n

  constructor(rows: ModelRows, { statements, commitsEachStatement }: ServerRules) {
    this.rows = rows
    this.#statements = statements
    this.commitsEachStatement = commitsEachStatement
  }

  statement(text: string): ModelStatement {
    const statement = this.#statements.get(text)
    if (statement === undefined) {
      this.unknownTexts.push(text)
      throw new StatementError(`the model of the database does not know this statement: ${text}`)
    }
    return statement
  }

  canLock(transaction: OpenTransaction, keys: readonly string[]): boolean {
    return keys.every((key) => [undefined, transaction].includes(this.#locks.get(key)))
  }

  execute(
    transaction: OpenTransaction,
    {
      statement,
      params,
    }: { readonly statement: ModelStatement; readonly params: readonly unknown[] },
  ): readonly unknown[] {
    // Sent before its connection was lost: the server has ended the transaction by then, and does nothing for it.
    if (transaction.isEnded) return []
    for (const key of statement.locks?.(params, this.rows) ?? []) this.#locks.set(key, transaction)
    const answer = statement.run(transaction, params)
    if (this.commitsEachStatement) transaction.flush()
    return answer
  }

  assignId(transaction: OpenTransaction): bigint {
    this.#open.add(transaction)
    this.#lastId += 1n
    return this.#lastId
  }

  begin(owner: StepOwner): OpenTransaction {
    const transaction = new OpenTransaction(this)
    this.#ownerOf.set(transaction, owner)
    return transaction
  }

  disconnect(owner: StepOwner): void {
    for (const [transaction, its] of this.#ownerOf) if (its === owner) transaction.rollBack()
  }

  nextSeq(): bigint {
    this.#lastSeq += 1n
    return this.#lastSeq
  }

  oldestOpenId(): bigint {
    let oldest = this.#lastId + 1n
    for (const { assignedId } of this.#open) {
      if (assignedId !== undefined && assignedId < oldest) oldest = assignedId
    }
    return oldest
  }

  end(transaction: OpenTransaction): void {
    this.#open.delete(transaction)
    this.#ownerOf.delete(transaction)
    for (const [key, holder] of this.#locks) {
      if (holder === transaction) this.#locks.delete(key)
    }
  }
}

interface Connection {
  readonly server: ModelServer
  readonly scheduler: StepScheduler
  readonly owner: StepOwner
  readonly faults: FaultPlan | undefined
}

function connect(connection: Connection): Database {
  return {
    query: <Row>(text: string, params: readonly unknown[] = []) =>
      // `as`: the model answers what the statement selects.
      runAlone(connection, text, params) as Promise<Row[]>,
    transaction: (run) => runTransaction(connection, run),
    runScript: () => Promise.reject(new StatementError('the model runs no scripts')),
    close: () => Promise.resolve(),
  }
}

/** One statement, which is a transaction of its own. */
async function runAlone(
  connection: Connection,
  text: string,
  params: readonly unknown[],
): Promise<readonly unknown[]> {
  const { server, scheduler, owner, faults } = connection
  const statement = server.statement(text)
  const fault = faults?.next(statement.locks === undefined ? 'read' : 'write')
  const what = `${statement.name}${fault === undefined ? '' : ` (${fault})`}`
  if (fault === undefined) return perform(connection, { statement, params, what })
  if (fault === 'late' || fault === 'unanswered') {
    const sent = perform(connection, { statement, params, what, isOnItsWay: true })
    if (fault === 'unanswered') await sent
    else sent.catch(() => {})
  }
  return scheduler.park({ owner, what }, () => {
    throw faultError(fault)
  })
}

interface Performance {
  readonly statement: ModelStatement
  readonly params: readonly unknown[]
  readonly what: string
  readonly isOnItsWay?: boolean
}

async function perform(
  { server, scheduler, owner }: Connection,
  { statement, params, what, isOnItsWay = false }: Performance,
): Promise<readonly unknown[]> {
  const transaction = new OpenTransaction(server)
  const keys = statement.locks?.(params, server.rows)
  if (keys === undefined) {
    return scheduler.park({ owner, what, isOnItsWay }, () =>
      server.execute(transaction, { statement, params }),
    )
  }
  const isReady = (): boolean => server.canLock(transaction, keys)
  return new Promise((resolve, reject) => {
    const committing = (answer: readonly unknown[]): void => {
      // What the server has begun it ends, whatever becomes of the caller.
      const step = { owner, what: `${what} commits`, isOnItsWay: true }
      void scheduler.park(step, () => transaction.commit()).then(() => resolve(answer))
    }
    const step = { owner, what, isReady, isOnItsWay }
    scheduler
      .park(step, () => committing(server.execute(transaction, { statement, params })))
      .catch((error: unknown) => {
        transaction.rollBack()
        reject(error) // `as`: statements throw errors
      })
  })
}

async function runTransaction<Value>(
  connection: Connection,
  run: (session: SqlSession) => Promise<Value>,
): Promise<Value> {
  const { server, scheduler, owner, faults } = connection
  const transaction = server.begin(owner)
  const session: SqlSession = {
    query: <Row>(text: string, params: readonly unknown[] = []) => {
      const statement = server.statement(text)
      const keys = statement.locks?.(params, server.rows) ?? []
      const isReady = (): boolean => server.canLock(transaction, keys)
      // `as`: the model answers what the statement selects.
      return scheduler.park({ owner, what: statement.name, isReady }, () =>
        server.execute(transaction, { statement, params }),
      ) as Promise<Row[]>
    },
    runScript: () => Promise.reject(new StatementError('the model runs no scripts')),
  }
  let value: Value
  try {
    value = await run(session)
  } catch (error) {
    transaction.rollBack()
    throw error
  }
  const fault = faults?.next('write')
  await scheduler.park({ owner, what: `commit${fault === undefined ? '' : ` (${fault})`}` }, () => {
    if (fault === undefined || fault === 'unanswered' || fault === 'late') transaction.commit()
    else transaction.rollBack()
    if (fault !== undefined) throw faultError(fault)
  })
  return value
}

function faultError(fault: Fault): Error {
  if (fault === 'refused') return new StatementError('deadlock detected', { code: '40P01' })
  return new DatabaseUnavailableError(`connection lost: ${fault}`, { isUnsent: fault === 'unsent' })
}

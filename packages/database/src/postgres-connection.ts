import postgres from 'postgres'
import { DatabaseUnavailableError } from './database-errors.ts'
import { connectError, isServerError, translateError } from './postgres-errors.ts'
import { encodeParameter, postgresTypes } from './postgres-values.ts'

export interface PostgresConnectionOptions {
  readonly url: string
  readonly applicationName: string
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
  readonly idleInTransactionTimeoutMs: number
  readonly connectTimeoutMs: number
  readonly onNotice: (text: string) => void
}

/** How much longer than the server's own timeout an answer may take before the connection counts as dead. */
const ANSWER_GRACE_MS = 5_000

/** SQLSTATE of a server that became a standby: a new connection may find the one that took over. */
const READ_ONLY = '25006'

/** The driver closes a connection of this age whatever it is doing; the pool replaces it long before. */
const CONNECTION_AGE_S_MAX = 2 * 60 * 60

/** Statements are prepared on first use, also those without parameters, which `simple` would send as text. */
const PREPARED = { prepare: true, simple: false }

type Client = ReturnType<typeof connectClient>

/**
 * One connection. It is opened once and never reopens itself, so a transaction cannot slip to another session: after
 * any loss it refuses everything. Ask one thing at a time.
 */
export class PostgresConnection {
  readonly #client: Client
  readonly #answerTimeoutMs: number
  #isLost = false

  private constructor(options: PostgresConnectionOptions) {
    this.#client = connectClient(options, () => {
      this.#isLost = true
    })
    this.#answerTimeoutMs = options.statementTimeoutMs + ANSWER_GRACE_MS
  }

  /** Connected and signed in. Throws DatabaseUnavailableError. */
  static async open(options: PostgresConnectionOptions): Promise<PostgresConnection> {
    const connection = new PostgresConnection(options)
    try {
      // Asked for something, the driver connects. It goes on trying where a proxy accepts and hangs up: hence the limit.
      await connection.#within(options.connectTimeoutMs, connection.#client.unsafe('select 1'))
      return connection
    } catch (error) {
      connection.destroy()
      throw connectError(error)
    }
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** One statement, prepared on first use: from then on it costs one round trip. */
  async query<Row>(text: string, params: readonly unknown[]): Promise<Row[]> {
    this.#checkOpen()
    const values = params.map(encodeParameter)
    const pending = this.#client.unsafe(text, values, PREPARED)
    try {
      const rows = await this.#within(this.#answerTimeoutMs, pending)
      // `as`: the caller names the columns that its SQL selects; `slice` makes it an array like any other.
      return rows.slice() as unknown[] as Row[]
    } catch (error) {
      throw this.#failure(error, text)
    }
  }

  /** Any number of statements without parameters. Takes as long as the server lets it. */
  async runScript(text: string): Promise<void> {
    this.#checkOpen()
    try {
      await this.#client.unsafe(text)
    } catch (error) {
      throw this.#failure(error, text)
    }
  }

  /** One statement without parameters, not prepared; the command tag of its answer, such as `COMMIT`. */
  async command(text: string): Promise<string> {
    this.#checkOpen()
    try {
      const result = await this.#within(this.#answerTimeoutMs, this.#client.unsafe(text))
      return result.command
    } catch (error) {
      throw this.#failure(error, text)
    }
  }

  /** Drops the connection; what it was doing has an unknown outcome. */
  destroy(): void {
    this.#isLost = true
    void this.#client.end({ timeout: 0 })
  }

  /** Signs off. Nothing may be running. */
  async close(): Promise<void> {
    this.#isLost = true
    await this.#client.end({ timeout: 1 })
  }

  async #within<T>(limitMs: number, work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.destroy(), limitMs)
    try {
      return await work
    } finally {
      clearTimeout(timer)
    }
  }

  #failure(error: unknown, text: string): Error {
    // The driver reports a broken socket before it is closed; whatever is sent in between is never answered.
    if (!isServerError(error) || error.code === READ_ONLY) this.destroy()
    return translateError(error, text)
  }

  #checkOpen(): void {
    if (!this.#isLost) return
    const message = 'the connection to the database was lost before'
    throw new DatabaseUnavailableError(message, { isUnsent: true })
  }
}

function connectClient(options: PostgresConnectionOptions, onLost: () => void) {
  try {
    return postgres(options.url, {
      // The pool is ours: the driver's own moves statements of a broken transaction to another connection.
      max: 1,
      max_lifetime: CONNECTION_AGE_S_MAX,
      idle_timeout: 0,
      connect_timeout: Math.ceil(options.connectTimeoutMs / 1000),
      backoff: false,
      fetch_types: false,
      types: postgresTypes(),
      onclose: onLost,
      onnotice: (notice) => options.onNotice(`${notice['severity']}: ${notice['message']}`),
      connection: {
        application_name: options.applicationName,
        search_path: 'public',
        statement_timeout: options.statementTimeoutMs,
        lock_timeout: options.lockTimeoutMs,
        idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs,
        // Words, because the driver leaves `false` out.
        jit: 'off',
        // Planning the swap anew each time costs more than its execution.
        plan_cache_mode: 'force_generic_plan',
        // A plan that is made once, perhaps over empty tables, must still be right when these have grown: by index.
        enable_seqscan: 'off',
        enable_hashjoin: 'off',
        enable_mergejoin: 'off',
      },
    })
  } catch {
    // The driver's error carries the URL, and the URL the password.
    throw new DatabaseUnavailableError(
      'cannot read the database URL: expected postgres://user:password@host:port/database',
    )
  }
}

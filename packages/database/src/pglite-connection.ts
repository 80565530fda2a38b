import { type messages, type PGlite, protocol } from '@electric-sql/pglite'
import { DatabaseUnavailableError, StatementError } from './database-errors.ts'
import { BindWriter, boundArray, type BoundValue } from './pglite-bind.ts'
import { refusedStatement } from './refused-statement.ts'
import { TurnQueue } from './turn-queue.ts'

type BackendMessage = messages.BackendMessage

/** What one statement gave. Field values are the text forms that the database sent. */
export interface StatementResult {
  readonly fields: readonly ResultField[]
  readonly rows: readonly (readonly (string | null)[])[]
  /** For example `UPDATE 3`. */
  readonly commandTag: string
}

export interface ResultField {
  readonly name: string
  readonly typeOid: number
}

interface PreparedStatement {
  readonly name: string
  readonly parameterOids: readonly number[]
  readonly fields: readonly ResultField[]
}

/** Prepared statements kept; texts are constants, so more than this means that somebody builds SQL by hand. */
const PREPARED_STATEMENTS_MAX = 500

/** SQLSTATEs by which a prepared statement tells that it must be prepared again after DDL. */
const STALE_PLAN_CODES = new Set(['0A000', '26000'])

/**
 * The one session of a PGlite database, speaking the wire protocol: a statement is parsed once and then costs one
 * call (bind, execute, sync), where PGlite's own `query` makes six. Calls are answered one at a time, in order.
 */
export class PgliteConnection {
  readonly #pglite: PGlite
  readonly #prepared = new Map<string, PreparedStatement>()
  #preparedCount = 0
  readonly #bind = new BindWriter()
  readonly #turns = new TurnQueue()
  #failure: unknown

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  /** One statement with parameters, prepared on first use. */
  execute(text: string, params: readonly unknown[]): Promise<StatementResult> {
    return this.#turns.run(() => this.#execute(text, params))
  }

  /** Any number of statements without parameters; the result of the last one. */
  script(text: string): Promise<StatementResult> {
    return this.#turns.run(async () =>
      lastResult(await this.#send(protocol.serialize.query(text), text)),
    )
  }

  /** How the driver turns a field's text into a value; undefined for types that stay text. */
  parserOf(typeOid: number): ((text: string, typeOid: number) => unknown) | undefined {
    return this.#pglite.parsers[typeOid]
  }

  /** Calls the listener for each notification; the answer stops it. */
  onNotification(listener: (channel: string, payload: string) => void): () => void {
    return this.#pglite.onNotification(listener)
  }

  /** Waits for what was asked before, then closes the database files. */
  close(): Promise<void> {
    return this.#turns.run(async () => {
      this.#failure ??= new Error('the database was closed')
      await this.#pglite.close()
    })
  }

  async #execute(text: string, params: readonly unknown[]): Promise<StatementResult> {
    const known = this.#prepared.get(text)
    if (known === undefined) return this.#run(await this.#prepare(text), text, params)
    try {
      return await this.#run(known, text, params)
    } catch (error) {
      if (!(error instanceof StatementError) || !STALE_PLAN_CODES.has(error.code ?? '')) throw error
      this.#prepared.delete(text)
      if (this.#pglite.isInTransaction()) throw error
      return this.#run(await this.#prepare(text), text, params)
    }
  }

  async #prepare(text: string): Promise<PreparedStatement> {
    const { serialize } = protocol
    const oldest = this.#prepared.entries().next().value
    if (oldest !== undefined && this.#prepared.size >= PREPARED_STATEMENTS_MAX) {
      this.#prepared.delete(oldest[0])
      await this.#send(
        concat(serialize.close({ type: 'S', name: oldest[1].name }), serialize.sync()),
        text,
      )
    }
    this.#preparedCount += 1
    const name = `s${this.#preparedCount}`
    const received = await this.#send(
      concat(
        serialize.parse({ name, text }),
        serialize.describe({ type: 'S', name }),
        serialize.sync(),
      ),
      text,
    )
    const parameters = received.find(isParameterDescription)
    const prepared = {
      name,
      parameterOids: parameters?.dataTypeIDs ?? [],
      fields: fieldsOf(received.find(isRowDescription)),
    }
    this.#prepared.set(text, prepared)
    return prepared
  }

  async #run(
    prepared: PreparedStatement,
    text: string,
    params: readonly unknown[],
  ): Promise<StatementResult> {
    const values = params.map((value, i) => this.#encode(value, prepared.parameterOids[i] ?? 0))
    const received = await this.#send(this.#bind.encode(prepared.name, values), text)
    return { ...collectRows(received), fields: prepared.fields }
  }

  #encode(value: unknown, typeOid: number): BoundValue {
    if (value === null || value === undefined) return null
    if (typeof value === 'string') return value
    const array = boundArray(value, typeOid)
    if (array !== undefined) return array
    const serializer = this.#pglite.serializers[typeOid]
    return serializer === undefined ? String(value) : serializer(value)
  }

  async #send(bytes: Uint8Array, text: string): Promise<readonly BackendMessage[]> {
    if (this.#failure !== undefined) {
      throw new DatabaseUnavailableError('the database is closed or has failed', {
        cause: this.#failure,
        isUnsent: true,
      })
    }
    try {
      const { messages: received } = await this.#pglite.execProtocol(bytes, { syncToFs: false })
      return received
    } catch (error) {
      if (error instanceof protocol.messages.DatabaseError) throw refusedStatement(text, error)
      this.#failure = error
      throw new DatabaseUnavailableError('the database failed while it ran a statement', {
        cause: error,
      })
    }
  }
}

/** The result of the last statement of a script. */
function lastResult(received: readonly BackendMessage[]): StatementResult {
  const ends = received.flatMap((message, i) => (isCommandComplete(message) ? [i] : []))
  const last = received.slice((ends.at(-2) ?? -1) + 1)
  return { ...collectRows(last), fields: fieldsOf(last.find(isRowDescription)) }
}

function collectRows(received: readonly BackendMessage[]) {
  const rows: (readonly (string | null)[])[] = []
  let commandTag = ''
  for (const message of received) {
    if (isDataRow(message)) rows.push(message.fields)
    else if (isCommandComplete(message)) commandTag = message.text
  }
  return { rows, commandTag }
}

function fieldsOf(description: messages.RowDescriptionMessage | undefined): ResultField[] {
  return (description?.fields ?? []).map((field) => ({
    name: field.name,
    typeOid: field.dataTypeID,
  }))
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}

function isDataRow(message: BackendMessage): message is messages.DataRowMessage {
  return message.name === 'dataRow'
}

function isCommandComplete(message: BackendMessage): message is messages.CommandCompleteMessage {
  return message.name === 'commandComplete'
}

function isRowDescription(message: BackendMessage): message is messages.RowDescriptionMessage {
  return message.name === 'rowDescription'
}

function isParameterDescription(
  message: BackendMessage,
): message is messages.ParameterDescriptionMessage {
  return message.name === 'parameterDescription'
}

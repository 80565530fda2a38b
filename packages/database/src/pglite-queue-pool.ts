import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { decodeRows, type ParserOf } from './decode-rows.ts'
import type { StatementResult } from './pglite-connection.ts'
import type { OpenTurn } from './open-turn.ts'
import type { QueueClient, QueuePool, QueueQueryResult } from './queue-pool.ts'

/** What the pool needs of the database behind it. */
export interface QueuePoolBackend {
  /** Runs the work while nobody else uses the session. */
  inTurn<T>(work: (turn: OpenTurn) => Promise<T>): Promise<T>
  onNotification(listener: (channel: string, payload: string) => void): () => void
  readonly parserOf: ParserOf
}

/**
 * A pool of connections that all share the one session of PGlite: statements take turns, and a client that has begun
 * a transaction keeps its turn until COMMIT or ROLLBACK. A subscription (LISTEN) belongs to the session, so every
 * client hears every channel.
 */
export class PgliteQueuePool extends EventEmitter implements QueuePool {
  readonly options = { keepAlive: true }
  readonly #backend: QueuePoolBackend

  constructor(backend: QueuePoolBackend) {
    super()
    this.#backend = backend
  }

  async query<Row>(text: string, params?: readonly unknown[]): Promise<QueueQueryResult<Row>> {
    await setImmediate()
    return run(this.#backend, text, params)
  }

  async connect(): Promise<QueueClient> {
    return new PgliteQueueClient(this.#backend)
  }

  /** The database is its owner's to close. */
  async end(): Promise<void> {}
}

class PgliteQueueClient extends EventEmitter implements QueueClient {
  readonly #backend: QueuePoolBackend
  readonly #stopListening: () => void
  #held: HeldTurn | undefined

  constructor(backend: QueuePoolBackend) {
    super()
    this.setMaxListeners(0)
    this.#backend = backend
    this.#stopListening = backend.onNotification((channel, payload) => {
      this.emit('notification', { channel, payload })
    })
  }

  async query<Row>(text: string, params?: readonly unknown[]): Promise<QueueQueryResult<Row>> {
    // PGlite answers in microtasks; without this hop a loop of queries starves timers and sockets for good.
    await setImmediate()
    const verb = /^\s*(BEGIN|START TRANSACTION|COMMIT|END|ROLLBACK(?!\s+TO))\b/i.exec(text)?.[1]
    if (verb === undefined) return run(this.#turns(), text, params)
    if (/^[BS]/i.test(verb)) this.#held ??= await holdTurn(this.#backend)
    try {
      return await run(this.#turns(), text, params)
    } finally {
      if (!/^[BS]/i.test(verb)) this.#letGo()
    }
  }

  /** Rolls back what was left open, as closing a connection does. */
  release(): void {
    this.#stopListening()
    this.removeAllListeners()
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) void held.turn.script('ROLLBACK').finally(held.letGo)
  }

  #turns(): Pick<QueuePoolBackend, 'inTurn' | 'parserOf'> {
    const held = this.#held
    if (held === undefined) return this.#backend
    return { inTurn: (work) => work(held.turn), parserOf: this.#backend.parserOf }
  }

  #letGo(): void {
    this.#held?.letGo()
    this.#held = undefined
  }
}

interface HeldTurn {
  readonly turn: OpenTurn
  readonly letGo: () => void
}

function holdTurn(backend: QueuePoolBackend): Promise<HeldTurn> {
  return new Promise((resolve, reject) => {
    const hold = (turn: OpenTurn) =>
      new Promise<void>((letGo) => {
        resolve({ turn, letGo })
      })
    backend.inTurn(hold).catch(reject)
  })
}

async function run<Row>(
  backend: Pick<QueuePoolBackend, 'inTurn' | 'parserOf'>,
  text: string,
  params: readonly unknown[] = [],
): Promise<QueueQueryResult<Row>> {
  const result = await backend.inTurn((turn) =>
    params.length === 0 ? turn.script(text) : turn.execute(text, params),
  )
  return { rows: decodeRows(result, backend.parserOf), rowCount: rowCount(result) }
}

/** The count in a command tag such as `INSERT 0 5` or `UPDATE 2`. */
function rowCount(result: StatementResult): number {
  const counted = /\d+$/.exec(result.commandTag)?.[0]
  return counted === undefined ? result.rows.length : Number(counted)
}

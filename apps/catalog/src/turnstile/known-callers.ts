import type { Caller } from './caller.ts'
import { Crowd } from './crowd.ts'
import { unknownConnection, type KnownConnection } from './known-connection.ts'
import { CONNECTIONS_MAX, CROWDS_MAX } from './turn-rules.ts'

/** What is known of the callers of one table, by crowd and by connection. The oldest is forgotten when they are too many. */
export class KnownCallers {
  readonly #crowds = new Map<string, Crowd>()
  readonly #connections = new Map<string, KnownConnection>()

  get crowds(): Iterable<Crowd> {
    return this.#crowds.values()
  }

  crowdOf({ crowd: name }: Caller): Crowd {
    const known = this.#crowds.get(name)
    if (known !== undefined) return known
    dropOldest(this.#crowds, CROWDS_MAX)
    const made = new Crowd()
    this.#crowds.set(name, made)
    return made
  }

  connectionOf({ connection: { id } }: Caller): KnownConnection {
    const known = this.#connections.get(id)
    if (known !== undefined) return known
    dropOldest(this.#connections, CONNECTIONS_MAX)
    const made = unknownConnection()
    this.#connections.set(id, made)
    return made
  }

  /** What is known of a connection that was seen before. */
  connection(id: string): KnownConnection | undefined {
    return this.#connections.get(id)
  }

  forgetConnection(id: string): void {
    this.#connections.delete(id)
    for (const crowd of this.#crowds.values()) crowd.orphan(id)
  }
}

function dropOldest(map: Map<string, unknown>, sizeMax: number): void {
  if (map.size < sizeMax) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}

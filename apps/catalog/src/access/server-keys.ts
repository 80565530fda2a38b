import { randomBytes } from 'node:crypto'
import { addServerKey, listServerKeys, type ServerKeyRow } from '@timelake/database/server-keys'
import { SealedTextError, SecretKeyError } from '@timelake/storage/secret-box'
import type { CatalogContext } from '../context.ts'

const KEY_BYTES = 32
const PLAIN = 'plain.'
/** How often a key id that nobody here knows may send this process to the database. */
const LOOK_AGAIN_AFTER_MS = 1_000

/** What keys need of the world. */
type KeyContext = Pick<CatalogContext, 'database' | 'nowMs' | 'newUuid' | 'secretBox' | 'log'>

export interface ServerKey {
  readonly id: string
  readonly bytes: Uint8Array
}

/**
 * The keys for one purpose, which all processes of a database share and which outlive them. A process makes one when it
 * finds none that it can read; what was signed with a key that was made elsewhere is proved after one look at the database.
 * They are sealed where this process has TIMELAKE_SECRET_KEY; without one, who reads the database can sign.
 */
export class ServerKeys {
  readonly #context: KeyContext
  readonly #purpose: string
  #known: readonly ServerKey[] = []
  #reading: Promise<void> | undefined
  #readAtMs = -Infinity

  constructor(context: KeyContext, purpose: string) {
    this.#context = context
    this.#purpose = purpose
  }

  /** The key to sign with. */
  async current(): Promise<ServerKey> {
    if (this.#known.length === 0) await this.#read()
    return this.#known[0] ?? this.#make()
  }

  /** The key with this id, undefined when there is none that this process can read. */
  async byId(id: string): Promise<ServerKey | undefined> {
    const known = this.#find(id)
    if (known !== undefined) return known
    if (this.#context.nowMs() - this.#readAtMs < LOOK_AGAIN_AFTER_MS) return undefined
    await this.#read()
    return this.#find(id)
  }

  #find(id: string): ServerKey | undefined {
    return this.#known.find((key) => key.id === id)
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #readOnce(): Promise<void> {
    const { database, nowMs } = this.#context
    const rows = await listServerKeys(database, { purpose: this.#purpose })
    this.#known = rows.flatMap((row) => this.#open(row) ?? [])
    this.#readAtMs = nowMs()
  }

  #open({ id, keyText }: ServerKeyRow): ServerKey | undefined {
    if (keyText.startsWith(PLAIN)) {
      return { id, bytes: Buffer.from(keyText.slice(PLAIN.length), 'base64url') }
    }
    try {
      const text = this.#context.secretBox.open(keyText, contextOf(this.#purpose, id))
      return { id, bytes: Buffer.from(text, 'base64url') }
    } catch (error) {
      if (!(error instanceof SealedTextError || error instanceof SecretKeyError)) throw error
      // Signed with another secret key: what it signed is not believed any more.
      this.#context.log.warn({ key: id, purpose: this.#purpose }, 'a server key does not open')
      return undefined
    }
  }

  async #make(): Promise<ServerKey> {
    const { database, newUuid, nowMs } = this.#context
    const key = { id: newUuid(), bytes: randomBytes(KEY_BYTES) }
    const keyText = this.#seal(key.bytes.toString('base64url'), key.id)
    await addServerKey(database, { id: key.id, purpose: this.#purpose, keyText, nowMs: nowMs() })
    await this.#read()
    return this.#known[0] ?? key
  }

  #seal(text: string, id: string): string {
    try {
      return this.#context.secretBox.seal(text, contextOf(this.#purpose, id))
    } catch (error) {
      if (!(error instanceof SecretKeyError)) throw error
      return PLAIN + text
    }
  }
}

function contextOf(purpose: string, id: string): string {
  return `server key ${purpose} ${id}`
}

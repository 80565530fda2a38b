import { createHash } from 'node:crypto'
import {
  findAccessById,
  findFederatedAccess,
  type AccountAccess,
  type FederatedIdentity,
} from '@timelake/database/accounts'
import { LRUCache } from 'lru-cache'
import type { CatalogContext } from '../context.ts'
import type { Caller } from './caller.ts'
import { grantsOf } from './grants-of.ts'
import { entriesMax } from '../entries-max.ts'

const ENTRIES_MAX = 10_000

/** A service account as requests see it. */
export interface KnownAccount {
  readonly access: AccountAccess
  readonly caller: Caller
}

/** An identity of a provider as requests see it; `undefined` caller: it was locked out. */
export interface KnownIdentity {
  readonly caller: Caller | undefined
}

interface Remembered<Value> {
  readonly value: Value
  readonly readAtMs: number
}

/**
 * Accounts with their grants, remembered for `maxAgeMs`. A change by this process is told with `forget`; what another
 * process changed is seen after that age. Look-ups of the same account at the same time share one query.
 */
export class AccessDirectory {
  readonly #context: Pick<CatalogContext, 'database' | 'nowMs'>
  readonly #maxAgeMs: number
  readonly #remembered = new LRUCache<string, Remembered<unknown>>(entriesMax(ENTRIES_MAX))
  readonly #asked = new Map<string, Promise<unknown>>()

  constructor(
    context: Pick<CatalogContext, 'database' | 'nowMs'>,
    { maxAgeMs }: { readonly maxAgeMs: number },
  ) {
    this.#context = context
    this.#maxAgeMs = maxAgeMs
  }

  /** The service account with this id, undefined when there is none. */
  service(id: string): KnownAccount | undefined | Promise<KnownAccount | undefined> {
    return this.#find(`service ${id}`, async () => {
      const access = await findAccessById(this.#context.database, id)
      if (access?.account.kind !== 'service') return undefined
      const { name } = access.account
      const grants = grantsOf(access.grants)
      return { access, caller: { id, name, kind: 'account', grants } satisfies Caller }
    })
  }

  /** What an identity of a provider may do: what its own account and its groups may. */
  identity(identity: FederatedIdentity, shownName: string): KnownIdentity | Promise<KnownIdentity> {
    const { issuer, subject, groups } = identity
    return this.#find(JSON.stringify([issuer, subject, groups, shownName]), async () => {
      const found = await findFederatedAccess(this.#context.database, identity)
      const own = found.find(({ account }) => account.kind === 'federated')
      if (own?.account.disabledAtMs !== undefined) return { caller: undefined }
      const active = found.filter(({ account }) => account.disabledAtMs === undefined)
      const caller: Caller = {
        id: identityId(identity),
        name: own?.account.name ?? shownName,
        kind: 'federated',
        grants: grantsOf(active.flatMap(({ grants }) => grants)),
      }
      return { caller }
    })
  }

  /** An account, a secret or a grant was changed. */
  forget(): void {
    this.#remembered.clear()
    this.#asked.clear()
  }

  #find<Value>(key: string, read: () => Promise<Value>): Value | Promise<Value> {
    const known = this.#remembered.get(key)
    if (known !== undefined && this.#context.nowMs() - known.readAtMs <= this.#maxAgeMs) {
      return known.value as Value // `as`: each key has one kind of value
    }
    const asked = this.#asked.get(key)
    if (asked !== undefined) return asked as Promise<Value> // `as`: as above
    const readAtMs = this.#context.nowMs()
    const reading = read().then(
      (value) => {
        // What is read while somebody forgets may be from before.
        if (this.#end(key, reading)) this.#remembered.set(key, { value, readAtMs })
        return value
      },
      (error: unknown) => {
        this.#end(key, reading)
        throw error
      },
    )
    this.#asked.set(key, reading)
    return reading
  }

  /** Whether nobody forgot since it was asked. */
  #end(key: string, reading: Promise<unknown>): boolean {
    return this.#asked.get(key) === reading && this.#asked.delete(key)
  }
}

/** Stable for a subject of an issuer, whatever accounts are made or removed for it. */
function identityId({ issuer, subject }: FederatedIdentity): string {
  const text = JSON.stringify([issuer, subject])
  return `federated-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}

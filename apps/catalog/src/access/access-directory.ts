import { createHash } from 'node:crypto'
import {
  findAccessById,
  findFederatedAccess,
  type AccountAccess,
  type FederatedIdentity,
} from '@timelake/database/accounts'
import { AgingReads } from '../cache/aging-reads.ts'
import type { CatalogContext } from '../context.ts'
import type { Caller } from './caller.ts'
import { grantsOf } from './grants-of.ts'

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

/**
 * Accounts with their grants, remembered for `maxAgeMs`. A change by this process is told with `forget`; what another
 * process changed is seen after that age.
 */
export class AccessDirectory {
  readonly #database: CatalogContext['database']
  readonly #reads: AgingReads

  constructor(
    { database, nowMs }: Pick<CatalogContext, 'database' | 'nowMs'>,
    { maxAgeMs }: { readonly maxAgeMs: number },
  ) {
    this.#database = database
    this.#reads = new AgingReads({ maxAgeMs, entriesMax: ENTRIES_MAX, nowMs })
  }

  /** The service account with this id, undefined when there is none. */
  service(id: string): KnownAccount | undefined | Promise<KnownAccount | undefined> {
    return this.#reads.find(`service ${id}`, async () => {
      const access = await findAccessById(this.#database, id)
      if (access?.account.kind !== 'service') return undefined
      const { name } = access.account
      const grants = grantsOf(access.grants)
      return { access, caller: { id, name, kind: 'account', grants } satisfies Caller }
    })
  }

  /** What an identity of a provider may do: what its own account and its groups may. */
  identity(identity: FederatedIdentity, shownName: string): KnownIdentity | Promise<KnownIdentity> {
    const { issuer, subject, groups } = identity
    return this.#reads.find(JSON.stringify([issuer, subject, groups, shownName]), async () => {
      const found = await findFederatedAccess(this.#database, identity)
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
    this.#reads.forget()
  }
}

/** Stable for a subject of an issuer, whatever accounts are made or removed for it. */
function identityId({ issuer, subject }: FederatedIdentity): string {
  const text = JSON.stringify([issuer, subject])
  return `federated-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}

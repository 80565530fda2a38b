import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  findServiceAccess,
  markSecretUsed,
  type AccountAccess,
  type AccountSecret,
} from '@timelake/database/accounts'
import { LRUCache } from 'lru-cache'
import type { CatalogContext } from '../context.ts'
import { Slots } from '../slots.ts'
import {
  hashAccountSecret,
  isAccountSecret,
  isSecretOf,
  newAccountSecret,
} from './account-secret.ts'
import { LoginLimit } from './login-limit.ts'
import { OAuthError } from './oauth-error.ts'
import type { ClientCredentials } from './token-request.ts'
import { entriesMax } from '../entries-max.ts'

/** Hashes that are made at the same time: each takes a core and 16 MiB. */
const HASHES_AT_ONCE_MAX = 2
/** Logins that wait for one. */
const WAITING_MAX = 100
const WAIT_MS = 1_000
const SEEN_SECRETS_MAX = 10_000

/** An account, and the secret with which it proved itself. */
export interface ProvedClient {
  readonly access: AccountAccess
  readonly secret: AccountSecret
}

/**
 * Proves client credentials. A secret that was right once in this process is known again without another hash, and is let
 * in however often somebody else failed. Unknown clients take as long as known ones with a wrong secret.
 */
export class CheckClient {
  readonly #context: CatalogContext
  readonly #limit: LoginLimit
  readonly #slots = new Slots(HASHES_AT_ONCE_MAX)
  #waiting = 0
  /** By the id of a secret; the key of the digests is never stored. */
  readonly #seen = new LRUCache<string, Buffer>(entriesMax(SEEN_SECRETS_MAX))
  readonly #seenKey = randomBytes(32)
  #nobodysHash: Promise<string> | undefined

  constructor(context: CatalogContext) {
    this.#context = context
    this.#limit = new LoginLimit(context.nowMs)
  }

  /** Throws OAuthError `invalid_client` and `slow_down`. */
  async prove(client: ClientCredentials, remoteAddress: string): Promise<ProvedClient> {
    const { database, nowMs } = this.#context
    const access = await findServiceAccess(database, client.clientId)
    const valid = access?.secrets.filter(({ validUntilMs = Infinity }) => validUntilMs > nowMs())
    const secret =
      valid?.find((candidate) => this.#isSeen(client.clientSecret, candidate)) ??
      (await this.#findByHash(client, valid ?? [], remoteAddress))
    if (access === undefined || secret === undefined) throw refused()
    if (access.account.disabledAtMs !== undefined) throw refused()
    await markSecretUsed(database, { secretId: secret.id, nowMs: nowMs() })
    return { access, secret }
  }

  async #findByHash(
    { clientId, clientSecret }: ClientCredentials,
    secrets: readonly AccountSecret[],
    remoteAddress: string,
  ): Promise<AccountSecret | undefined> {
    const source = JSON.stringify([remoteAddress, clientId])
    const waitMs = this.#limit.waitMs(source)
    if (waitMs > 0) throw new OAuthError('slow_down', 'too many failed attempts', waitMs)
    const found = isAccountSecret(clientSecret)
      ? await this.#inTurn(() => this.#firstMatch(clientSecret, secrets))
      : undefined
    if (found === undefined) this.#limit.fail(source)
    else this.#seen.set(found.id, this.#digest(clientSecret))
    return found
  }

  async #firstMatch(
    clientSecret: string,
    secrets: readonly AccountSecret[],
  ): Promise<AccountSecret | undefined> {
    if (secrets.length === 0) {
      this.#nobodysHash ??= hashAccountSecret(newAccountSecret())
      await isSecretOf(clientSecret, await this.#nobodysHash)
    }
    for (const secret of secrets) {
      if (await isSecretOf(clientSecret, secret.hash)) return secret
    }
    return undefined
  }

  async #inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.#waiting >= WAITING_MAX) {
      throw new OAuthError('slow_down', 'too many logins at the same time', WAIT_MS)
    }
    this.#waiting += 1
    try {
      return await this.#slots.run(run)
    } finally {
      this.#waiting -= 1
    }
  }

  #isSeen(clientSecret: string, { id }: AccountSecret): boolean {
    const seen = this.#seen.get(id)
    return seen !== undefined && timingSafeEqual(seen, this.#digest(clientSecret))
  }

  #digest(clientSecret: string): Buffer {
    return createHmac('sha256', this.#seenKey).update(clientSecret).digest()
  }
}

function refused(): OAuthError {
  return new OAuthError('invalid_client', 'client id or secret is wrong')
}

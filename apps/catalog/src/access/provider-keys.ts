import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { CatalogContext } from '../context.ts'
import { fetchJson, IdentityProviderError, isSafeProviderUrl } from './fetch-json.ts'

/** Keys of this age are read again, while requests go on with the ones that are known. */
const REFRESH_AFTER_MS = 600_000
/** Keys that could not be read again are believed this long: a provider may be away, a stolen key not for ever. */
const KEYS_MAX_AGE_MS = 86_400_000
/** How often a token with an unknown key, and a provider that fails, may cause another look. */
const LOOK_AGAIN_AFTER_MS = 30_000

interface Known {
  readonly find: JWTVerifyGetKey
  readonly readAtMs: number
}

type World = Pick<CatalogContext, 'nowMs' | 'log'>

/**
 * The signing keys of one identity provider, found by its discovery document. New keys are found when the first token
 * comes that is signed with one; while the provider is away, known keys go on, up to a day.
 */
export class ProviderKeys {
  readonly #issuer: string
  readonly #world: World
  #known: Known | undefined
  #reading: Promise<void> | undefined
  #triedAtMs = -Infinity

  constructor(issuer: string, world: World) {
    this.#issuer = issuer
    this.#world = world
  }

  /** The key for a token's header. Throws JWKSNoMatchingKey, and IdentityProviderError when no keys are known. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const known = await this.#current()
    try {
      return await known.find(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#mayLook()) throw error
    }
    await this.#read()
    return (await this.#current()).find(header, token)
  }

  async #current(): Promise<Known> {
    if (this.#known === undefined || this.#ageMs(this.#known) > KEYS_MAX_AGE_MS) {
      if (this.#mayLook()) await this.#read()
      else await this.#reading
    } else if (this.#ageMs(this.#known) > REFRESH_AFTER_MS && this.#mayLook()) {
      void this.#read()
    }
    const known = this.#known
    if (known === undefined || this.#ageMs(known) > KEYS_MAX_AGE_MS) {
      throw new IdentityProviderError(`the keys of ${this.#issuer} are not known now`)
    }
    return known
  }

  #ageMs({ readAtMs }: Known): number {
    return this.#world.nowMs() - readAtMs
  }

  #mayLook(): boolean {
    return this.#world.nowMs() - this.#triedAtMs >= LOOK_AGAIN_AFTER_MS
  }

  /** Reads the keys; a failure is logged and leaves what is known. */
  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #readOnce(): Promise<void> {
    const { nowMs, log } = this.#world
    this.#triedAtMs = nowMs()
    try {
      const keys = await readKeys(this.#issuer)
      this.#known = { find: createLocalJWKSet(keys), readAtMs: this.#triedAtMs }
    } catch (error) {
      if (!(error instanceof IdentityProviderError || error instanceof errors.JOSEError))
        throw error
      log.warn(
        { err: error, issuer: this.#issuer },
        'the keys of an identity provider were not read',
      )
    }
  }
}

async function readKeys(issuer: string): Promise<JSONWebKeySet> {
  const base = issuer.endsWith('/') ? issuer.slice(0, -1) : issuer
  const discovery = await fetchJson(`${base}/.well-known/openid-configuration`)
  const { issuer: named, jwks_uri: uri } = discovery
  if (named !== issuer) {
    const sentence = `expected the discovery document of ${issuer}, found that of another issuer`
    throw new IdentityProviderError(sentence)
  }
  if (typeof uri !== 'string' || !isSafeProviderUrl(uri)) {
    const sentence = `expected jwks_uri over https in the discovery document of ${issuer}`
    throw new IdentityProviderError(sentence)
  }
  const document = await fetchJson(uri)
  return document as unknown as JSONWebKeySet // `as`: jose checks the shape and throws JWKSInvalid
}

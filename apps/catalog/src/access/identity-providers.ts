import type { FederatedIdentity } from '@timelake/database/accounts'
import { errors, jwtVerify, type JWTPayload } from 'jose'
import type { CatalogContext } from '../context.ts'
import type { IdentityProviderRules } from './access-config.ts'
import { ProviderKeys } from './provider-keys.ts'

const GROUPS_MAX = 500

/** What a proved token of an identity provider says. */
export interface FederatedClaims {
  readonly identity: FederatedIdentity
  readonly shownName: string
  readonly expiresAtMs: number
}

/** Proves tokens of the configured identity providers. */
export class IdentityProviders {
  readonly #rules: IdentityProviderRules
  readonly #keys: ReadonlyMap<string, ProviderKeys>
  readonly #nowMs: () => number

  constructor(rules: IdentityProviderRules, world: Pick<CatalogContext, 'nowMs' | 'log'>) {
    this.#rules = rules
    this.#nowMs = world.nowMs
    this.#keys = new Map(rules.issuers.map((issuer) => [issuer, new ProviderKeys(issuer, world)]))
  }

  /**
   * The claims of a token of this issuer; `undefined`: it is not valid here (issuer, audience, time, algorithm, signature, or
   * a claim that is missing). Throws IdentityProviderError when the keys of the issuer are not known.
   */
  async prove(token: string, issuer: string): Promise<FederatedClaims | undefined> {
    const keys = this.#keys.get(issuer)
    if (keys === undefined) return undefined
    const { algorithms, audiences, clockSkewMs } = this.#rules
    try {
      const { payload } = await jwtVerify(token, keys.find, {
        issuer,
        audience: [...audiences],
        // An allow-list of signatures with key pairs: neither `none` nor a shared key is in it (access-settings.ts).
        algorithms: [...algorithms],
        clockTolerance: clockSkewMs / 1_000,
        currentDate: new Date(this.#nowMs()),
        requiredClaims: ['exp'],
      })
      return this.#claims(issuer, payload)
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined
      throw error
    }
  }

  #claims(issuer: string, payload: JWTPayload): FederatedClaims | undefined {
    const { subjectClaim, nameClaim, groupsClaim, clockSkewMs } = this.#rules
    const subject = claimAt(payload, subjectClaim)
    if (typeof subject !== 'string' || subject === '' || payload.exp === undefined) return undefined
    const name = claimAt(payload, nameClaim)
    return {
      identity: { issuer, subject, groups: textsOf(claimAt(payload, groupsClaim)) },
      shownName: typeof name === 'string' && name !== '' ? name : subject,
      expiresAtMs: payload.exp * 1_000 + clockSkewMs,
    }
  }
}

/** The value at a path such as `realm_access.roles`. A claim whose own name holds dots is found as a whole. */
function claimAt(payload: JWTPayload, path: string): unknown {
  if (Object.hasOwn(payload, path)) return payload[path]
  let value: unknown = payload
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name] // `as`: an object, as looked at above
  }
  return value
}

/** The texts in a list, or those that spaces separate in one text, each once. */
function textsOf(value: unknown): readonly string[] {
  const found = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : []
  const texts = found.filter((item): item is string => typeof item === 'string' && item !== '')
  return [...new Set(texts)].slice(0, GROUPS_MAX)
}

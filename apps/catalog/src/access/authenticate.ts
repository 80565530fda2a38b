import { createHash, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { entriesMax } from '../entries-max.ts'
import { NotAuthorizedError } from '../http/request-errors.ts'
import type { AccessDirectory } from './access-directory.ts'
import { claimedIssuer, OWN_ISSUER, readAccessToken, type TokenClaims } from './access-token.ts'
import { OPERATOR, TRUSTED_CALLER, type Caller } from './caller.ts'
import type { FederatedClaims, IdentityProviders } from './identity-providers.ts'
import type { ServerKeys } from './server-keys.ts'

const PROVED_TOKENS_MAX = 10_000
const TOKEN_CHARACTERS_MAX = 16_384

export interface Authentication {
  /** Whether callers must prove who they are; where not, whatever credential comes is ignored. */
  readonly isRequired: boolean
  /** The static token of the operator. */
  readonly token: string | undefined
  readonly tokenKeys: ServerKeys
  readonly identityProviders: IdentityProviders | undefined
  readonly directory: AccessDirectory
  nowMs(): number
}

/** Tells from the Authorization header who calls. Throws NotAuthorizedError, which never holds what was sent. */
export type Authenticate = (authorization: string | undefined) => Caller | Promise<Caller>

type Proved =
  ({ readonly by: 'us' } & TokenClaims) | ({ readonly by: 'provider' } & FederatedClaims)

/**
 * The static token is compared; others are proved once and remembered by their digest until their time is over. The account
 * behind them is looked up each time, so a disabled one is out at once here, and after `maxAgeMs` in other processes.
 */
export function makeAuthenticate(authentication: Authentication): Authenticate {
  const { isRequired, token, nowMs } = authentication
  if (!isRequired) return () => TRUSTED_CALLER
  const expected = token === undefined ? undefined : digest(token)
  const remembered = new LRUCache<string, Proved>(entriesMax(PROVED_TOKENS_MAX))
  return (authorization) => {
    const sent = bearerToken(authorization)
    if (sent === undefined) throw missing()
    const key = digest(sent)
    // Digests have one length, so the comparison takes the same time for every text.
    if (expected !== undefined && timingSafeEqual(key, expected)) return OPERATOR
    const cacheKey = key.toString('base64')
    const known = remembered.get(cacheKey)
    if (known !== undefined && known.expiresAtMs > nowMs()) return callerOf(known, authentication)
    if (known !== undefined) throw expired()
    return proveAnew(sent, authentication, (proved) => remembered.set(cacheKey, proved))
  }
}

/** The way of a server that knows nobody but the operator: every caller that is not must be refused, or none. */
export function makeTokenCheck({
  token,
  isRequired,
}: Pick<Authentication, 'token' | 'isRequired'>): (authorization: string | undefined) => Caller {
  if (!isRequired) return () => TRUSTED_CALLER
  const expected = token === undefined ? undefined : digest(token)
  return (authorization) => {
    const sent = bearerToken(authorization)
    if (sent === undefined) throw missing()
    if (expected !== undefined && timingSafeEqual(digest(sent), expected)) return OPERATOR
    throw invalid()
  }
}

/** The token of a Bearer header; undefined for other headers. */
export function bearerToken(authorization: string | undefined): string | undefined {
  const sent = /^bearer +(.+)$/i.exec(authorization ?? '')?.[1]?.trim()
  return sent === undefined || sent.length > TOKEN_CHARACTERS_MAX ? undefined : sent
}

async function proveAnew(
  token: string,
  authentication: Authentication,
  remember: (proved: Proved) => void,
): Promise<Caller> {
  const proved = await prove(token, authentication)
  if (proved === undefined) throw invalid()
  if (proved.expiresAtMs <= authentication.nowMs()) throw expired()
  remember(proved)
  return callerOf(proved, authentication)
}

async function prove(
  token: string,
  { tokenKeys, identityProviders }: Authentication,
): Promise<Proved | undefined> {
  const issuer = claimedIssuer(token)
  if (issuer === undefined) return undefined
  if (issuer === OWN_ISSUER) {
    const claims = await readAccessToken(tokenKeys, token)
    return claims && { by: 'us', ...claims }
  }
  const claims = await identityProviders?.prove(token, issuer)
  return claims && { by: 'provider', ...claims }
}

function callerOf(proved: Proved, { directory, nowMs }: Authentication): Caller | Promise<Caller> {
  if (proved.by === 'provider') {
    const known = directory.identity(proved.identity, proved.shownName)
    if (known instanceof Promise) return known.then(({ caller }) => caller ?? refuse())
    return known.caller ?? refuse()
  }
  const known = directory.service(proved.accountId)
  if (known instanceof Promise) return known.then((found) => ownerOf(proved, found, nowMs()))
  return ownerOf(proved, known, nowMs())
}

type KnownAccount = Awaited<ReturnType<AccessDirectory['service']>>

function ownerOf({ secretId }: TokenClaims, known: KnownAccount, nowMs: number): Caller {
  const isActive =
    known !== undefined &&
    known.access.account.disabledAtMs === undefined &&
    known.access.secrets.some(
      ({ id, validUntilMs = Infinity }) => id === secretId && validUntilMs > nowMs,
    )
  return isActive ? known.caller : refuse()
}

function refuse(): never {
  throw invalid()
}

function missing(): NotAuthorizedError {
  return new NotAuthorizedError('missing')
}

function invalid(): NotAuthorizedError {
  return new NotAuthorizedError('invalid')
}

function expired(): NotAuthorizedError {
  return new NotAuthorizedError('expired')
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

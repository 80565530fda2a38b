import { decodeJwt, errors, jwtVerify, SignJWT } from 'jose'
import type { ServerKeys } from './server-keys.ts'

/** `iss` and `aud` of our own tokens; no identity provider can be set to it, because those are URLs. */
export const OWN_ISSUER = 'urn:timelake:catalog'
const ALGORITHM = 'HS256'
const TYPE = 'at+jwt'

/** What an access token of ours says. */
export interface TokenClaims {
  readonly accountId: string
  /** The secret that it was got with: the token ends with it. */
  readonly secretId: string
  readonly expiresAtMs: number
}

/** Signs an access token: a JWT that says who, until when, and nothing of rights, which are looked up. */
export async function signAccessToken(
  keys: ServerKeys,
  { accountId, secretId, expiresAtMs }: TokenClaims,
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
): Promise<string> {
  const key = await keys.current()
  return new SignJWT({ sid: secretId })
    .setProtectedHeader({ alg: ALGORITHM, kid: key.id, typ: TYPE })
    .setIssuer(OWN_ISSUER)
    .setAudience(OWN_ISSUER)
    .setSubject(accountId)
    .setJti(id)
    .setIssuedAt(Math.floor(nowMs / 1_000))
    .setExpirationTime(Math.floor(expiresAtMs / 1_000))
    .sign(key.bytes)
}

/** What `iss` of a JWT says, unproved; undefined for what is no JWT. */
export function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

/**
 * The claims of a token that we signed, whether its time is over or not: look at `expiresAtMs`. Undefined when it is not ours.
 */
export async function readAccessToken(
  keys: ServerKeys,
  token: string,
): Promise<TokenClaims | undefined> {
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = kid === undefined ? undefined : await keys.byId(kid)
        if (key === undefined) throw new errors.JWKSNoMatchingKey()
        return key.bytes
      },
      // The callers look at the time, because a refresh may come late.
      { ...EXPECTED, currentDate: new Date(0) },
    )
    const { sub, sid, exp } = payload
    if (sub === undefined || typeof sid !== 'string' || exp === undefined) return undefined
    return { accountId: sub, secretId: sid, expiresAtMs: exp * 1_000 }
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

const EXPECTED = {
  algorithms: [ALGORITHM],
  issuer: OWN_ISSUER,
  audience: OWN_ISSUER,
  typ: TYPE,
}

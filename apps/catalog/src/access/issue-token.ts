import type { CatalogContext } from '../context.ts'
import type { AccessDirectory } from './access-directory.ts'
import { readAccessToken, signAccessToken, type TokenClaims } from './access-token.ts'
import { bearerToken } from './authenticate.ts'
import type { CheckClient } from './check-client.ts'
import { OAuthError } from './oauth-error.ts'
import type { ServerKeys } from './server-keys.ts'
import type { TokenRequest } from './token-request.ts'

export interface TokenIssuer {
  readonly context: CatalogContext
  readonly tokenKeys: ServerKeys
  readonly directory: AccessDirectory
  readonly clients: CheckClient
  readonly tokenLifetimeMs: number
}

export interface IssuedToken {
  readonly token: string
  readonly lifetimeMs: number
}

type Owner = Pick<TokenClaims, 'accountId' | 'secretId'>

/**
 * A fresh access token. Client credentials are enough for every grant: Java sends them with a token that is past its time, and
 * one that was signed with a lost key must not end a client that could log in anew. Without them an exchange needs a token
 * that is valid now. Either way the token ends with the secret that stands at its beginning. Throws OAuthError.
 */
export async function issueToken(
  issuer: TokenIssuer,
  request: TokenRequest,
  caller: { readonly authorization: string | undefined; readonly remoteAddress: string },
): Promise<IssuedToken> {
  const { context, tokenKeys, tokenLifetimeMs } = issuer
  const { client } = request
  const owner =
    client === undefined
      ? await ownerOfTokens(issuer, request, caller.authorization)
      : await ownerByCredentials(issuer, client, caller.remoteAddress)
  const nowMs = context.nowMs()
  const claims = { ...owner, expiresAtMs: nowMs + tokenLifetimeMs }
  const token = await signAccessToken(tokenKeys, claims, { id: context.newUuid(), nowMs })
  return { token, lifetimeMs: tokenLifetimeMs }
}

async function ownerByCredentials(
  { clients }: TokenIssuer,
  client: NonNullable<TokenRequest['client']>,
  remoteAddress: string,
): Promise<Owner> {
  const { access, secret } = await clients.prove(client, remoteAddress)
  return { accountId: access.account.id, secretId: secret.id }
}

async function ownerOfTokens(
  issuer: TokenIssuer,
  request: TokenRequest,
  authorization: string | undefined,
): Promise<Owner> {
  const subject = request.grant === 'token-exchange' ? request.subjectToken : ''
  const owner = await activeOwner(issuer, subject)
  const bearer = bearerToken(authorization)
  if (bearer === undefined || bearer === subject) return owner
  // Who acts must be who the token is of: nobody gets a token in exchange for somebody else's.
  const actor = await activeOwner(issuer, bearer)
  if (actor.accountId !== owner.accountId) {
    throw new OAuthError('invalid_grant', 'the subject token belongs to another account')
  }
  return owner
}

async function activeOwner(
  { context, tokenKeys, directory }: TokenIssuer,
  token: string,
): Promise<Owner> {
  const claims = await readAccessToken(tokenKeys, token)
  const nowMs = context.nowMs()
  const known = claims && (await directory.service(claims.accountId))
  const isActive =
    claims !== undefined &&
    claims.expiresAtMs > nowMs &&
    known !== undefined &&
    known.access.account.disabledAtMs === undefined &&
    known.access.secrets.some(
      ({ id, validUntilMs = Infinity }) => id === claims.secretId && validUntilMs > nowMs,
    )
  if (isActive) return claims
  throw new OAuthError(
    'invalid_grant',
    'the subject token is not a valid access token of this server',
  )
}

import { issueToken } from '../access/issue-token.ts'
import { NO_STORE, OAuthError } from '../access/oauth-error.ts'
import { readTokenRequest, type TokenRequest } from '../access/token-request.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'

/** Nobody has proved anything yet, so nobody may send much. */
const BODY_BYTES_MAX = 65_536
/** Who mixes up id and secret must not find the secret in the audit log. */
const SHOWN_CLIENT_ID = /^(?!tls_)[A-Za-z0-9._-]{1,128}$/

/** POST /v1/oauth/tokens: an access token for client credentials, or for a token that still holds. */
export async function getToken(call: RouteCall): Promise<HttpAnswer> {
  const { catalog, request } = call
  const authorization = request.header('authorization')
  const form = (await request.readBody(BODY_BYTES_MAX)).toString('utf8')
  const asked = readTokenRequest(form, authorization)
  const remoteAddress = request.connection?.remoteAddress ?? ''
  try {
    const caller = { authorization, remoteAddress }
    const { token, lifetimeMs } = await issueToken(catalog.access, asked, caller)
    const answer = jsonAnswer({
      access_token: token,
      token_type: 'bearer',
      expires_in: BigInt(Math.floor(lifetimeMs / 1_000)),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    })
    return { ...answer, headers: { ...answer.headers, ...NO_STORE } }
  } catch (error) {
    const isFailedLogin = error instanceof OAuthError && error.code === 'invalid_client'
    if (isFailedLogin) noteFailure(call, asked)
    throw error
  }
}

/** Attempts that are refused unheard are not noted, so nobody can fill the log. */
function noteFailure({ catalog, request }: RouteCall, { client }: TokenRequest): void {
  catalog.audit.record({
    atMs: catalog.context.nowMs(),
    callerId: '',
    callerName:
      client !== undefined && SHOWN_CLIENT_ID.test(client.clientId) ? client.clientId : '',
    callerKind: 'unknown',
    action: 'getToken',
    outcome: 'denied',
    status: 401,
    warehouse: undefined,
    namespace: undefined,
    object: undefined,
    detail: 'client id or secret is wrong',
    remoteAddress: request.connection?.remoteAddress,
  })
}

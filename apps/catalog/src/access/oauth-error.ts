import { errorAnswer } from '../http/error-response.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'

/** Codes of RFC 6749 5.2; `slow_down` is ours, for who failed too often. */
export type OAuthErrorCode =
  'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type' | 'slow_down'

const STATUS: Readonly<Record<OAuthErrorCode, number>> = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  slow_down: 429,
}

/** A refusal of the token endpoint, whose errors have a shape of their own. The message holds nothing that was sent. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: OAuthErrorCode
  readonly retryAfterMs: number | undefined
  constructor(code: OAuthErrorCode, message: string, retryAfterMs?: number) {
    super(message)
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

/** What must come with every answer that may hold a token. */
export const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' }

/** The answer for anything thrown while a token was asked for, as RFC 6749 5.2 spells it. */
export function oauthErrorAnswer(error: unknown): HttpAnswer {
  return error instanceof OAuthError ? refusalAnswer(error) : otherAnswer(error)
}

function otherAnswer(error: unknown): HttpAnswer {
  const { status, headers, body } = errorAnswer(error)
  // `as`: what `errorAnswer` has just printed.
  const { message } = (JSON.parse(String(body)) as { error: { message: string } }).error
  // @NOTE Not a code for this endpoint, but one that says what it is: clients go by the status.
  const code = status >= 500 ? 'temporarily_unavailable' : 'invalid_request'
  const answer = jsonAnswer({ error: code, error_description: message }, status)
  return { ...answer, headers: { ...headers, ...NO_STORE } }
}

function refusalAnswer({ code, message, retryAfterMs }: OAuthError): HttpAnswer {
  const answer = jsonAnswer({ error: code, error_description: message }, STATUS[code])
  return {
    ...answer,
    headers: {
      ...answer.headers,
      ...NO_STORE,
      ...(code === 'invalid_client' ? { 'www-authenticate': 'Basic realm="timelake"' } : {}),
      ...(retryAfterMs === undefined
        ? {}
        : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }),
    },
  }
}

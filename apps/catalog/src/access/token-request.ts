import { OAuthError } from './oauth-error.ts'

export interface ClientCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** What the token endpoint is asked for. */
export type TokenRequest =
  | { readonly grant: 'client-credentials'; readonly client: ClientCredentials }
  | {
      readonly grant: 'token-exchange'
      readonly client: ClientCredentials | undefined
      readonly subjectToken: string
    }

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const SUBJECT_TYPES = [
  'urn:ietf:params:oauth:token-type:access_token',
  'urn:ietf:params:oauth:token-type:jwt',
]

/**
 * Reads a token request: its form, and the Authorization header where that holds client credentials (Basic). Parameters that
 * nobody knows, and any scope, are ignored, as RFC 6749 wants it. Throws OAuthError that names the parameter.
 * Spec: REST catalog, OAuthTokenRequest; RFC 6749 2.3.1, 4.4; RFC 8693 2.1.
 */
export function readTokenRequest(form: string, authorization: string | undefined): TokenRequest {
  const parameters = readForm(form)
  const client = clientOf(parameters, authorization)
  const grantType = required(parameters, 'grant_type')
  switch (grantType) {
    case 'client_credentials':
      if (client !== undefined) return { grant: 'client-credentials', client }
      throw new OAuthError(
        'invalid_request',
        'client credentials are missing: expected client_id and client_secret in the form, or in a Basic header',
      )
    case TOKEN_EXCHANGE:
      return { grant: 'token-exchange', client, subjectToken: subjectTokenOf(parameters) }
    default:
      throw new OAuthError(
        'unsupported_grant_type',
        `expected grant_type client_credentials or ${TOKEN_EXCHANGE}`,
      )
  }
}

function readForm(form: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(form)) {
    if (parameters.has(name)) throw new OAuthError('invalid_request', 'a parameter is given twice')
    parameters.set(name, value)
  }
  return parameters
}

function required(parameters: ReadonlyMap<string, string>, name: string): string {
  const value = parameters.get(name)
  if (value !== undefined && value !== '') return value
  throw new OAuthError('invalid_request', `expected ${name} in a form (x-www-form-urlencoded)`)
}

function subjectTokenOf(parameters: ReadonlyMap<string, string>): string {
  const token = required(parameters, 'subject_token')
  const type = required(parameters, 'subject_token_type')
  if (SUBJECT_TYPES.includes(type)) return token
  const expected = SUBJECT_TYPES.join(' or ')
  throw new OAuthError('invalid_request', `expected subject_token_type ${expected}`)
}

function clientOf(
  parameters: ReadonlyMap<string, string>,
  authorization: string | undefined,
): ClientCredentials | undefined {
  const basic = basicCredentials(authorization)
  const clientSecret = parameters.get('client_secret')
  if (clientSecret === undefined) return basic
  const clientId = parameters.get('client_id')
  if (clientId === undefined || clientId === '') {
    throw new OAuthError('invalid_request', 'expected client_id beside client_secret')
  }
  const isSame = basic?.clientId === clientId && basic.clientSecret === clientSecret
  if (basic !== undefined && !isSame) {
    throw new OAuthError('invalid_request', 'form and Basic header hold different credentials')
  }
  return { clientId, clientSecret }
}

// @NOTE RFC 6749 has id and secret form-encoded before base64, Java does not do so. Ours read the same both ways.
function basicCredentials(authorization: string | undefined): ClientCredentials | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1) throw new OAuthError('invalid_request', 'expected id:secret in the Basic header')
  return { clientId: text.slice(0, colon), clientSecret: text.slice(colon + 1) }
}

import { choice, duration, list, listOf, text } from './setting-kinds.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** Signatures with key pairs. Shared keys and `none` are no choice: with them whoever checks a token could make one. */
export const TOKEN_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA'],
]

/** Settings of who is let in. */
export const ACCESS_SETTINGS = {
  authentication: choice(['auto', 'required', 'off'], {
    variable: 'TIMELAKE_AUTHENTICATION',
    default: 'auto',
    doc:
      'Whether requests must prove who sends them: `required`, `off`, or `auto`: when TIMELAKE_TOKEN or TIMELAKE_OIDC_ISSUERS is ' +
      'set, or there is an account when the server starts.',
  }),
  accessTokenLifetimeMs: duration({
    variable: 'TIMELAKE_ACCESS_TOKEN_LIFETIME',
    default: '1h',
    min: 10 * SECOND_MS,
    max: DAY_MS,
    doc: 'How long an access token from the token endpoint is valid.',
  }),
  accessMaxAgeMs: duration({
    variable: 'TIMELAKE_ACCESS_MAX_AGE',
    default: '1s',
    min: 0,
    max: MINUTE_MS,
    doc: 'How long a change of accounts and grants by another process may stay unseen.',
  }),
  auditRetentionMs: duration({
    variable: 'TIMELAKE_AUDIT_RETENTION',
    default: '90d',
    min: HOUR_MS,
    max: 3_650 * DAY_MS,
    doc: 'How long entries of the audit log are kept.',
  }),
  oidcIssuers: listOf(readIssuer, {
    variable: 'TIMELAKE_OIDC_ISSUERS',
    default: '',
    doc:
      'Identity providers whose tokens are believed: their issuers, exactly as `iss` spells them, separated by commas. ' +
      'https, or http on this machine.',
  }),
  oidcAudiences: list({
    variable: 'TIMELAKE_OIDC_AUDIENCES',
    default: '',
    doc: 'One of these must be an audience (`aud`) of such a token. Needed with TIMELAKE_OIDC_ISSUERS.',
  }),
  oidcAlgorithms: listOf(readAlgorithm, {
    variable: 'TIMELAKE_OIDC_ALGORITHMS',
    default: 'RS256,ES256,PS256,EdDSA',
    doc: `Signatures that are believed, of ${TOKEN_ALGORITHMS.join(', ')}.`,
  }),
  oidcSubjectClaim: text({
    variable: 'TIMELAKE_OIDC_SUBJECT_CLAIM',
    default: 'sub',
    doc: 'Claim that says who a token is of; dots lead into objects.',
  }),
  oidcNameClaim: text({
    variable: 'TIMELAKE_OIDC_NAME_CLAIM',
    default: 'preferred_username',
    doc: 'Claim with the name that logs and the audit log show.',
  }),
  oidcGroupsClaim: text({
    variable: 'TIMELAKE_OIDC_GROUPS_CLAIM',
    default: 'groups',
    doc: 'Claim with the groups, a list of texts, for example `realm_access.roles`.',
  }),
  oidcClockSkewMs: duration({
    variable: 'TIMELAKE_OIDC_CLOCK_SKEW',
    default: '30s',
    min: 0,
    max: 5 * MINUTE_MS,
    doc: 'How far the clocks of an identity provider may be off.',
  }),
} as const

function readIssuer(issuer: string): string {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '')
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)
  const isPlain = url?.search === '' && url.hash === '' && url.username === ''
  if (!isSafe || !isPlain) throw new Error('https URLs without a query, separated by commas')
  return issuer
}

function readAlgorithm(algorithm: string): string {
  if (!TOKEN_ALGORITHMS.includes(algorithm)) {
    throw new Error(`some of ${TOKEN_ALGORITHMS.join(', ')}, separated by commas`)
  }
  return algorithm
}

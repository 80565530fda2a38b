/** What an operator may set for who is let in. `…Ms` are milliseconds. */
export interface AccessConfig {
  /**
   * Whether requests must prove who sends them. `auto`: when there is a static token, an identity provider or, at the start,
   * an account.
   */
  readonly authentication: 'auto' | 'required' | 'off'
  /** How long an access token from the token endpoint is valid. */
  readonly tokenLifetimeMs: number
  /** How long what was read of an account may be used; a change by another process is seen after that. */
  readonly maxAgeMs: number
  readonly identityProviders: IdentityProviderRules | undefined
  /** How long lines of the audit log are kept. */
  readonly auditRetentionMs: number
}

/** Which tokens of others are believed, and how they are read. */
export interface IdentityProviderRules {
  /** Exactly as `iss` spells them. */
  readonly issuers: readonly string[]
  /** One of them must be in `aud`. */
  readonly audiences: readonly string[]
  readonly algorithms: readonly string[]
  /** Paths of claims; dots lead into objects. */
  readonly subjectClaim: string
  readonly nameClaim: string
  readonly groupsClaim: string
  readonly clockSkewMs: number
}

export const defaultAccessConfig: AccessConfig = {
  authentication: 'auto',
  tokenLifetimeMs: 3_600_000,
  maxAgeMs: 1_000,
  identityProviders: undefined,
  auditRetentionMs: 90 * 86_400_000,
}

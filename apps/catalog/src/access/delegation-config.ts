/** What an operator may set for the access that clients get to objects. `…Ms` are milliseconds. */
export interface DelegationConfig {
  /** How long credentials are asked for, and at most what their expiry is announced as. */
  readonly credentialsLifetimeMs: number
  /** How long whoever staged a table may get credentials and signatures for it before it is committed. */
  readonly stagedLifetimeMs: number
}

export const defaultDelegationConfig: DelegationConfig = {
  credentialsLifetimeMs: 3_600_000,
  stagedLifetimeMs: 86_400_000,
}

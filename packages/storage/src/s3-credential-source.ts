import type { CredentialSource, SessionCredentials } from './session-credentials.ts'
import type { S3Credentials, S3Profile } from './storage-profile.ts'

/** A session is replaced this long before it ends. */
const RENEW_BEFORE_MS = 300_000
const SESSION_NAME = 'timelake'
const SESSION_SECONDS = 3_600

/** These, for ever. */
export function fixedCredentials(credentials: S3Credentials): CredentialSource {
  return { current: () => credentials, expire: () => undefined }
}

/**
 * Credentials that are fetched at first use and again before they end. Callers at the same time share one fetch. When a
 * fetch fails, the ones at hand are used as long as they are valid.
 */
export function renewedCredentials(
  fetchCredentials: () => Promise<SessionCredentials>,
  nowMs: () => number,
): CredentialSource {
  let held: SessionCredentials | undefined
  let fetching: Promise<SessionCredentials> | undefined
  const endsWithin = (durationMs: number): boolean =>
    held === undefined || (held.expiresAtMs ?? Infinity) <= nowMs() + durationMs
  const renew = async (): Promise<SessionCredentials> => {
    fetching ??= fetchCredentials().finally(() => {
      fetching = undefined
    })
    try {
      held = await fetching
      return held
    } catch (error) {
      if (held === undefined || endsWithin(0)) throw error
      return held
    }
  }
  return {
    current: () => (held === undefined || endsWithin(RENEW_BEFORE_MS) ? renew() : held),
    expire() {
      held = undefined
    },
  }
}

/**
 * The credentials of a profile: those given, or the process's own identity (environment, files, the machine's role), or
 * the role of the profile assumed with either.
 */
export function credentialSourceOf(
  profile: S3Profile,
  credentials: S3Credentials | undefined,
  nowMs: () => number,
): CredentialSource {
  if (credentials !== undefined && profile.roleArn === undefined) {
    return fixedCredentials(credentials)
  }
  // The AWS SDK is loaded only by stores that need it.
  return renewedCredentials(async () => {
    const { assumeRole, ownIdentity } = await import('./s3-session.ts')
    const { roleArn } = profile
    if (roleArn === undefined) return ownIdentity(profile)
    const session = { roleArn, sessionName: SESSION_NAME, durationSeconds: SESSION_SECONDS }
    return assumeRole(profile, session, credentials)
  }, nowMs)
}

import type { S3Credentials } from './storage-profile.ts'

/** Credentials that may end some day. */
export interface SessionCredentials extends S3Credentials {
  readonly expiresAtMs?: number
}

/** Where calls get their credentials from. */
export interface CredentialSource {
  /** Credentials that do not expire soon. Throws StoreUnavailableError when there are none to be had. */
  current(): SessionCredentials | Promise<SessionCredentials>
  /** The store said that they have expired: the next call gets others, if there are others. */
  expire(): void
}

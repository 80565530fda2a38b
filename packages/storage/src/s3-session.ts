import { S3Client } from '@aws-sdk/client-s3'
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts'
import { UnvendableScopeError } from './access-broker.ts'
import { StoreUnavailableError } from './object-store.ts'
import type { SessionCredentials } from './session-credentials.ts'
import { sdkFactsOf } from './s3-sdk-client.ts'
import type { S3Credentials, S3Profile } from './storage-profile.ts'
import { unavailable } from './s3-verdict.ts'

const CALL_TIMEOUT_MS = 10_000
const ATTEMPTS_MAX = 3

/** What the process is by itself: environment, shared files, the role of the machine. Throws StoreUnavailableError. */
export async function ownIdentity({ region }: S3Profile): Promise<SessionCredentials> {
  const client = new S3Client({ region })
  try {
    const { accessKeyId, secretAccessKey, sessionToken, expiration } =
      await client.config.credentials()
    return sessionOf({ accessKeyId, secretAccessKey, sessionToken, expiration })
  } catch {
    // The SDK's error tells which files and hosts were asked, and may quote what they hold.
    throw new StoreUnavailableError(
      'cannot find credentials: the warehouse has none and neither has this process',
    )
  } finally {
    client.destroy()
  }
}

/** A session that is asked for. */
export interface SessionRequest {
  readonly roleArn: string
  /** 2 to 64 letters, digits or `_ + = , . @ -`. */
  readonly sessionName: string
  /** 900 at least. */
  readonly durationSeconds: number
  /** JSON text: the session may do what both this and the role allow. Absent: all that the role may. */
  readonly policy?: string
}

/** Gets sessions over kept connections. */
export interface SessionFetcher {
  /** Throws StoreUnavailableError, and UnvendableScopeError for a policy that STS finds too large once it is packed. */
  assume(session: SessionRequest): Promise<SessionCredentials>
  close(): void
}

/** Sessions of roles, which `credentials` assume, or the process's own identity. Nothing is sent before the first. */
export function openSessionFetcher(
  { region, externalId, stsEndpoint }: S3Profile,
  credentials: S3Credentials | undefined,
): SessionFetcher {
  const client = new STSClient({
    region,
    ...(stsEndpoint === undefined ? {} : { endpoint: stsEndpoint }),
    ...(credentials === undefined ? {} : { credentials: { ...credentials } }),
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: {
      connectionTimeout: CALL_TIMEOUT_MS,
      requestTimeout: CALL_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  })
  return {
    async assume({ roleArn, sessionName, durationSeconds, policy }) {
      const command = new AssumeRoleCommand({
        RoleArn: roleArn,
        RoleSessionName: sessionName,
        DurationSeconds: durationSeconds,
        ...(policy === undefined ? {} : { Policy: policy }),
        ...(externalId === undefined ? {} : { ExternalId: externalId }),
      })
      const { Credentials: found } = await client.send(command).catch((error: unknown) => {
        throw assumeFailure(roleArn, error)
      })
      return sessionOf({
        accessKeyId: found?.AccessKeyId,
        secretAccessKey: found?.SecretAccessKey,
        sessionToken: found?.SessionToken,
        expiration: found?.Expiration,
      })
    },
    close: () => client.destroy(),
  }
}

/** One session. Errors as those of SessionFetcher. */
export async function assumeRole(
  profile: S3Profile,
  session: SessionRequest,
  credentials: S3Credentials | undefined,
): Promise<SessionCredentials> {
  const fetcher = openSessionFetcher(profile, credentials)
  try {
    return await fetcher.assume(session)
  } finally {
    fetcher.close()
  }
}

function assumeFailure(roleArn: string, error: unknown): Error {
  const facts = sdkFactsOf(error)
  if (!facts.code.startsWith('PackedPolicyTooLarge')) {
    return unavailable(`assume role ${roleArn}`, facts)
  }
  const sentence = 'cannot limit a session to these prefixes: their policy is too large for STS'
  return new UnvendableScopeError('too-large', sentence)
}

interface FoundSession {
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: string | undefined
  readonly sessionToken: string | undefined
  readonly expiration: Date | undefined
}

function sessionOf(found: FoundSession): SessionCredentials {
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = found
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new StoreUnavailableError('cannot use the credentials that were found: they hold no keys')
  }
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(expiration === undefined ? {} : { expiresAtMs: expiration.getTime() }),
  }
}

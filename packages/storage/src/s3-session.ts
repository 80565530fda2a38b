import { S3Client } from '@aws-sdk/client-s3'
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts'
import { StoreUnavailableError } from './object-store.ts'
import type { SessionCredentials } from './s3-credential-source.ts'
import { sdkFactsOf } from './s3-sdk-client.ts'
import type { S3Credentials, S3Profile } from './storage-profile.ts'
import { unavailable } from './s3-verdict.ts'

const SESSION_NAME = 'timelake'
const SESSION_SECONDS = 3_600
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

/** A session of the role. Throws StoreUnavailableError. */
export async function assumeRole(
  profile: S3Profile,
  roleArn: string,
  credentials: S3Credentials | undefined,
): Promise<SessionCredentials> {
  const { region, externalId, stsEndpoint } = profile
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
  try {
    const { Credentials: found } = await client.send(
      new AssumeRoleCommand({
        RoleArn: roleArn,
        RoleSessionName: SESSION_NAME,
        DurationSeconds: SESSION_SECONDS,
        ...(externalId === undefined ? {} : { ExternalId: externalId }),
      }),
    )
    return sessionOf({
      accessKeyId: found?.AccessKeyId,
      secretAccessKey: found?.SecretAccessKey,
      sessionToken: found?.SessionToken,
      expiration: found?.Expiration,
    })
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error
    throw unavailable(`assume role ${roleArn}`, sdkFactsOf(error))
  } finally {
    client.destroy()
  }
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

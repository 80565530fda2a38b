/*
 * The AWS SDK for the calls that are rare or large: lists, batches, uploads in parts. Loaded at the first of them.
 */
import { S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { StoreUnavailableError } from './object-store.ts'
import type { CredentialSource } from './session-credentials.ts'
import { newPatience, type PatienceOptions } from './s3-patience.ts'
import type { S3Timeouts } from './s3-timeouts.ts'
import { type AnswerFacts, unavailable, type Verdict, verdictOf } from './s3-verdict.ts'
import type { S3Profile } from './storage-profile.ts'

export interface SdkClient {
  /** Makes a call that may be made twice, a few times at most. Throws SdkCallError, and StoreUnavailableError of the credentials. */
  repeat<T>(call: (s3: S3Client) => Promise<T>): Promise<T>
  /** Makes a call once. Errors as `repeat`. */
  once<T>(call: (s3: S3Client) => Promise<T>): Promise<T>
  close(): void
}

/** A call of the SDK that failed. The SDK's own error may quote signatures and is not kept. */
export class SdkCallError extends Error {
  override readonly name = 'SdkCallError'
  readonly facts: AnswerFacts
  /** `try-again` also for an answer that did not come or ended early. */
  readonly verdict: Verdict
  constructor(facts: AnswerFacts) {
    super(`the store answered ${facts.status} ${facts.code}`)
    this.facts = facts
    this.verdict = facts.status < 300 ? 'try-again' : verdictOf(facts)
  }
}

export interface SdkOptions extends PatienceOptions {
  readonly profile: S3Profile
  readonly credentials: CredentialSource
  readonly timeouts: S3Timeouts
}

const SILENT = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

/** A client that waits no longer than our own one, and computes no checksums that a store may not know. */
export function openSdkClient(options: SdkOptions): SdkClient {
  const { profile, credentials, timeouts } = options
  const s3 = new S3Client({
    region: profile.region,
    ...(profile.endpoint === undefined ? {} : { endpoint: profile.endpoint }),
    forcePathStyle: profile.pathStyle,
    credentials: async () => {
      const { expiresAtMs, ...keys } = await credentials.current()
      // Sessions are kept and renewed by their source: the SDK must ask each time, so it is told that they end now.
      return expiresAtMs === undefined ? keys : { ...keys, expiration: new Date(options.nowMs()) }
    },
    maxAttempts: 1,
    followRegionRedirects: false,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    logger: SILENT,
    requestHandler: {
      connectionTimeout: timeouts.connectTimeoutMs,
      requestTimeout: timeouts.firstByteTimeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: timeouts.firstByteTimeoutMs,
    },
  })
  const once = async <T>(call: (client: S3Client) => Promise<T>): Promise<T> => {
    try {
      return await call(s3)
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error
      throw new SdkCallError(sdkFactsOf(error))
    }
  }
  return {
    once,
    async repeat(call) {
      const patience = newPatience(options)
      for (;;) {
        try {
          return await once(call)
        } catch (error) {
          if (!(error instanceof SdkCallError)) throw error
          if (error.verdict === 'expired') credentials.expire()
          else if (error.verdict !== 'try-again') throw error
          if (!(await patience.pause())) throw error
        }
      }
    },
    close: () => s3.destroy(),
  }
}

/** What a failure of the SDK means to callers of the store. */
export function sdkUnavailable(action: string, error: unknown): Error {
  if (error instanceof SdkCallError) return unavailable(action, error.facts)
  return error instanceof Error ? error : new Error(`cannot ${action}`, { cause: error })
}

/** Status and code of what the SDK threw; status 0 when no answer came. The SDK's own text may quote signatures. */
export function sdkFactsOf(error: unknown): AnswerFacts {
  if (!(error instanceof Error)) return { status: 0, code: '' }
  const status = metadataStatus(error) ?? 0
  const code = status === 0 ? '' : /^[A-Za-z0-9._-]{1,64}$/.exec(error.name)?.[0]
  return { status, code: code ?? '' }
}

function metadataStatus(error: Error): number | undefined {
  if (error instanceof S3ServiceException) return error.$metadata.httpStatusCode
  if (!('$metadata' in error)) return undefined
  // `as`: every client of the SDK puts this on its errors.
  return (error.$metadata as { readonly httpStatusCode?: number }).httpStatusCode
}

import { openAddressBook } from './s3-address.ts'
import type { CredentialSource } from './session-credentials.ts'
import {
  ExchangeError,
  openHttpConnections,
  type HttpAnswer,
  type HttpHead,
} from './s3-exchange.ts'
import { StoreUnavailableError } from './object-store.ts'
import { newPatience, type PatienceOptions } from './s3-patience.ts'
import { canonicalQuery, EMPTY_PAYLOAD_HASH, openSigner, sha256Hex } from './s3-signer.ts'
import type { S3Timeouts } from './s3-timeouts.ts'
import { factsOf, verdictOf, type AnswerFacts, type Verdict } from './s3-verdict.ts'
import type { S3Location } from './s3-location.ts'
import type { S3Profile } from './storage-profile.ts'

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  readonly place: S3Location
  readonly query?: Readonly<Record<string, string>>
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly signal?: AbortSignal | undefined
  readonly checkHead?: (head: HttpHead) => void
}

export interface S3Answer extends HttpAnswer {
  readonly facts: AnswerFacts
  readonly verdict: Verdict
}

/** The few calls that are made for every small read and write, signed by ourselves: they cost a fraction of the SDK's. */
export interface S3Client {
  /** One attempt. Errors: ExchangeError, what `checkHead` threw, the signal's reason, those of the credentials. */
  sendOnce(request: S3Request): Promise<S3Answer>
  /**
   * The same for a call that may be made twice: after bad weather it is made again, a few times at most. Answers
   * whatever the store said last, also `try-again`. Throws StoreUnavailableError when it said nothing.
   */
  send(request: S3Request): Promise<S3Answer>
  close(): void
}

export interface S3ClientOptions extends PatienceOptions {
  readonly profile: S3Profile
  readonly credentials: CredentialSource
  readonly timeouts: S3Timeouts
}

/** A client of one store. Nothing is opened before the first call. */
export function openS3Client(options: S3ClientOptions): S3Client {
  const { profile, credentials, timeouts, nowMs } = options
  const addressOf = openAddressBook(profile)
  const sign = openSigner(profile.region)
  const isSecure = addressOf({ bucket: 'any', key: '' }).isSecure
  const connections = openHttpConnections(isSecure, timeouts)

  const sendOnce = async (request: S3Request): Promise<S3Answer> => {
    const address = addressOf(request.place)
    const { method, body, signal, checkHead } = request
    const payloadHash = body === undefined ? EMPTY_PAYLOAD_HASH : sha256Hex(body)
    const { host, path } = address
    const query = canonicalQuery(request.query)
    const signable = { method, host, path, query, headers: request.headers ?? {}, payloadHash }
    const headers = sign(signable, await credentials.current(), nowMs())
    if (body !== undefined) headers['content-length'] = String(body.length)
    const answer = await connections.exchange({
      method,
      address: query === '' ? address : { ...address, path: `${path}?${query}` },
      headers,
      body,
      signal,
      checkHead,
    })
    const facts = factsOf(answer)
    const verdict = verdictOf(facts)
    if (verdict === 'expired') credentials.expire()
    return { ...answer, facts, verdict }
  }
  return {
    sendOnce,
    send: (request) => sendPatiently(sendOnce, request, options),
    close: () => connections.close(),
  }
}

async function sendPatiently(
  sendOnce: S3Client['sendOnce'],
  request: S3Request,
  options: PatienceOptions,
): Promise<S3Answer> {
  const { method, place, signal } = request
  const patience = newPatience(options)
  for (;;) {
    const answer = await answerOrFailure(sendOnce, request)
    if (answer instanceof ExchangeError) {
      if (await patience.pause({ signal })) continue
      const target = `s3://${place.bucket}/${place.key}`
      throw new StoreUnavailableError(`cannot ${method} ${target}: no answer`, { cause: answer })
    }
    if (answer.verdict !== 'try-again' && answer.verdict !== 'expired') return answer
    const askedMs = Number(answer.headers['retry-after'] ?? 0) * 1000 || 0
    if (!(await patience.pause({ askedMs, signal }))) return answer
  }
}

async function answerOrFailure(
  sendOnce: S3Client['sendOnce'],
  request: S3Request,
): Promise<S3Answer | ExchangeError> {
  try {
    return await sendOnce(request)
  } catch (error) {
    if (error instanceof ExchangeError) return error
    throw error
  }
}

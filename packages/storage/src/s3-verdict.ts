/*
 * What an answer means, by status and error code. Vendors differ in codes more than in meaning; what is not known here
 * is a refusal, never an absence.
 */
import { StoreUnavailableError } from './object-store.ts'
import type { HttpAnswer } from './s3-exchange.ts'

/**
 * `absent`: the store says that the object is not there. `exists`: a condition was not met. `conflict`: another writer is
 * at the same name, nothing was done. `unsupported`: the store does not know a part of the request. `try-again`: nothing is
 * known about what was done. `expired`: the session of the credentials ended. `no-bucket`, `refused`: nothing was done.
 */
export type Verdict =
  | 'ok'
  | 'absent'
  | 'exists'
  | 'conflict'
  | 'unsupported'
  | 'try-again'
  | 'expired'
  | 'no-bucket'
  | 'refused'

export interface AnswerFacts {
  readonly status: number
  /** The store's error code; empty when it gave none. */
  readonly code: string
}

const ABSENT_CODES = new Set(['NoSuchKey', 'BlobNotFound', 'ObjectNotFound'])
const NO_BUCKET_CODES = new Set(['NoSuchBucket', 'ContainerNotFound'])
/** Azure and gateways before it answer a lost put-if-absent this way, with 409. */
const EXISTS_CODES = new Set(['BlobAlreadyExists', 'ObjectAlreadyExists', 'ResourceAlreadyExists'])
const CONFLICT_CODES = new Set(['ConditionalRequestConflict', 'OperationAborted', 'Conflict'])
const UNSUPPORTED_CODES = new Set([
  'NotImplemented',
  'InvalidArgument',
  'UnsupportedHeader',
  'UnsupportedOperation',
])
const EXPIRED_CODES = new Set(['ExpiredToken', 'ExpiredTokenException', 'TokenRefreshRequired'])
const TRY_AGAIN_CODES = new Set(['RequestTimeout', 'SlowDown', 'TooManyRequests', 'InternalError'])

/** The code in the XML body or a header of an error; empty when there is none. */
export function factsOf({ status, headers, body }: HttpAnswer): AnswerFacts {
  if (status < 300) return { status, code: '' }
  const vendorCode = headers['x-ms-error-code'] ?? headers['x-amz-error-code']
  const written = /<Code>\s*([A-Za-z0-9._-]{1,64})\s*<\/Code>/.exec(body.toString('latin1'))?.[1]
  return { status, code: written ?? (typeof vendorCode === 'string' ? vendorCode : '') }
}

/** What the facts mean. A 404 without a code that speaks of an object is no absence: a proxy may have written it. */
export function verdictOf({ status, code }: AnswerFacts): Verdict {
  if (status >= 200 && status < 300) return 'ok'
  if (EXPIRED_CODES.has(code)) return 'expired'
  if (TRY_AGAIN_CODES.has(code) || status >= 500) {
    return status === 501 ? 'unsupported' : 'try-again'
  }
  switch (status) {
    case 400:
      return UNSUPPORTED_CODES.has(code) ? 'unsupported' : 'refused'
    case 404:
      if (ABSENT_CODES.has(code)) return 'absent'
      return NO_BUCKET_CODES.has(code) ? 'no-bucket' : 'refused'
    case 304:
    case 412:
      return 'exists'
    case 409:
      if (EXISTS_CODES.has(code)) return 'exists'
      return CONFLICT_CODES.has(code) ? 'conflict' : 'refused'
    case 408:
    case 429:
      return 'try-again'
    default:
      return 'refused'
  }
}

/** The error for an answer that is of no use: what was done, and the store's status and code, never its text. */
export function unavailable(action: string, { status, code }: AnswerFacts): StoreUnavailableError {
  const found = code === '' ? `status ${status}` : `status ${status} ${code}`
  return new StoreUnavailableError(`cannot ${action}: ${HINTS[code] ?? hintOf(status)}${found}`)
}

const HINTS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist, ',
  InvalidAccessKeyId: 'the store does not know the access key, ',
  SignatureDoesNotMatch: 'the secret key, the region or the path style is wrong, ',
  AuthorizationHeaderMalformed: 'the bucket is in another region, ',
  PermanentRedirect: 'the bucket is in another region or has another endpoint, ',
  RequestTimeTooSkewed: 'the clock of this machine is wrong, ',
  AccessDenied: 'the credentials do not allow it, ',
}

function hintOf(status: number): string {
  if (status === 301 || status === 307) return 'the bucket is in another region, '
  return status === 404 ? 'the answer speaks of no object, is this an S3 endpoint? ' : ''
}

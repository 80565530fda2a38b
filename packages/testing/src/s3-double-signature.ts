/*
 * The server's side of AWS Signature Version 4, written from the specification and on purpose not from our signer: a
 * mistake in one is not excused by the same mistake in the other.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export interface SignedRequest {
  readonly method: string
  /** As it was sent: path and query. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface SigningKeys {
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly expiresAtMs?: number
}

export interface VerifyContext {
  readonly region: string
  readonly nowMs: number
  keysOf(accessKeyId: string): SigningKeys | undefined
}

/** Status and error code of a refusal. */
export interface Refusal {
  readonly status: number
  readonly code: string
}

const CLOCK_SKEW_MS_MAX = 900_000
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/(s3|sts)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/

/** Why S3 would refuse the request, or undefined when the signature and the payload's hash are right. */
export function refusalOf(request: SignedRequest, context: VerifyContext): Refusal | undefined {
  const { headers } = request
  const match = AUTHORIZATION.exec(headers.authorization ?? '')
  if (match === null) return { status: 403, code: 'AccessDenied' }
  const [, keyId = '', day = '', region = '', service = '', signedNames = '', signature = ''] =
    match
  const keys = context.keysOf(keyId)
  if (keys === undefined) return { status: 403, code: 'InvalidAccessKeyId' }
  if (region !== context.region) return { status: 400, code: 'AuthorizationHeaderMalformed' }
  const time = String(headers['x-amz-date'])
  const timeMs = Date.parse(
    time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  )
  if (!(Math.abs(timeMs - context.nowMs) <= CLOCK_SKEW_MS_MAX) || !time.startsWith(day)) {
    return { status: 403, code: 'RequestTimeTooSkewed' }
  }
  const names = signedNames.split(';')
  if (mustBeSigned(headers).some((name) => !names.includes(name))) {
    return { status: 403, code: 'AccessDenied' }
  }
  const scope = `${day}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonicalRequest(request, names))].join(
    '\n',
  )
  const key = ['s3' === service ? 's3' : 'sts', 'aws4_request'].reduce(
    (parent: Buffer, part) => hmac(parent, part),
    hmac(hmac(Buffer.from(`AWS4${keys.secretAccessKey}`), day), region),
  )
  if (!timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'))) {
    return { status: 403, code: 'SignatureDoesNotMatch' }
  }
  return sessionRefusal(headers, keys, context.nowMs) ?? payloadRefusal(request)
}

function sessionRefusal(
  headers: IncomingHttpHeaders,
  { sessionToken, expiresAtMs }: SigningKeys,
  nowMs: number,
): Refusal | undefined {
  if (headers['x-amz-security-token'] !== sessionToken) return { status: 403, code: 'InvalidToken' }
  return (expiresAtMs ?? Infinity) <= nowMs ? { status: 400, code: 'ExpiredToken' } : undefined
}

function payloadRefusal({ headers, body }: SignedRequest): Refusal | undefined {
  const hash = headers['x-amz-content-sha256']
  if (hash === undefined || hash === 'UNSIGNED-PAYLOAD' || hash === sha256(body)) return undefined
  return { status: 400, code: 'XAmzContentSHA256Mismatch' }
}

function mustBeSigned(headers: IncomingHttpHeaders): string[] {
  return Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'))
}

function canonicalRequest(
  { method, target, headers, body }: SignedRequest,
  names: string[],
): string {
  const [path = '', query = ''] = target.split('?')
  const lines = names.map((name) => `${name}:${String(headers[name]).trim()}`)
  const payload = headers['x-amz-content-sha256'] ?? sha256(body)
  const parts = [method, encodeBytes(decode(path), true), canonicalQuery(query), ...lines, '']
  return [...parts, names.join(';'), payload].join('\n')
}

function canonicalQuery(query: string): string {
  if (query === '') return ''
  return query
    .split('&')
    .map((pair) => {
      const [name = '', value = ''] = pair.split('=')
      return `${encodeBytes(decode(name), false)}=${encodeBytes(decode(value), false)}`
    })
    .sort()
    .join('&')
}

function decode(text: string): Buffer {
  return Buffer.from(decodeURIComponent(text))
}

/** Every byte but the unreserved ones as `%XX`; slashes too unless they separate. */
function encodeBytes(bytes: Buffer, keepsSlashes: boolean): string {
  let text = ''
  for (const byte of bytes) {
    const character = String.fromCharCode(byte)
    const isKept = /[A-Za-z0-9._~-]/.test(character) || (keepsSlashes && character === '/')
    text += isKept ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return text
}

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

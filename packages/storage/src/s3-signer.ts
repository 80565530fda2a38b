import { createHash, createHmac } from 'node:crypto'
import { encodeStrictly } from './s3-address.ts'
import type { S3Credentials } from './storage-profile.ts'

/** What of a request is signed. */
export interface SignableRequest {
  readonly method: string
  readonly host: string
  /** Encoded once, with `/` left alone: S3 signs paths as they are sent. */
  readonly path: string
  /** As `canonicalQuery` writes it; empty when there is none. */
  readonly query: string
  /** Lower-case names; all of them are signed. */
  readonly headers: Readonly<Record<string, string>>
  /** Hexadecimal SHA-256 of the body. */
  readonly payloadHash: string
}

/** The headers to send, `authorization` among them. */
export type SignRequest = (
  request: SignableRequest,
  credentials: S3Credentials,
  nowMs: number,
) => Record<string, string>

export const EMPTY_PAYLOAD_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Hexadecimal SHA-256. */
export function sha256Hex(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex')
}

/**
 * AWS Signature Version 4 in the `Authorization` header for the service `s3`. The key of a day is derived once per
 * secret, so signing costs two hashes and one HMAC over a few hundred bytes.
 */
export function openSigner(region: string): SignRequest {
  let derived: { readonly id: string; readonly key: Buffer } | undefined
  const signingKey = (secret: string, day: string): Buffer => {
    const id = `${day}/${secret}`
    if (derived?.id !== id) derived = { id, key: deriveKey(secret, day, region) }
    return derived.key
  }
  return (request, credentials, nowMs) => {
    const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '')
    const day = time.slice(0, 8)
    const headers: Record<string, string> = {
      ...request.headers,
      host: request.host,
      'x-amz-content-sha256': request.payloadHash,
      'x-amz-date': time,
    }
    if (credentials.sessionToken !== undefined) {
      headers['x-amz-security-token'] = credentials.sessionToken
    }
    const names = Object.keys(headers).sort()
    const signedHeaders = names.join(';')
    const scope = `${day}/${region}/s3/aws4_request`
    const text = canonicalRequest(request, { headers, names, signedHeaders })
    const key = signingKey(credentials.secretAccessKey, day)
    const signature = createHmac('sha256', key)
      .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256Hex(text)}`)
      .digest('hex')
    headers['authorization'] =
      `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`
    return headers
  }
}

/** The parameters encoded and in the order in which they are signed, to be sent like that. */
export function canonicalQuery(parameters: Readonly<Record<string, string>> = {}): string {
  return Object.keys(parameters)
    .sort()
    .map((name) => `${encodeStrictly(name)}=${encodeStrictly(parameters[name] ?? '')}`)
    .join('&')
}

interface CanonicalHeaders {
  readonly headers: Readonly<Record<string, string>>
  readonly names: readonly string[]
  readonly signedHeaders: string
}

function canonicalRequest(
  { method, path, query, payloadHash }: SignableRequest,
  { headers, names, signedHeaders }: CanonicalHeaders,
): string {
  let lines = ''
  for (const name of names) lines += `${name}:${headers[name]}\n`
  return `${method}\n${path}\n${query}\n${lines}\n${signedHeaders}\n${payloadHash}`
}

function deriveKey(secret: string, day: string, region: string): Buffer {
  const hmac = (key: Buffer | string, text: string): Buffer =>
    createHmac('sha256', key).update(text).digest()
  return hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), 's3'), 'aws4_request')
}

import { type ClientRequest, MalformedRequestError, RequestRefusedError } from './access-broker.ts'
import type { OperationName } from './s3-request-operation.ts'
import { EMPTY_PAYLOAD_HASH, sha256Hex } from './s3-signer.ts'

const HEADERS_MAX = 100
const HEADER_CHARACTERS_MAX = 8_192

/** Signed when they are there, beside those of S3. All others may change on the way and stay outside the signature. */
const SIGNED = new Set(['content-md5', 'content-type'])
/** Of S3, and written anew by the signer. */
const REPLACED = new Set(['x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'])
/** What a table's files need. Not among them: ACLs, grants, tags, locks, redirects and the like, which outlive the write. */
const ALLOWED =
  /^x-amz-(checksum-[a-z0-9-]+|sdk-checksum-algorithm|trailer|decoded-content-length|meta-[a-z0-9-]+|storage-class|expected-bucket-owner|source-expected-bucket-owner|request-payer|user-agent|te|metadata-directive|copy-source(-[a-z0-9-]+)?|mp-object-size|server-side-encryption(-[a-z0-9-]+)?)$/

/**
 * Lower-case names with the values as they are signed. Throws MalformedRequestError for a name that comes twice, and for
 * what could end a header.
 */
export function clientHeadersOf(headers: ClientRequest['headers']): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const entries = Object.entries(headers)
  if (entries.length > HEADERS_MAX) {
    throw new MalformedRequestError(`headers: expected at most ${HEADERS_MAX}`)
  }
  for (const [written, values] of entries) {
    const name = written.toLowerCase()
    const value = values.join(',')
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name) || found.has(name)) {
      throw new MalformedRequestError('headers: expected names of headers, each once')
    }
    if (!/^[\x20-\x7e\t]*$/.test(value) || value.length > HEADER_CHARACTERS_MAX) {
      const sentence = `expected at most ${HEADER_CHARACTERS_MAX} printable ASCII characters`
      throw new MalformedRequestError(`headers.${name}: ${sentence}`)
    }
    found.set(name, value.trim().replace(/[ \t]+/g, ' '))
  }
  return found
}

/** The ones that the signature covers. Throws RequestRefusedError for one of S3 that a table's files have no need of. */
export function signedHeadersOf(headers: ReadonlyMap<string, string>): Record<string, string> {
  const signed: Record<string, string> = {}
  for (const [name, value] of headers) {
    if (REPLACED.has(name)) continue
    if (name.startsWith('x-amz-') && !ALLOWED.test(name)) {
      throw new RequestRefusedError(
        `cannot sign the request: the header ${name} is not for clients`,
      )
    }
    if (name.startsWith('x-amz-') || SIGNED.has(name)) signed[name] = value
  }
  return signed
}

/**
 * What the signature says of the body. Of a body that says what is touched: its hash, so that no other body goes with the
 * signature. Else what the client says, or nothing.
 */
export function payloadHashOf(
  operation: OperationName,
  body: string | undefined,
  headers: ReadonlyMap<string, string>,
): string {
  if (operation === 'delete-objects' && body !== undefined) return sha256Hex(body)
  const asked = headers.get('x-amz-content-sha256')
  if (
    asked !== undefined &&
    /^([0-9a-f]{64}|(STREAMING-)?UNSIGNED-PAYLOAD(-TRAILER)?)$/.test(asked)
  ) {
    return asked
  }
  if (asked?.startsWith('STREAMING-') === true) {
    const sentence = 'expected UNSIGNED-PAYLOAD or a hash, found a body signed in pieces'
    throw new MalformedRequestError(`headers.x-amz-content-sha256: ${sentence}`)
  }
  return WITHOUT_BODY.has(operation) ? EMPTY_PAYLOAD_HASH : 'UNSIGNED-PAYLOAD'
}

const WITHOUT_BODY: ReadonlySet<OperationName> = new Set([
  'get-object',
  'head-object',
  'list-objects',
  'list-parts',
  'copy-object',
  'copy-part',
  'create-upload',
  'abort-upload',
  'delete-object',
])

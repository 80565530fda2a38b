import { MalformedRequestError, RequestRefusedError } from './access-broker.ts'
import { encodeStrictly, s3EndpointOf } from './s3-address.ts'
import type { S3Profile } from './storage-profile.ts'

/** What a client's URI names. */
export interface ClientUri {
  /** The Host header that clients send with it: without the port that is usual. */
  readonly host: string
  readonly bucket: string
  /** Decoded; empty for the bucket itself. */
  readonly key: string
  /** The path as it is signed. */
  readonly path: string
  /** Decoded; no name comes twice. */
  readonly parameters: ReadonlyMap<string, string>
}

export const URI_CHARACTERS_MAX = 8_192
const KEY_BYTES_MAX = 1_024
/** More layers of percent signs than any client or server has reason for. */
const DECODINGS_MAX = 5

/** RFC 3986 without user, fragment, empty authority and the characters that parsers disagree on. */
const URI_FORM =
  /^(https?):\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::(\d{1,5}))?(\/[\w\-.~!$&'()*,=:@%/]*)?(?:\?([\w\-.~!$&'()*+,;=:@%/?]*))?$/
const BUCKET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/
const HOST_BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

/**
 * Reads the URI of a request to the profile's store: bucket in the path, or, where the store has names of hosts for buckets
 * (`pathStyle` is off), in the host. One reading is possible or none: what servers are known to resolve, join, split or
 * decode again is refused. Throws MalformedRequestError, and RequestRefusedError for another host.
 */
export function parseClientUri(uri: string, profile: S3Profile): ClientUri {
  if (uri.length > URI_CHARACTERS_MAX) {
    throw new MalformedRequestError(
      `uri: expected at most ${URI_CHARACTERS_MAX} characters, found ${uri.length}`,
    )
  }
  const [, scheme, hostname, port = '', path = '/', query = ''] = URI_FORM.exec(uri) ?? []
  if (scheme === undefined || hostname === undefined) {
    const sentence = 'expected http(s)://host[:port]/path[?query], percent-encoded, without user'
    throw new MalformedRequestError(`uri: ${sentence} and fragment, found another text`)
  }
  const authority = { scheme, hostname: hostname.toLowerCase(), port }
  const hostBucket = bucketOfHost(authority, profile)
  const segments = path.slice(1).split('/').map(decodeSegment)
  const bucket = hostBucket ?? segments.shift() ?? ''
  if (!BUCKET_NAME.test(bucket) || bucket.includes('..')) {
    throw new MalformedRequestError('uri: expected the name of a bucket, found another text')
  }
  const key = segments.join('/')
  checkClientKey(key, 'uri')
  const keyPath = segments.map(encodeStrictly).join('/')
  const hasPath = hostBucket !== undefined || segments.length > 0
  const bucketPath = hostBucket === undefined ? `/${encodeStrictly(bucket)}` : ''
  return {
    host:
      Number(port) === usualPortOf(`${scheme}:`) || port === '' ? hostname : `${hostname}:${port}`,
    bucket,
    key,
    path: hasPath ? `${bucketPath}/${keyPath}` : bucketPath,
    parameters: parametersOf(query),
  }
}

/**
 * Refuses keys that a server could take for another key: `.` and `..` segments, empty ones but for one at the end, back
 * slashes and control characters, also where they appear when percent signs in the key are decoded once more.
 * Throws MalformedRequestError.
 */
export function checkClientKey(key: string, member: string): void {
  if (Buffer.byteLength(key) > KEY_BYTES_MAX) {
    throw new MalformedRequestError(`${member}: expected a key of at most ${KEY_BYTES_MAX} bytes`)
  }
  const segments = key.split('/')
  if (key !== '' && segments.slice(0, -1).includes('')) {
    throw new MalformedRequestError(`${member}: expected a key without empty segments, found //`)
  }
  let text = key
  for (let layer = 0; ; layer += 1) {
    if (/[\u0000-\u001f\u007f\\]/.test(text) || /(^|\/)\.\.?(\/|$)/.test(text)) {
      const sentence = 'expected a key without dot segments, back slashes and control characters'
      throw new MalformedRequestError(`${member}: ${sentence}, also when decoded again`)
    }
    const decoded = decodeLoosely(text)
    if (decoded === text) return
    if (layer === DECODINGS_MAX) {
      throw new MalformedRequestError(`${member}: expected a key that is not encoded many times`)
    }
    text = decoded
  }
}

/** The text of one percent-encoded piece. Throws MalformedRequestError for what is no UTF-8. */
export function decodeStrictly(text: string, member: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new MalformedRequestError(`${member}: expected percent-encoded UTF-8, found other bytes`)
  }
}

interface Authority {
  readonly scheme: string
  readonly hostname: string
  readonly port: string
}

/** The bucket in the host; undefined when it is in the path. */
function bucketOfHost(authority: Authority, profile: S3Profile): string | undefined {
  const endpoint = s3EndpointOf(profile)
  const portOf = (port: string): number =>
    port === '' ? usualPortOf(endpoint.protocol) : Number(port)
  const isSame =
    `${authority.scheme}:` === endpoint.protocol && portOf(authority.port) === portOf(endpoint.port)
  for (const hostname of isSame ? hostnamesOf(profile, endpoint) : []) {
    if (authority.hostname === hostname) return undefined
    if (profile.pathStyle || !authority.hostname.endsWith(`.${hostname}`)) continue
    const bucket = authority.hostname.slice(0, -hostname.length - 1)
    if (HOST_BUCKET.test(bucket)) return bucket
  }
  const style = profile.pathStyle ? ' with the bucket in the path' : ''
  throw new RequestRefusedError(`uri: expected ${endpoint.origin}${style}, found another host`)
}

function usualPortOf(protocol: string): number {
  return protocol === 'https:' ? 443 : 80
}

/** The names under which clients know the store. */
function hostnamesOf({ endpoint, region }: S3Profile, { hostname }: URL): readonly string[] {
  if (endpoint === undefined) {
    const suffix = hostname.slice(`s3.${region}`.length)
    const dualStack = `s3.dualstack.${region}${suffix}`
    const isDefault = region === 'us-east-1'
    return [hostname, dualStack, `s3-${region}${suffix}`, ...(isDefault ? [`s3${suffix}`] : [])]
  }
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname)
  return isLoopback ? [...new Set([hostname, 'localhost', '127.0.0.1', '[::1]'])] : [hostname]
}

function decodeSegment(segment: string): string {
  const text = decodeStrictly(segment, 'uri')
  if (!text.includes('/')) return text
  throw new MalformedRequestError('uri: expected slashes as they are, found an encoded one')
}

/** As a server would that decodes what it has decoded: wrong sequences stay. */
function decodeLoosely(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

function parametersOf(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const piece of query === '' ? [] : query.split('&')) {
    const equals = piece.indexOf('=')
    // A space to some and a plus to others; a separator to some.
    if (/[+;]/.test(piece)) {
      throw new MalformedRequestError('uri: expected + and ; encoded in the query, found them raw')
    }
    const name = decodeStrictly(equals === -1 ? piece : piece.slice(0, equals), 'uri')
    const value = equals === -1 ? '' : decodeStrictly(piece.slice(equals + 1), 'uri')
    if (name === '' || parameters.has(name)) {
      throw new MalformedRequestError('uri: expected each parameter once, with a name')
    }
    parameters.set(name, value)
  }
  return parameters
}

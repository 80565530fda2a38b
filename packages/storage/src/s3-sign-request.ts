import {
  type AccessScope,
  type ClientRequest,
  MalformedRequestError,
  RequestRefusedError,
  type SignedRequest,
} from './access-broker.ts'
import { clientHeadersOf, payloadHashOf, signedHeadersOf } from './s3-client-headers.ts'
import { type ClientUri, parseClientUri } from './s3-client-uri.ts'
import { operationOf, type RequestOperation, type TouchedPlace } from './s3-request-operation.ts'
import { covers, placesOfScope } from './s3-scope.ts'
import { canonicalQuery, type SignableRequest } from './s3-signer.ts'
import type { S3Profile } from './storage-profile.ts'

/** A request that may be signed. */
export interface CheckedRequest {
  readonly operation: RequestOperation
  readonly signable: SignableRequest
}

/**
 * What to sign of a client's request that touches nothing but the scope, with no more than its access.
 * Throws RequestRefusedError and MalformedRequestError.
 */
export function checkClientRequest(
  request: ClientRequest,
  scope: AccessScope,
  profile: S3Profile,
): CheckedRequest {
  const uri = parseClientUri(request.uri, profile)
  const headers = clientHeadersOf(request.headers)
  const operation = operationOf(request, uri, headers)
  checkScope(operation, scope)
  return {
    operation,
    signable: {
      method: request.method,
      host: hostOf(uri, headers),
      path: uri.path,
      query: canonicalQuery(Object.fromEntries(uri.parameters)),
      headers: signedHeadersOf(headers),
      payloadHash: payloadHashOf(operation.name, request.body, headers),
    },
  }
}

/** The answer for the client, with the headers of the signer. */
export function signedRequestOf(
  { uri, method }: ClientRequest,
  headers: Readonly<Record<string, string>>,
): SignedRequest {
  return {
    uri,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    isReusable: method === 'GET' || method === 'HEAD',
  }
}

/** The Host header as it will be sent, which may have a port that is usual. Throws MalformedRequestError for another host. */
function hostOf(uri: ClientUri, headers: ReadonlyMap<string, string>): string {
  const asked = headers.get('host') ?? uri.host
  const bare = (text: string): string => text.toLowerCase().replace(/:(80|443)$/, '')
  if (bare(asked) === bare(uri.host)) return asked
  throw new MalformedRequestError('headers.host: expected the host of the uri, found another one')
}

function checkScope(operation: RequestOperation, scope: AccessScope): void {
  const { name, reads, writes, hiddenIn } = operation
  const isChange = writes.length > 0 || hiddenIn !== undefined
  if (isChange && scope.access !== 'write') {
    throw new RequestRefusedError(`cannot sign ${name}: expected a request that only reads`)
  }
  const places = placesOfScope(scope).filter(({ folder }) => folder !== '')
  const isOutside = ({ bucket, key }: TouchedPlace): boolean =>
    !places.some((place) => covers(place, bucket, key))
  const isElsewhere = hiddenIn !== undefined && !places.some(({ bucket }) => bucket === hiddenIn)
  if (!isElsewhere && ![...reads, ...writes].some(isOutside)) return
  throw new RequestRefusedError(`cannot sign ${name}: it reaches outside the table's own places`)
}

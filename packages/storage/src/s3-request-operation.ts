import { type ClientRequest, MalformedRequestError, RequestRefusedError } from './access-broker.ts'
import { checkClientKey, type ClientUri, decodeStrictly } from './s3-client-uri.ts'
import { keysOfDeleteBody } from './s3-delete-body.ts'

/** What a request does, by everything it names. */
export interface RequestOperation {
  readonly name: OperationName
  /** Places that are read: objects, or the texts that lists begin with. */
  readonly reads: readonly TouchedPlace[]
  readonly writes: readonly TouchedPlace[]
  /**
   * The bucket of a change whose objects are named in a body that the client does not show: only a session of the scope may
   * sign it, for then the store looks.
   */
  readonly hiddenIn?: string
}

export interface TouchedPlace {
  readonly bucket: string
  readonly key: string
}

export type OperationName =
  | 'get-object'
  | 'head-object'
  | 'list-objects'
  | 'list-parts'
  | 'put-object'
  | 'copy-object'
  | 'create-upload'
  | 'put-part'
  | 'copy-part'
  | 'complete-upload'
  | 'abort-upload'
  | 'delete-object'
  | 'delete-objects'

interface Form {
  readonly name: OperationName
  readonly method: string
  readonly of: 'object' | 'bucket'
  /** Parameters that must be there. */
  readonly needs: readonly string[]
  readonly takes: readonly string[]
}

/** All that is ever signed. What is absent, such as `?acl`, `?policy`, `?versions` or a presigned URL, is refused. */
const FORMS: readonly Form[] = [
  form('get-object', 'GET object', [], ['partNumber']),
  form('head-object', 'HEAD object', [], ['partNumber']),
  form('list-parts', 'GET object', ['uploadId'], ['max-parts', 'part-number-marker']),
  form('put-object', 'PUT object', []),
  form('put-part', 'PUT object', ['partNumber', 'uploadId']),
  form('create-upload', 'POST object', ['uploads']),
  form('complete-upload', 'POST object', ['uploadId']),
  form('delete-object', 'DELETE object', []),
  form('abort-upload', 'DELETE object', ['uploadId']),
  form(
    'list-objects',
    'GET bucket',
    ['prefix'],
    [
      'list-type',
      'delimiter',
      'max-keys',
      'encoding-type',
      'continuation-token',
      'start-after',
      'marker',
      'fetch-owner',
    ],
  ),
  form('delete-objects', 'POST bucket', ['delete']),
]

/** Added by SDKs for the reader of a log; means nothing. */
const LOG_PARAMETER = 'x-id'
const COPY_SOURCE = 'x-amz-copy-source'

/**
 * The operation that a request asks for, by method, path, parameters, copy source and body. Throws RequestRefusedError for
 * one that clients of a table have no need of, and MalformedRequestError.
 */
export function operationOf(
  request: Pick<ClientRequest, 'method' | 'body'>,
  uri: ClientUri,
  headers: ReadonlyMap<string, string>,
): RequestOperation {
  const found = FORMS.find((candidate) => isForm(candidate, request.method, uri))
  const copySource = headers.get(COPY_SOURCE)
  if (found === undefined) {
    throw new RequestRefusedError(
      'cannot sign the request: expected to read, write, list, copy or delete objects, found another operation',
    )
  }
  const { bucket, key } = uri
  const place = { bucket, key }
  const isCopy = copySource !== undefined
  if (isCopy && found.name !== 'put-object' && found.name !== 'put-part') {
    throw new MalformedRequestError(`${COPY_SOURCE}: expected only with PUT`)
  }
  switch (found.name) {
    case 'get-object':
    case 'head-object':
      return { name: found.name, reads: [place], writes: [] }
    case 'list-objects':
      return { name: found.name, reads: listedPlaces(uri), writes: [] }
    case 'put-object':
    case 'put-part': {
      if (!isCopy) return { name: found.name, reads: [], writes: [place] }
      const name = found.name === 'put-object' ? 'copy-object' : 'copy-part'
      return { name, reads: [placeOfCopySource(copySource)], writes: [place] }
    }
    case 'delete-objects':
      return request.body === undefined
        ? { name: found.name, reads: [], writes: [], hiddenIn: bucket }
        : { name: found.name, reads: [], writes: deletedPlaces(request.body, bucket) }
    default:
      return { name: found.name, reads: [], writes: [place] }
  }
}

function form(
  name: OperationName,
  target: `${string} ${'object' | 'bucket'}`,
  ...[needs = [], takes = []]: readonly (readonly string[])[]
): Form {
  const [method = '', of] = target.split(' ')
  return { name, method, of: of === 'bucket' ? 'bucket' : 'object', needs, takes }
}

function isForm({ method, of, needs, takes }: Form, asked: string, uri: ClientUri): boolean {
  const { key, parameters } = uri
  if (method !== asked || (of === 'object') !== (key !== '')) return false
  const isKnown = (name: string): boolean =>
    needs.includes(name) || takes.includes(name) || name === LOG_PARAMETER
  return needs.every((name) => parameters.has(name)) && [...parameters.keys()].every(isKnown)
}

/** What a list begins with, and where it goes on: both must be in the scope. */
function listedPlaces({ bucket, parameters }: ClientUri): readonly TouchedPlace[] {
  const texts = ['prefix', 'start-after', 'marker'].map((name) => parameters.get(name))
  return texts.flatMap((text, index) => {
    if (text === undefined || (text === '' && index > 0)) return []
    checkClientKey(text, 'uri')
    return [{ bucket, key: text }]
  })
}

function deletedPlaces(body: string, bucket: string): readonly TouchedPlace[] {
  return keysOfDeleteBody(body).map((key) => {
    checkClientKey(key, 'body')
    return { bucket, key }
  })
}

/** Of `[/]bucket/key`, percent-encoded, commas too: headers sent twice are signed as one with a comma. */
function placeOfCopySource(source: string): TouchedPlace {
  const [, bucket, path] =
    /^\/?([A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9])\/([\w\-.~!$&'()*=:@%/]+)$/.exec(source) ?? []
  if (bucket === undefined || path === undefined || bucket.includes('..')) {
    const sentence = 'expected bucket/key, percent-encoded, without version'
    throw new MalformedRequestError(`${COPY_SOURCE}: ${sentence}, found another text`)
  }
  const segments = path.split('/').map((segment) => decodeStrictly(segment, COPY_SOURCE))
  if (segments.some((segment) => segment.includes('/'))) {
    const sentence = 'expected slashes as they are, found an encoded one'
    throw new MalformedRequestError(`${COPY_SOURCE}: ${sentence}`)
  }
  const key = segments.join('/')
  checkClientKey(key, COPY_SOURCE)
  return { bucket, key }
}

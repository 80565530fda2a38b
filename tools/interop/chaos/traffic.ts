/** What an S3 request does, as far as rules and counts tell requests apart. */
export type RequestKind =
  | 'get'
  | 'head'
  | 'list'
  | 'put'
  | 'copy'
  | 'create-multipart'
  | 'part'
  | 'complete'
  | 'abort'
  | 'delete'
  | 'batch-delete'
  | 'other'

/** Which of Iceberg's files the key names; `none` for a request without a key. */
export type FileKind =
  'metadata' | 'manifest-list' | 'manifest' | 'data' | 'statistics' | 'other' | 'none'

export interface Traffic {
  readonly kind: RequestKind
  readonly file: FileKind
}

export interface RequestHead {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly isCopy: boolean
}

/** The kind of a path-style S3 request and of the file it names. */
export function classifyRequest({ method, target, isCopy }: RequestHead): Traffic {
  const [path = '', query = ''] = target.split('?', 2)
  const parameters = new URLSearchParams(query)
  const key = path.split('/').slice(2).join('/')
  if (key === '') return { kind: kindOfBucketRequest(method, parameters), file: 'none' }
  return { kind: kindOfKeyRequest(method, parameters, isCopy), file: fileKindOf(key) }
}

function kindOfBucketRequest(method: string, parameters: URLSearchParams): RequestKind {
  if (method === 'POST' && parameters.has('delete')) return 'batch-delete'
  const isList = method === 'GET' && (parameters.has('list-type') || parameters.has('prefix'))
  return isList ? 'list' : 'other'
}

function kindOfKeyRequest(
  method: string,
  parameters: URLSearchParams,
  isCopy: boolean,
): RequestKind {
  const isUpload = parameters.has('uploadId')
  switch (method) {
    case 'GET':
      return isUpload ? 'other' : 'get'
    case 'HEAD':
      return 'head'
    case 'PUT':
      return isUpload ? 'part' : isCopy ? 'copy' : 'put'
    case 'POST':
      return parameters.has('uploads') ? 'create-multipart' : isUpload ? 'complete' : 'other'
    case 'DELETE':
      return isUpload ? 'abort' : 'delete'
    default:
      return 'other'
  }
}

function fileKindOf(key: string): FileKind {
  const name = key.split('/').at(-1) ?? ''
  if (/\.metadata\.json(\.gz)?$|\.gz\.metadata\.json$/.test(name)) return 'metadata'
  if (/^snap-.*\.avro$/.test(name)) return 'manifest-list'
  if (name.endsWith('.avro')) return 'manifest'
  if (name.endsWith('.parquet')) return 'data'
  return /\.(puffin|stats)$/.test(name) ? 'statistics' : 'other'
}

/*
 * What the S3 double does with a request whose signature is right: objects in memory, answers as S3 gives them. Each
 * request is applied in one go, so of two writers of one name one is first.
 */
import { createHash, randomUUID } from 'node:crypto'

export type S3Operation =
  | 'get'
  | 'head'
  | 'put'
  | 'delete'
  | 'list'
  | 'delete-batch'
  | 'create-upload'
  | 'upload-part'
  | 'complete-upload'
  | 'abort-upload'
  | 'assume-role'
  | 'other'

export interface DoubleRequest {
  readonly operation: S3Operation
  readonly bucket: string
  readonly key: string
  readonly query: URLSearchParams
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

export interface DoubleAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** What other vendors do differently. */
export interface DoubleTraits {
  /** `refused`: 501 for conditions; `ignored`: as if they were not there. Default: honoured. */
  readonly conditions?: 'honoured' | 'ignored' | 'refused'
  /** 501 for DeleteObjects, or an error for each key in it. */
  readonly batches?: 'honoured' | 'refused' | 'refused-per-key'
  /** Whole objects where a part was asked for. */
  readonly ignoresRanges?: boolean
  /** Keys of one page of a list; default 1,000. */
  readonly pageKeysMax?: number
  /** Length that every part but the last must have; default 5 MiB. */
  readonly partBytesMin?: number
}

interface StoredObject {
  readonly bytes: Buffer
  readonly etag: string
  readonly lastModified: Date
}

interface StoredUpload {
  readonly key: string
  readonly parts: Map<number, StoredObject>
}

const PART_BYTES_MIN = 5_242_880

/** One bucket. */
export class DoubleObjects {
  readonly objects = new Map<string, StoredObject>()
  readonly uploads = new Map<string, StoredUpload>()
  readonly #traits: DoubleTraits

  constructor(traits: DoubleTraits) {
    this.#traits = traits
  }

  answer(request: DoubleRequest): DoubleAnswer {
    switch (request.operation) {
      case 'get':
      case 'head':
        return this.#get(request)
      case 'put':
        return this.#put(request)
      case 'delete':
        this.objects.delete(request.key)
        return { status: 204 }
      case 'list':
        return this.#list(request)
      case 'delete-batch':
        return this.#deleteBatch(request)
      case 'create-upload':
        return this.#createUpload(request)
      case 'upload-part':
        return this.#uploadPart(request)
      case 'complete-upload':
        return this.#completeUpload(request)
      case 'abort-upload':
        return this.uploads.delete(request.query.get('uploadId') ?? '')
          ? { status: 204 }
          : failure(404, 'NoSuchUpload')
      case 'assume-role':
      case 'other':
        return failure(501, 'NotImplemented')
    }
  }

  #get({ key, headers }: DoubleRequest): DoubleAnswer {
    const found = this.objects.get(key)
    if (found === undefined) return failure(404, 'NoSuchKey')
    const { bytes, etag, lastModified } = found
    const common = { etag, 'last-modified': lastModified.toUTCString(), 'accept-ranges': 'bytes' }
    const range = /^bytes=(\d*)-(\d*)$/.exec(String(headers['range'] ?? ''))
    if (range === null || this.#traits.ignoresRanges === true) {
      return { status: 200, headers: common, body: bytes }
    }
    const [, first = '', last = ''] = range
    const start = first === '' ? Math.max(0, bytes.length - Number(last)) : Number(first)
    const end =
      first === '' || last === '' ? bytes.length : Math.min(Number(last) + 1, bytes.length)
    if (start >= end) return failure(416, 'InvalidRange')
    const contentRange = `bytes ${start}-${end - 1}/${bytes.length}`
    return {
      status: 206,
      headers: { ...common, 'content-range': contentRange },
      body: bytes.subarray(start, end),
    }
  }

  #put({ key, headers, body }: DoubleRequest): DoubleAnswer {
    const refusal = this.#conditionRefusal(key, headers)
    if (refusal !== undefined) return refusal
    const { etag } = this.setObject(key, body)
    return { status: 200, headers: { etag } }
  }

  setObject(key: string, bytes: Buffer): StoredObject {
    const object = { bytes, etag: md5(bytes), lastModified: new Date() }
    this.objects.set(key, object)
    return object
  }

  #conditionRefusal(key: string, headers: DoubleRequest['headers']): DoubleAnswer | undefined {
    const { conditions = 'honoured' } = this.#traits
    if (headers['if-none-match'] !== '*' || conditions === 'ignored') return undefined
    if (conditions === 'refused') return failure(501, 'NotImplemented')
    return this.objects.has(key) ? failure(412, 'PreconditionFailed') : undefined
  }

  #list({ query }: DoubleRequest): DoubleAnswer {
    const prefix = query.get('prefix') ?? ''
    const pageMax = Math.min(
      Number(query.get('max-keys') ?? 1000),
      this.#traits.pageKeysMax ?? 1000,
    )
    const after = Buffer.from(query.get('continuation-token') ?? '', 'base64url').toString()
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
    const rest = after === '' ? keys : keys.slice(keys.indexOf(after) + 1)
    const page = rest.slice(0, pageMax)
    const isTruncated = rest.length > page.length
    const token = Buffer.from(page.at(-1) ?? '').toString('base64url')
    const contents = page.map((key) => this.#listEntry(key)).join('')
    const next = isTruncated ? `<NextContinuationToken>${token}</NextContinuationToken>` : ''
    return xml(
      'ListBucketResult',
      `<IsTruncated>${isTruncated}</IsTruncated>${next}<KeyCount>${page.length}</KeyCount>${contents}`,
    )
  }

  #listEntry(key: string): string {
    const found = this.objects.get(key)
    if (found === undefined) return ''
    const { bytes, etag, lastModified } = found
    // S3 tells times of lists to the millisecond and times of objects to the second; this tells seconds in both.
    const time = `${lastModified.toISOString().slice(0, 19)}.000Z`
    return `<Contents><Key>${escape(key)}</Key><LastModified>${time}</LastModified><ETag>${escape(etag)}</ETag><Size>${bytes.length}</Size></Contents>`
  }

  #deleteBatch({ body }: DoubleRequest): DoubleAnswer {
    const { batches = 'honoured' } = this.#traits
    if (batches === 'refused') return failure(501, 'NotImplemented')
    const keys = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map((match) =>
      unescape(match[1] ?? ''),
    )
    if (keys.length > 1000) return failure(400, 'MalformedXML')
    const results = keys.map((key) => {
      if (batches === 'refused-per-key') {
        return `<Error><Key>${escape(key)}</Key><Code>AccessDenied</Code></Error>`
      }
      this.objects.delete(key)
      return `<Deleted><Key>${escape(key)}</Key></Deleted>`
    })
    return xml('DeleteResult', results.join(''))
  }

  #createUpload({ key }: DoubleRequest): DoubleAnswer {
    const id = randomUUID()
    this.uploads.set(id, { key, parts: new Map() })
    return xml('InitiateMultipartUploadResult', `<UploadId>${id}</UploadId>`)
  }

  #uploadPart({ query, body }: DoubleRequest): DoubleAnswer {
    const upload = this.uploads.get(query.get('uploadId') ?? '')
    if (upload === undefined) return failure(404, 'NoSuchUpload')
    const part = { bytes: body, etag: md5(body), lastModified: new Date() }
    upload.parts.set(Number(query.get('partNumber')), part)
    return { status: 200, headers: { etag: part.etag } }
  }

  #completeUpload({ key, query, headers, body }: DoubleRequest): DoubleAnswer {
    const id = query.get('uploadId') ?? ''
    const upload = this.uploads.get(id)
    if (upload === undefined || upload.key !== key) return failure(404, 'NoSuchUpload')
    const refusal = this.#conditionRefusal(key, headers)
    if (refusal !== undefined) return refusal
    const numbers = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map((match) =>
      Number(match[1]),
    )
    const etags = [...body.toString().matchAll(/<ETag>([^<]*)<\/ETag>/g)].map((match) =>
      unescape(match[1] ?? ''),
    )
    const parts = numbers.map((number) => upload.parts.get(number))
    const isInvalid = parts.some((part, index) => part === undefined || part.etag !== etags[index])
    if (isInvalid || numbers.length === 0) return failure(400, 'InvalidPart')
    const { partBytesMin = PART_BYTES_MIN } = this.#traits
    const stored = parts.filter((part) => part !== undefined)
    if (stored.slice(0, -1).some(({ bytes }) => bytes.length < partBytesMin)) {
      return failure(400, 'EntityTooSmall')
    }
    const bytes = Buffer.concat(stored.map((part) => part.bytes))
    const etag = `${md5(bytes).slice(0, -1)}-${stored.length}"`
    this.objects.set(key, { bytes, etag, lastModified: new Date() })
    this.uploads.delete(id)
    return xml('CompleteMultipartUploadResult', `<ETag>${escape(etag)}</ETag>`)
  }
}

/** An error as S3 writes it, with a text that nobody should repeat. */
export function failure(status: number, code: string): DoubleAnswer {
  const message = '<Message>refused</Message><StringToSign>a secret of the request</StringToSign>'
  const body = Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code>${message}</Error>`,
  )
  return { status, headers: { 'content-type': 'application/xml' }, body }
}

/** A document as S3 writes it. */
export function xml(root: string, content: string): DoubleAnswer {
  const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/'
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${namespace}">${content}</${root}>`
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(body) }
}

function md5(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`
}

function escape(text: string): string {
  return text.replace(/[&<>"'\u0000-\u001f]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function unescape(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (_, decimal, hex, name) =>
    name !== undefined
      ? (named[name] ?? '')
      : String.fromCodePoint(decimal === undefined ? parseInt(hex, 16) : Number(decimal)),
  )
}

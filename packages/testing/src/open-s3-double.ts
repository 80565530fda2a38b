import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type DoubleAnswer,
  DoubleObjects,
  type DoubleRequest,
  type DoubleTraits,
  failure,
  type S3Operation,
  xml,
} from './s3-double-objects.ts'
import { refusalOf, type SigningKeys } from './s3-double-signature.ts'

/**
 * `status`: answered without doing it; `status-after`: done, then answered so. `drop-request`: cut before it is done;
 * `drop-response`: done, then cut. `hang`: never answered; `hang-after`: done, never answered. `truncate`: half of the
 * answer's body, then cut. `delay`: waits, then goes on.
 */
export type FaultKind =
  | 'status'
  | 'status-after'
  | 'drop-request'
  | 'drop-response'
  | 'hang'
  | 'hang-after'
  | 'truncate'
  | 'delay'

export interface Fault {
  readonly kind: FaultKind
  readonly match?: { readonly operation?: S3Operation; readonly key?: RegExp }
  /** How often; default for ever. */
  readonly times?: number
  /** Requests that match and pass first. */
  readonly skip?: number
  /** Of `status` and `status-after`; default 503. */
  readonly status?: number
  /** Of `status` and `status-after`; default SlowDown. Empty: an answer that is not S3's. */
  readonly code?: string
  /** Of `delay`. */
  readonly delayMs?: number
  /** Called when a request is hit, before anything happens to it: what others did just then. */
  readonly onHit?: () => void
}

export interface SeenRequest {
  readonly operation: S3Operation
  readonly bucket: string
  readonly key: string
  /** What was sent back; undefined when nothing was. */
  readonly status: number | undefined
}

export interface S3Double {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** A role that may be assumed with the keys, at the same endpoint. */
  readonly roleArn: string
  /** Every request since the start or the last `forgetRequests`. */
  requests(): readonly SeenRequest[]
  forgetRequests(): void
  /** The contents by key, as a test that looks behind the protocol sees them. */
  objects(): ReadonlyMap<string, Buffer>
  /** Puts an object there, past the protocol. */
  setObject(key: string, bytes: Buffer): void
  /** Keys of uploads that were neither completed nor dropped. */
  openUploads(): readonly string[]
  /** The next requests that match go wrong; replaces the fault before. Undefined: nothing goes wrong. */
  setFault(fault: Fault | undefined): void
  /** Sessions of the role that were handed out end now. */
  endSessions(): void
  close(): Promise<void>
}

interface ActiveFault {
  readonly fault: Fault
  seenCount: number
  hitCount: number
}

const BUCKET = 'lake'
const REGION = 'us-east-1'
const SESSION_MS = 3_600_000

/**
 * An S3 server in this process: one bucket in memory, signatures and payload hashes checked, conditional writes,
 * ranges, lists in pages, batches, uploads in parts, AssumeRole. Faults make it lose requests and answers on demand.
 */
export async function openS3Double(traits: DoubleTraits = {}): Promise<S3Double> {
  const double = new Double(traits)
  const server = createServer((request, response) => {
    void double.serve(request, response)
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // `as`: a server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: BUCKET,
    region: REGION,
    accessKeyId: double.accessKeyId,
    secretAccessKey: double.secretAccessKey,
    roleArn: 'arn:aws:iam::000000000000:role/lake',
    requests: () => double.seen,
    forgetRequests: () => void double.seen.splice(0),
    objects: () =>
      new Map([...double.objects.objects].map(([key, { bytes }]) => [key, bytes] as const)),
    setObject: (key, bytes) => double.objects.setObject(key, bytes),
    openUploads: () => [...double.objects.uploads.values()].map(({ key }) => key),
    setFault: (fault) => double.setFault(fault),
    endSessions: () => double.endSessions(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

class Double {
  readonly accessKeyId = 'AKIADOUBLE'
  readonly secretAccessKey = randomUUID()
  readonly objects: DoubleObjects
  readonly seen: SeenRequest[] = []
  readonly #keys = new Map<string, SigningKeys>()
  #active: ActiveFault | undefined

  constructor(traits: DoubleTraits) {
    this.objects = new DoubleObjects(traits)
    this.#keys.set(this.accessKeyId, { secretAccessKey: this.secretAccessKey })
  }

  setFault(fault: Fault | undefined): void {
    this.#active = fault && { fault, seenCount: 0, hitCount: 0 }
  }

  endSessions(): void {
    for (const [id, keys] of this.#keys) {
      if (keys.sessionToken !== undefined) this.#keys.set(id, { ...keys, expiresAtMs: 0 })
    }
  }

  async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming)
    if (request === undefined) return
    const { operation, bucket, key } = request
    const fault = this.#faultFor(request)
    const note = (status: number | undefined) => this.seen.push({ operation, bucket, key, status })
    const cut = (): void => {
      note(undefined)
      incoming.socket.destroy()
    }
    const injected = failure(fault?.status ?? 503, fault?.code ?? 'SlowDown')
    if (fault?.kind === 'drop-request') return cut()
    if (fault?.kind === 'hang') return void note(undefined)
    if (fault?.kind === 'status') return send(request, { response, note, answer: injected })
    if (fault?.kind === 'delay') {
      await new Promise((resolve) => setTimeout(resolve, fault.delayMs ?? 50))
    }
    const answer = this.#answer(incoming, request)
    // An answer without a body can only be cut as a whole.
    const isBare = operation === 'head' || answer.status === 204
    if (fault?.kind === 'drop-response' || (fault?.kind === 'truncate' && isBare)) return cut()
    if (fault?.kind === 'hang-after') return void note(undefined)
    if (fault?.kind === 'truncate') return truncate(answer, response, cut)
    const shown = fault?.kind === 'status-after' ? injected : answer
    send(request, { response, note, answer: shown })
  }

  #faultFor({ operation, key }: DoubleRequest): Fault | undefined {
    const active = this.#active
    if (active === undefined) return undefined
    const { match, times = Infinity, skip = 0 } = active.fault
    const isMeant = (match?.operation ?? operation) === operation && (match?.key?.test(key) ?? true)
    if (!isMeant || active.hitCount >= times) return undefined
    active.seenCount += 1
    if (active.seenCount <= skip) return undefined
    active.hitCount += 1
    active.fault.onHit?.()
    return active.fault
  }

  #answer(incoming: IncomingMessage, request: DoubleRequest): DoubleAnswer {
    const { method = '', url: target = '', headers } = incoming
    const refusal = refusalOf(
      { method, target, headers, body: request.body },
      { region: REGION, nowMs: Date.now(), keysOf: (id) => this.#keys.get(id) },
    )
    if (refusal !== undefined) return failure(refusal.status, refusal.code)
    if (request.operation === 'assume-role') return this.#assumeRole()
    return request.bucket === BUCKET ? this.objects.answer(request) : failure(404, 'NoSuchBucket')
  }

  #assumeRole(): DoubleAnswer {
    const id = `ASIA${randomUUID()}`
    const expiresAtMs = Date.now() + SESSION_MS
    const keys = { secretAccessKey: randomUUID(), sessionToken: randomUUID(), expiresAtMs }
    this.#keys.set(id, keys)
    const time = new Date(expiresAtMs).toISOString()
    const members = `<AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${keys.secretAccessKey}</SecretAccessKey><SessionToken>${keys.sessionToken}</SessionToken><Expiration>${time}</Expiration>`
    return xml(
      'AssumeRoleResponse',
      `<AssumeRoleResult><Credentials>${members}</Credentials></AssumeRoleResult>`,
    )
  }
}

interface Sending {
  readonly response: ServerResponse
  readonly answer: DoubleAnswer
  readonly note: (status: number) => void
}

function send({ operation }: DoubleRequest, { response, answer, note }: Sending): void {
  const { status, headers, body = Buffer.alloc(0) } = answer
  note(status)
  const withBody = status !== 204
  response.writeHead(status, {
    ...headers,
    ...(withBody ? { 'content-length': String(body.length) } : {}),
  })
  response.end(operation === 'head' || !withBody ? undefined : body)
}

function truncate(
  { status, headers, body }: DoubleAnswer,
  response: ServerResponse,
  cut: () => void,
): void {
  const bytes = body ?? Buffer.alloc(0)
  const promised = Math.max(bytes.length, 1)
  response.writeHead(status, { ...headers, 'content-length': String(promised) })
  response.flushHeaders()
  response.write(bytes.subarray(0, Math.floor(promised / 2)), cut)
}

async function readRequest(incoming: IncomingMessage): Promise<DoubleRequest | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of incoming) chunks.push(chunk)
  } catch {
    // The client left in the middle of its request.
    return undefined
  }
  const [path = '', queryText = ''] = (incoming.url ?? '').split('?')
  const [bucket = '', ...segments] = path.slice(1).split('/').map(decodeURIComponent)
  const query = new URLSearchParams(queryText)
  const key = segments.join('/')
  const operation = operationOf(incoming.method ?? '', { bucket, key, query })
  return { operation, bucket, key, query, headers: incoming.headers, body: Buffer.concat(chunks) }
}

function operationOf(
  method: string,
  { bucket, key, query }: { bucket: string; key: string; query: URLSearchParams },
): S3Operation {
  if (bucket === '') return method === 'POST' ? 'assume-role' : 'other'
  const isUpload = query.has('uploadId')
  if (key === '') {
    if (method === 'POST' && query.has('delete')) return 'delete-batch'
    return method === 'GET' && query.get('list-type') === '2' ? 'list' : 'other'
  }
  switch (method) {
    case 'GET':
      return 'get'
    case 'HEAD':
      return 'head'
    case 'PUT':
      return isUpload ? 'upload-part' : 'put'
    case 'DELETE':
      return isUpload ? 'abort-upload' : 'delete'
    case 'POST':
      if (query.has('uploads')) return 'create-upload'
      return isUpload ? 'complete-upload' : 'other'
    default:
      return 'other'
  }
}

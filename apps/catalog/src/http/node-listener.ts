import { Buffer } from 'node:buffer'
import { once, setMaxListeners } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import type { Dispatch } from './dispatch.ts'
import { errorAnswer } from './error-response.ts'
import {
  type BodyStream,
  type Connection,
  type HttpAnswer,
  type HttpRequest,
  isBodyPieces,
  isBodyStream,
} from './exchange.ts'
import type { Guard } from './guard.ts'
import { readRequestBody } from './request-body.ts'
import { RequestAbortedError } from './request-errors.ts'
import type { Observe } from './observe.ts'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { lengthOf } from '@timelake/storage/object-bytes'

/** Longer than the keep-alive of usual proxies and clients, so that it is they who close idle connections. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000
const HEADERS_TIMEOUT_MS = 66_000
const REQUEST_TIMEOUT_MS = 300_000
const CLOSE_IDLE_EVERY_MS = 50

export interface NodeListener {
  readonly server: Server
  /** Stops accepting, waits for running requests at most this long, then cuts the connections that are left. */
  close(timeoutMs: number): Promise<void>
}

/** Serves the catalog over HTTP/1.1. Call `server.listen`. */
export function makeNodeListener(
  dispatch: Dispatch,
  options: { readonly guard: Guard; readonly observe: Observe },
): NodeListener {
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS, noDelay: true },
    (incoming, outgoing) => void serve(incoming, outgoing),
  )
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.on('clientError', answerMalformed)
  return { server, close: (timeoutMs) => close(server, timeoutMs) }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const finish = options.observe()
    const request = requestOf(incoming, outgoing)
    const answered = await dispatch(request, options.guard)
    await send(incoming, outgoing, answered.answer)
    finish(request, answered)
  }
}

function requestOf(incoming: IncomingMessage, outgoing: ServerResponse): HttpRequest {
  const { headers } = incoming
  let signal: AbortSignal | undefined
  return {
    method: incoming.method ?? 'GET',
    target: incoming.url ?? '/',
    header(name) {
      const value = headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    readBody: (bytesMax) => readIncoming(incoming, bytesMax),
    connection: connectionOf(incoming.socket),
    aborted: () => (signal ??= abortSignal(outgoing)),
  }
}

const connections = new WeakMap<Socket, Connection>()
let connectionCount = 0

function connectionOf(socket: Socket): Connection {
  const known = connections.get(socket)
  if (known !== undefined) return known
  connectionCount += 1
  const closing = new AbortController()
  // Each contended table that the caller writes to listens.
  setMaxListeners(0, closing.signal)
  const connection = {
    id: String(connectionCount),
    remoteAddress: socket.remoteAddress ?? '',
    closed: closing.signal,
  }
  connections.set(socket, connection)
  if (socket.destroyed) closing.abort()
  socket.once('close', () => closing.abort())
  return connection
}

function abortSignal(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (outgoing.destroyed && !outgoing.writableFinished) controller.abort()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) controller.abort()
  })
  return controller.signal
}

async function readIncoming(incoming: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const contentLength = incoming.headers['content-length']
  const contentEncoding = incoming.headers['content-encoding']
  // A refused body must leave the connection whole, or the client sees a reset instead of the answer.
  const chunks = incoming.iterator({ destroyOnReturn: false })
  try {
    return await readRequestBody(chunks, { contentLength, contentEncoding }, bytesMax)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ECONNRESET') throw cause
    throw new RequestAbortedError('the client closed the connection', { cause })
  }
}

async function send(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: HttpAnswer,
): Promise<void> {
  const { status, headers, body } = answer
  // What was not read would be taken for the next request.
  if (!incoming.complete) incoming.resume()
  if (body === undefined || incoming.method === 'HEAD') {
    outgoing.writeHead(status, withoutContent(headers))
    outgoing.end()
    return
  }
  if (isBodyStream(body)) {
    outgoing.writeHead(status, headers)
    outgoing.flushHeaders()
    await sendPieces(outgoing, body)
    return
  }
  if (isBodyPieces(body)) {
    outgoing.writeHead(status, { ...headers, 'content-length': lengthOf(body) })
    // Ending lets go of the cork: one call to the system takes all of them.
    outgoing.cork()
    for (const piece of body) outgoing.write(piece)
    outgoing.end()
    return
  }
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  outgoing.writeHead(status, { ...headers, 'content-length': length })
  outgoing.end(body)
}

async function sendPieces(outgoing: ServerResponse, { pieces }: BodyStream): Promise<void> {
  const gone = once(outgoing, 'close')
  try {
    for await (const piece of pieces) {
      if (outgoing.destroyed) break
      if (!outgoing.write(piece)) await Promise.race([once(outgoing, 'drain'), gone])
    }
    outgoing.end()
  } catch {
    // The head is out, so a cut connection is the only way to say that this is not the end.
    outgoing.destroy()
  }
}

function withoutContent(headers: HttpAnswer['headers']): Record<string, string> {
  const { 'content-type': _type, ...rest } = headers
  return rest
}

/** What Node could not parse never becomes a request; the answer is written by hand, in the usual envelope. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const answer = errorAnswer(new InvalidInputError(`malformed HTTP request: ${error.code ?? ''}`))
  const body = String(answer.body)
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

async function close(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // close() alone waits for keep-alive connections whose last request has just ended.
  const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
  const cut = setTimeout(() => server.closeAllConnections(), timeoutMs)
  server.closeIdleConnections()
  await closed
  clearInterval(idle)
  clearTimeout(cut)
}

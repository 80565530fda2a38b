/*
 * One HTTP request and its answer, over kept connections. Knows nothing of S3 but that bodies are bytes with a length.
 * Every phase has a time limit that ends the call, so nothing waits for ever for a silent store.
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { S3Address } from './s3-address.ts'
import type { S3Timeouts } from './s3-timeouts.ts'

export interface HttpRequest {
  readonly method: string
  readonly address: S3Address
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  readonly signal?: AbortSignal | undefined
  /** Sees status and headers before the body is read; throws to refuse the body. */
  readonly checkHead?: ((head: HttpHead) => void) | undefined
}

export interface HttpHead {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

export interface HttpAnswer extends HttpHead {
  readonly body: Buffer
}

/** No whole answer came. The store may have done what was asked, or not. `cause`: the error of the connection. */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError'
}

export interface HttpConnections {
  /** Errors: ExchangeError; what `checkHead` threw; the reason of the signal. */
  exchange(request: HttpRequest): Promise<HttpAnswer>
  /** Connections that are in use end with their call. */
  close(): void
}

/** Calls that are sent at the same time; further ones wait for a connection. */
const CONNECTIONS_MAX = 64
/** Below what servers keep an unused connection for, so that a request seldom meets one that is being closed. */
const UNUSED_CONNECTION_MS = 4_000
const SEND_PIECE_BYTES = 262_144
/** What is read of the body of an error. */
const ERROR_BODY_BYTES_MAX = 65_536

/** Kept connections to one store. */
export function openHttpConnections(isSecure: boolean, timeouts: S3Timeouts): HttpConnections {
  const options = {
    keepAlive: true,
    maxSockets: CONNECTIONS_MAX,
    scheduling: 'lifo',
    timeout: UNUSED_CONNECTION_MS,
  } as const
  const agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options)
  return {
    exchange: (request) => exchange(agent, request, timeouts),
    close() {
      agent.maxFreeSockets = 0
      for (const sockets of Object.values(agent.freeSockets)) {
        for (const socket of sockets ?? []) socket.destroy()
      }
    },
  }
}

function exchange(
  agent: HttpAgent | HttpsAgent,
  { method, address, headers, body, signal, checkHead }: HttpRequest,
  timeouts: S3Timeouts,
): Promise<HttpAnswer> {
  signal?.throwIfAborted()
  const { hostname, port, path } = address
  const options = { agent, method, hostname, port: port === '' ? undefined : port, path, headers }
  return new Promise((resolve, reject) => {
    const request = address.isSecure ? httpsRequest(options) : httpRequest(options)
    const watch = watchSilence(request, timeouts)
    const abort = (): void => void request.destroy(reasonOf(signal))
    const settle = (): void => {
      watch.stop()
      signal?.removeEventListener('abort', abort)
    }
    const fail = (error: unknown): void => {
      settle()
      request.destroy()
      reject(signal?.aborted === true ? reasonOf(signal) : error)
    }
    signal?.addEventListener('abort', abort, { once: true })
    request.on('error', (error) => fail(exchangeError(error)))
    request.on('response', (response) => {
      const head = { status: response.statusCode ?? 0, headers: response.headers }
      try {
        checkHead?.(head)
      } catch (error) {
        fail(error)
        return
      }
      readBody(response, watch.restart).then(
        (bytes) => {
          settle()
          resolve({ ...head, body: bytes })
        },
        (error: unknown) => fail(exchangeError(error)),
      )
    })
    sendBody(request, body, watch.refresh)
  })
}

// In pieces, so that a slow but steady upload is told from a store that has stopped reading.
function sendBody(request: ClientRequest, body: Uint8Array | undefined, onBytes: () => void): void {
  let doneBytes = 0
  const sendOn = (): void => {
    onBytes()
    while (body !== undefined && body.length - doneBytes > SEND_PIECE_BYTES) {
      const piece = body.subarray(doneBytes, doneBytes + SEND_PIECE_BYTES)
      doneBytes += piece.length
      if (request.write(piece)) continue
      request.once('drain', sendOn)
      return
    }
    request.end(body?.subarray(doneBytes))
  }
  sendOn()
}

function readBody(response: IncomingMessage, onBytes: () => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const bytesMax = (response.statusCode ?? 0) < 300 ? Infinity : ERROR_BODY_BYTES_MAX
    let takenBytes = 0
    onBytes()
    response.on('data', (chunk: Buffer) => {
      onBytes()
      chunks.push(chunk)
      takenBytes += chunk.length
      if (takenBytes > bytesMax) reject(new ExchangeError('the text of an error is too long'))
    })
    response.on('error', reject)
    response.on('end', () => {
      if (response.complete) resolve(Buffer.concat(chunks))
      else reject(new ExchangeError('the answer ended early'))
    })
  })
}

interface SilenceWatch {
  /** Something was sent: the limit of the phase begins again. */
  refresh(): void
  /** Something came: from now on the idle limit counts. */
  restart(): void
  stop(): void
}

function watchSilence(request: ClientRequest, timeouts: S3Timeouts): SilenceWatch {
  let timer: NodeJS.Timeout | undefined
  const limit = (durationMs: number, what: string): void => {
    clearTimeout(timer)
    const expire = (): void => {
      request.destroy(new ExchangeError(`${what} within ${durationMs} ms`))
    }
    timer = setTimeout(expire, durationMs)
  }
  request.on('socket', (socket) => {
    if (!socket.connecting) {
      limit(timeouts.firstByteTimeoutMs, 'no answer')
      return
    }
    limit(timeouts.connectTimeoutMs, 'no connection')
    const readyEvent = 'encrypted' in socket ? 'secureConnect' : 'connect'
    socket.once(readyEvent, () => limit(timeouts.firstByteTimeoutMs, 'no answer'))
  })
  let isReading = false
  return {
    refresh: () => void timer?.refresh(),
    restart() {
      if (isReading) timer?.refresh()
      else limit(timeouts.idleTimeoutMs, 'no further bytes')
      isReading = true
    },
    stop: () => clearTimeout(timer),
  }
}

function exchangeError(error: unknown): Error {
  if (error instanceof ExchangeError) return error
  return new ExchangeError('the connection failed', { cause: error })
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}

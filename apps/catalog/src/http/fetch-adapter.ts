import { Buffer } from 'node:buffer'
import type { Dispatch } from './dispatch.ts'
import {
  type BodyStream,
  type HttpAnswer,
  type HttpRequest,
  isBodyPieces,
  isBodyStream,
} from './exchange.ts'
import type { Observe } from './observe.ts'
import { readRequestBody } from './request-body.ts'

/**
 * The catalog as a function from Request to Response, for callers in the same process. They are trusted: neither
 * Host, Origin nor token is checked. `Request` resolves dot segments, so those reach no route.
 */
export function makeFetch(
  dispatch: Dispatch,
  observe: Observe,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const finish = observe()
    const converted = requestOf(request)
    const answered = await dispatch(converted)
    finish(converted, answered)
    const { status, headers, body } = answered.answer
    const isEmpty = body === undefined || request.method === 'HEAD'
    return new Response(isEmpty ? null : contentOf(body), { status, headers })
  }
}

function contentOf(
  body: NonNullable<HttpAnswer['body']>,
): ConstructorParameters<typeof Response>[0] {
  if (typeof body === 'string') return body
  if (isBodyStream(body)) return ReadableStream.from(encoded(body))
  if (isBodyPieces(body)) return new Uint8Array(Buffer.concat(body))
  // A copy: pooled buffers share their memory with others.
  return new Uint8Array(body)
}

async function* encoded({ pieces }: BodyStream): AsyncIterable<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const piece of pieces) yield encoder.encode(piece)
}

function requestOf(request: Request): HttpRequest {
  const url = new URL(request.url)
  return {
    method: request.method,
    target: url.pathname + url.search,
    header: (name) => request.headers.get(name) ?? undefined,
    connection: undefined,
    aborted: () => request.signal,
    readBody(bytesMax) {
      const headers = {
        contentLength: request.headers.get('content-length') ?? undefined,
        contentEncoding: request.headers.get('content-encoding') ?? undefined,
      }
      return readRequestBody(chunksOf(request), headers, bytesMax)
    },
  }
}

async function* chunksOf(request: Request): AsyncIterable<Uint8Array> {
  if (request.body === null) return
  const reader = request.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

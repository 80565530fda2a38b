import type { Dispatch } from './dispatch.ts'
import type { HttpRequest } from './exchange.ts'
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
    // A copy: pooled buffers share their memory with others.
    const content = isEmpty ? null : typeof body === 'string' ? body : new Uint8Array(body)
    return new Response(content, { status, headers })
  }
}

function requestOf(request: Request): HttpRequest {
  const url = new URL(request.url)
  return {
    method: request.method,
    target: url.pathname + url.search,
    header: (name) => request.headers.get(name) ?? undefined,
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

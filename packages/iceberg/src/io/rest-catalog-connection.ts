import { decodeCatalogSettings } from '../rest/config-json.ts'
import { decodeError } from '../rest/error-json.ts'
import { parseJson } from '../spec/json.ts'
import type { JsonValue } from '../spec/json-value.ts'
import { CatalogRefusedError, CatalogUnavailableError } from './rest-catalog-errors.ts'

export interface ConnectionOptions {
  /** Without `/v1`, for example `http://127.0.0.1:8181`. */
  readonly baseUri: string
  readonly warehouse?: string
  readonly token?: string
  /** What `fetch` does; a catalog in the same process offers the same without a socket. */
  readonly send: (request: Request) => Promise<Response>
}

export interface Answer {
  readonly status: number
  readonly body: string
}

/** What the catalog says of itself. Spec: REST catalog, getConfig. */
export interface CatalogRoutes {
  /** Path between `/v1/` and the resource, with its own slash at the end, or empty. */
  readonly prefix: string
  /** What separates the levels of a namespace in a path, percent-encoded. */
  readonly separator: string
  /** `METHOD /v1/…` with the placeholders of the protocol; absent: those that every catalog serves. */
  readonly endpoints: ReadonlySet<string> | undefined
}

export interface CatalogCall {
  readonly method?: 'GET' | 'POST'
  /** JSON text. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** The requests of one client to one catalog. */
export interface CatalogConnection {
  /** Asked for once. Errors: CatalogRefusedError, CatalogUnavailableError, InvalidInputError. */
  routes(): Promise<CatalogRoutes>
  /** A request to a path below the prefix, for example `namespaces`. Errors: those of `routes`. */
  request(path: string, call?: CatalogCall): Promise<Request>
  /** Any answer; CatalogUnavailableError when there was none or the server could not give one. */
  read(request: Request): Promise<Answer>
}

/** What separates levels where the catalog does not say. */
const SEPARATOR = '%1F'

/** A connection; nothing is sent before the first call. */
export function connectCatalog(options: ConnectionOptions): CatalogConnection {
  let known: Promise<CatalogRoutes> | undefined
  const routes = (): Promise<CatalogRoutes> => {
    known ??= readRoutes(options)
    const asked = known
    // A failed look-up is tried again by the next call.
    asked.catch(() => (known = undefined))
    return asked
  }
  return {
    routes,
    async request(path, call = {}) {
      const { prefix } = await routes()
      return newRequest(options, `/v1/${prefix}${path}`, call)
    },
    read: (request) => readAnswer(options, request),
  }
}

/**
 * A namespace as one segment of a path. Levels that hold the announced separator are joined by U+001F, which every
 * catalog takes. Spec: REST catalog, namespace in a path.
 */
export function namespaceSegment(levels: readonly string[], { separator }: CatalogRoutes): string {
  const plain = decodeURIComponent(separator)
  const isAmbiguous = levels.length > 1 && levels.some((level) => level.includes(plain))
  return levels.map(encodeURIComponent).join(isAmbiguous ? SEPARATOR : separator)
}

/** The error for a request that was refused; `what` says what could not be done: `use table a.t`. */
export function refusal(answer: Answer, what: string): CatalogRefusedError {
  const text = `cannot ${what}: the catalog answered ${answer.status}: ${messageOf(answer)}`
  return new CatalogRefusedError(answer.status, text)
}

/** The message of the error envelope, or the beginning of whatever the answer is. */
export function messageOf({ body }: Answer): string {
  let json: JsonValue = null
  try {
    json = parseJson(body)
  } catch {
    // A gateway's page; its text is all there is.
  }
  return decodeError(json)?.message ?? body.slice(0, 200)
}

async function readRoutes(options: ConnectionOptions): Promise<CatalogRoutes> {
  const { warehouse } = options
  const query = warehouse === undefined ? '' : `?warehouse=${encodeURIComponent(warehouse)}`
  const answer = await readAnswer(options, newRequest(options, `/v1/config${query}`, {}))
  if (answer.status !== 200) throw refusal(answer, 'read the configuration of the catalog')
  const { defaults, overrides, endpoints } = decodeCatalogSettings(parseJson(answer.body))
  const prefix = overrides['prefix'] ?? defaults['prefix']
  const separator = overrides['namespace-separator'] ?? defaults['namespace-separator']
  return {
    // It is part of a path already, so it is not encoded again.
    prefix: prefix === undefined || prefix === '' ? '' : `${prefix}/`,
    separator: separator === undefined || separator === '' ? SEPARATOR : separator,
    endpoints: endpoints === undefined || endpoints.length === 0 ? undefined : new Set(endpoints),
  }
}

function newRequest(
  { baseUri, token }: ConnectionOptions,
  path: string,
  { method = 'GET', body, headers = {}, signal }: CatalogCall,
): Request {
  return new Request(`${baseUri}${path}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  })
}

async function readAnswer(options: ConnectionOptions, request: Request): Promise<Answer> {
  let answer: Answer
  try {
    const response = await options.send(request)
    answer = { status: response.status, body: await response.text() }
  } catch (cause) {
    request.signal.throwIfAborted()
    throw new CatalogUnavailableError('the catalog cannot be reached', { cause })
  }
  if (answer.status < 500 && answer.status !== 429) return answer
  throw new CatalogUnavailableError(`the catalog answered ${answer.status}: ${messageOf(answer)}`)
}

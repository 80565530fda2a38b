import { list, object, optional, stringMap, text } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'

/** A request to a store that the catalog is asked to sign. Spec: REST catalog, RemoteSignRequest. */
export interface RemoteSignRequest {
  readonly method: string
  readonly uri: string
  readonly region: string
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly properties: Readonly<Record<string, string>>
  readonly body?: string
}

const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS']
/** Headers of one request; far more than any client sends. */
const HEADERS_MAX = 200

/** Reads the request. Throws InvalidInputError naming the member, also for a provider other than `s3`. */
export function decodeRemoteSignRequest(json: JsonObject): RemoteSignRequest {
  const provider = optional(json['provider'], 'provider', text) ?? 's3'
  if (provider !== 's3') throw new InvalidInputError(`expected s3, got ${provider}`, 'provider')
  const body = optional(json['body'], 'body', text)
  return {
    method: decodeMethod(json['method'], 'method'),
    uri: text(json['uri'], 'uri'),
    region: text(json['region'], 'region'),
    headers: decodeHeaders(json['headers']),
    properties: optional(json['properties'], 'properties', stringMap) ?? {},
    ...(body === undefined ? {} : { body }),
  }
}

/** Spec: REST catalog, RemoteSignResult. */
export function encodeRemoteSignResult(result: {
  readonly uri: string
  readonly headers: Readonly<Record<string, readonly string[]>>
}): JsonValue {
  return { uri: result.uri, headers: { ...result.headers } }
}

function decodeMethod(json: JsonValue | undefined, path: string): string {
  const method = text(json, path)
  if (METHODS.includes(method)) return method
  throw new InvalidInputError(`expected one of ${METHODS.join(', ')}, got ${method}`, path)
}

function decodeHeaders(json: JsonValue | undefined): Record<string, string[]> {
  const members = Object.entries(object(json, 'headers'))
  if (members.length > HEADERS_MAX) {
    const found = `got ${members.length}`
    throw new InvalidInputError(`expected at most ${HEADERS_MAX} headers, ${found}`, 'headers')
  }
  return Object.fromEntries(
    members.map(([name, values]) => [name, list(values, `headers.${name}`, text)]),
  )
}

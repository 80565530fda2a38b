import { isJsonArray } from '../spec/json.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'

/** Spec: REST catalog, ErrorModel. `code` is the HTTP status. */
export interface ErrorModel {
  readonly message: string
  readonly type: string
  readonly code: number
}

/** The error envelope that every client reads. */
export function encodeError({ message, type, code }: ErrorModel): JsonObject {
  return { error: { message, type, code: BigInt(code) } }
}

/** The error in an envelope, or `undefined` when the value is not one (a gateway's answer, for example). */
export function decodeError(json: JsonValue): ErrorModel | undefined {
  const error = isObject(json) ? json['error'] : undefined
  if (!isObject(error)) return undefined
  const { message, type, code } = error
  if (typeof code !== 'bigint') return undefined
  return {
    message: typeof message === 'string' ? message : '',
    type: typeof type === 'string' ? type : '',
    code: Number(code),
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isJsonArray(value)
}

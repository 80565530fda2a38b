import type { Buffer } from 'node:buffer'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { parseJson, printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { jsonTextAnswer, type HttpAnswer } from './exchange.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The JSON object in a request body, lossless. Throws InvalidInputError for anything else. */
export function parseJsonBody(body: Buffer): JsonObject {
  const value = parseJson(decodeText(body))
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new InvalidInputError('request body: expected a JSON object')
  }
  return value as JsonObject // `as`: arrays were refused above, which the readonly array type hides
}

function decodeText(body: Buffer): string {
  if (body.length === 0) throw new InvalidInputError('request body is empty: expected JSON')
  try {
    return utf8.decode(body)
  } catch (cause) {
    throw new InvalidInputError('request body is not valid UTF-8', undefined, { cause })
  }
}

/** A JSON answer. */
export function jsonAnswer(value: JsonValue, status = 200): HttpAnswer {
  return jsonTextAnswer(status, printJson(value))
}

import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'

/** A member of a JSON object; fails for anything else. */
export function member(value: JsonValue | undefined, ...names: readonly string[]): JsonValue {
  let current = value
  for (const name of names) {
    if (current === null || typeof current !== 'object' || Array.isArray(current)) {
      throw new Error(`no object around ${name}`)
    }
    current = (current as JsonObject)[name]
  }
  if (current === undefined) throw new Error(`no member ${names.join('.')}`)
  return current
}

/** A text in a JSON object. */
export function textAt(value: JsonValue | undefined, ...names: readonly string[]): string {
  const found = member(value, ...names)
  if (typeof found !== 'string') throw new Error(`${names.join('.')} is not a text`)
  return found
}

/** An integer in a JSON object. */
export function longAt(value: JsonValue | undefined, ...names: readonly string[]): bigint {
  const found = member(value, ...names)
  if (typeof found !== 'bigint') throw new Error(`${names.join('.')} is not an integer`)
  return found
}

/** `type` and `code` of an error envelope. */
export function errorOf(answer: { readonly json: JsonValue | undefined }): {
  type: string
  code: number
  message: string
} {
  const error = member(answer.json, 'error')
  return {
    type: textAt(error, 'type'),
    code: Number(member(error, 'code')),
    message: textAt(error, 'message'),
  }
}

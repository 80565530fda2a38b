import { int, list, text } from './decode.ts'
import { InvalidInputError } from './errors.ts'
import { parseTransform } from './transform-text.ts'
import type { Transform } from './transform.ts'
import type { JsonObject, JsonValue } from './json-value.ts'

/**
 * The source columns of a partition or sort field: `source-ids` of a multi-argument transform (v3), else
 * `source-id`. Throws InvalidInputError when neither names a column.
 */
export function decodeSourceIds(raw: JsonObject, path: string): number[] {
  const ids = raw['source-ids']
  if (ids === undefined || ids === null) return [int(raw['source-id'], `${path}.source-id`)]
  const decoded = list(ids, `${path}.source-ids`, int)
  if (decoded.length === 0)
    throw new InvalidInputError('expected at least one column', `${path}.source-ids`)
  return decoded
}

/** Writes `source-id` for one column and `source-ids` for several. */
export function encodeSourceIds(sourceIds: readonly number[]): JsonObject {
  const [only, ...more] = sourceIds
  if (only !== undefined && more.length === 0) return { 'source-id': BigInt(only) }
  return { 'source-ids': sourceIds.map(BigInt) }
}

/** Reads a transform's text; InvalidInputError names the path. */
export function decodeTransform(value: JsonValue | undefined, path: string): Transform {
  const transformText = text(value, path)
  try {
    return parseTransform(transformText)
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error
    throw new InvalidInputError(`invalid transform "${transformText}"`, path, { cause: error })
  }
}

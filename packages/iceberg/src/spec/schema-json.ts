import { extraMembers, int, list, object, optional, text } from './decode.ts'
import type { Filled } from './decode.ts'
import { InvalidInputError } from './errors.ts'
import type { JsonObject, JsonValue } from './json-value.ts'
import type { Schema } from './schema.ts'
import { decodeField, encodeField } from './type-json.ts'

const SCHEMA_MEMBERS = new Set(['type', 'schema-id', 'fields', 'identifier-field-ids'])

/**
 * Reads a schema; a missing `schema-id` is 0, missing identifier fields are none. Checks the shape only:
 * validateSchema checks the rules. Throws InvalidInputError naming the member. Spec: Appendix C, Schemas.
 */
export function decodeSchema(json: JsonValue | undefined, path: string): Schema {
  const raw = object(json, path)
  const type = optional(raw['type'], `${path}.type`, text)
  if (type !== undefined && type.toLowerCase() !== 'struct') {
    throw new InvalidInputError(`expected struct, got "${type}"`, `${path}.type`)
  }
  const schema: Filled<Schema> = {
    schemaId: optional(raw['schema-id'], `${path}.schema-id`, int) ?? 0,
    fields: list(raw['fields'], `${path}.fields`, decodeField),
    identifierFieldIds:
      optional(raw['identifier-field-ids'], `${path}.identifier-field-ids`, decodeIds) ?? [],
  }
  const extra = extraMembers(raw, SCHEMA_MEMBERS)
  if (extra !== undefined) schema.extra = extra
  return schema
}

/** The JSON form of a schema. Inverse of decodeSchema; identifier fields are written only when there are some. */
export function encodeSchema(schema: Schema): JsonObject {
  const ids = schema.identifierFieldIds
  return {
    ...schema.extra,
    type: 'struct',
    'schema-id': BigInt(schema.schemaId),
    'identifier-field-ids': ids.length === 0 ? undefined : ids.map(BigInt),
    fields: schema.fields.map(encodeField),
  }
}

function decodeIds(value: JsonValue | undefined, path: string): number[] {
  return list(value, path, int)
}

import { extraMembers, int, list, object, optional, text } from './decode.ts'
import type { Filled } from './decode.ts'
import { InvalidInputError } from './errors.ts'
import type { JsonObject, JsonValue } from './json-value.ts'
import { PARTITION_FIELD_ID_BEFORE_FIRST } from './partition-spec.ts'
import type {
  PartitionField,
  PartitionSpec,
  UnboundPartitionField,
  UnboundPartitionSpec,
} from './partition-spec.ts'
import { decodeSourceIds, decodeTransform, encodeSourceIds } from './source-ids-json.ts'
import { printTransform } from './transform-text.ts'

const SPEC_MEMBERS = new Set(['spec-id', 'fields'])
const FIELD_MEMBERS = new Set(['source-id', 'source-ids', 'field-id', 'name', 'transform'])

/**
 * Reads a stored spec. Field ids that are missing throughout (old v1 files) become 1000, 1001, … by position.
 * Needs no schema, so specs of dropped columns stay readable. Throws InvalidInputError naming the member.
 */
export function decodePartitionSpec(json: JsonValue | undefined, path: string): PartitionSpec {
  const raw = object(json, path)
  const spec: Filled<PartitionSpec> = {
    specId: int(raw['spec-id'], `${path}.spec-id`),
    fields: decodePartitionFields(raw['fields'], `${path}.fields`),
  }
  const extra = extraMembers(raw, SPEC_MEMBERS)
  if (extra !== undefined) spec.extra = extra
  return spec
}

/** Reads the field list of a stored spec, which manifests and v1 metadata hold without the object around it. */
export function decodePartitionFields(json: JsonValue | undefined, path: string): PartitionField[] {
  const fields = list(json, path, decodeUnboundField)
  const missing = fields.filter((field) => field.fieldId === undefined).length
  if (missing !== 0 && missing !== fields.length) {
    throw new InvalidInputError('some fields have a field-id and some have none', path)
  }
  return fields.map((field, index) => ({
    ...field,
    fieldId: field.fieldId ?? PARTITION_FIELD_ID_BEFORE_FIRST + 1 + index,
  }))
}

/** Reads a spec of a request: spec id and field ids may be missing. */
export function decodeUnboundPartitionSpec(
  json: JsonValue | undefined,
  path: string,
): UnboundPartitionSpec {
  const raw = object(json, path)
  const specId = optional(raw['spec-id'], `${path}.spec-id`, int)
  const fields = list(raw['fields'], `${path}.fields`, decodeUnboundField)
  return specId === undefined ? { fields } : { specId, fields }
}

/** The JSON form of a spec, bound or not. */
export function encodePartitionSpec(
  spec: UnboundPartitionSpec & { readonly extra?: JsonObject },
): JsonObject {
  return {
    ...spec.extra,
    'spec-id': spec.specId === undefined ? undefined : BigInt(spec.specId),
    fields: encodePartitionFields(spec.fields),
  }
}

/** The JSON form of a spec's field list, as manifests keep it. */
export function encodePartitionFields(fields: readonly UnboundPartitionField[]): JsonValue[] {
  return fields.map((field) => ({
    ...field.extra,
    name: field.name,
    transform: printTransform(field.transform),
    ...encodeSourceIds(field.sourceIds),
    'field-id': field.fieldId === undefined ? undefined : BigInt(field.fieldId),
  }))
}

function decodeUnboundField(json: JsonValue | undefined, path: string): UnboundPartitionField {
  const raw = object(json, path)
  const field: Filled<UnboundPartitionField> = {
    sourceIds: decodeSourceIds(raw, path),
    name: text(raw['name'], `${path}.name`),
    transform: decodeTransform(raw['transform'], `${path}.transform`),
  }
  const fieldId = optional(raw['field-id'], `${path}.field-id`, int)
  if (fieldId !== undefined) field.fieldId = fieldId
  const extra = extraMembers(raw, FIELD_MEMBERS)
  if (extra !== undefined) field.extra = extra
  return field
}

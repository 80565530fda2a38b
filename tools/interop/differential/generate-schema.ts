import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { Random } from './random.ts'

const OLD_TYPES = [
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'decimal(9, 2)',
  'decimal(38, 10)',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'string',
  'uuid',
  'fixed[16]',
  'binary',
] as const
const V3_TYPES = ['timestamp_ns', 'timestamptz_ns', 'variant', 'unknown'] as const
const COLUMN_NAMES = [
  'id',
  'ts',
  'a',
  'b',
  'c',
  'd',
  'e',
  'host',
  'value',
  'a_bucket',
  'ts_day',
  'id_day',
  'b_day',
] as const
const DEPTH_MAX = 3
const DEFAULTS: Readonly<Record<string, JsonValue>> = {
  int: 7n,
  long: 34n,
  string: 'none',
  boolean: true,
  date: '2017-11-16',
}

/** Gives ids to new fields. */
export interface FieldIds {
  next(): number
}

/** The ids after `lastId`. */
export function idsAfter(lastId: number): FieldIds {
  let last = lastId
  return { next: () => (last += 1) }
}

/** A schema with one to six columns; the ids come from `ids`. */
export function newSchema(random: Random, ids: FieldIds, formatVersion: number): JsonObject {
  const names = uniqueNames(random, random.between(1, 6))
  const fields = names.map((name) => newField(random, { ids, name, formatVersion, depth: 0 }))
  const schema = { type: 'struct', 'schema-id': 0n, fields }
  return random.chance(0.3)
    ? { ...schema, 'identifier-field-ids': identifiers(random, fields) }
    : schema
}

/** The schema with one to three changes, some of which break a rule. `lastColumnId` is the table's. */
export function changedSchema(
  random: Random,
  schema: JsonObject,
  table: { readonly lastColumnId: number; readonly formatVersion: number },
): JsonObject {
  const ids = idsAfter(table.lastColumnId)
  let fields = schema['fields'] as readonly JsonObject[]
  for (let changes = random.between(1, 3); changes > 0; changes -= 1) {
    fields = changedFields(random, fields, { ids, formatVersion: table.formatVersion })
  }
  const changed = { ...schema, fields, 'schema-id': BigInt(random.between(0, 9)) }
  return random.chance(0.15)
    ? { ...changed, 'identifier-field-ids': identifiers(random, fields) }
    : changed
}

interface FieldPlan {
  readonly ids: FieldIds
  readonly name: string
  readonly formatVersion: number
  readonly depth: number
}

function newField(random: Random, plan: FieldPlan): JsonObject {
  const id = BigInt(plan.ids.next())
  const type = newType(random, plan)
  const required = random.chance(0.3) && type !== 'unknown'
  const field = { id, name: plan.name, required, type }
  const withDoc = random.chance(0.1) ? { ...field, doc: 'a column' } : field
  const value = typeof type === 'string' ? DEFAULTS[type] : undefined
  const mayDefault = plan.formatVersion >= 3 || random.chance(0.05)
  if (value === undefined || !mayDefault || random.chance(0.7)) return withDoc
  return { ...withDoc, 'initial-default': value, 'write-default': value }
}

function newType(random: Random, plan: FieldPlan): JsonValue {
  const isNested = plan.depth < DEPTH_MAX && random.chance(0.18)
  if (isNested) return nestedType(random, { ...plan, depth: plan.depth + 1 })
  if (plan.formatVersion >= 3 ? random.chance(0.15) : random.chance(0.015))
    return random.pick(V3_TYPES)
  return random.pick(OLD_TYPES)
}

function nestedType(random: Random, plan: FieldPlan): JsonObject {
  const kind = random.pick(['struct', 'list', 'map'] as const)
  if (kind === 'struct') {
    const names = uniqueNames(random, random.between(1, 3))
    return { type: 'struct', fields: names.map((name) => newField(random, { ...plan, name })) }
  }
  if (kind === 'list') {
    const elementId = BigInt(plan.ids.next())
    const element = newType(random, plan)
    const isRequired = random.chance(0.5) && element !== 'unknown'
    return { type: 'list', 'element-id': elementId, 'element-required': isRequired, element }
  }
  const keyId = BigInt(plan.ids.next())
  const valueId = BigInt(plan.ids.next())
  const value = newType(random, plan)
  const isRequired = random.chance(0.5) && value !== 'unknown'
  return {
    type: 'map',
    'key-id': keyId,
    key: 'string',
    'value-id': valueId,
    'value-required': isRequired,
    value,
  }
}

function changedFields(
  random: Random,
  fields: readonly JsonObject[],
  { ids, formatVersion }: { readonly ids: FieldIds; readonly formatVersion: number },
): readonly JsonObject[] {
  const position = random.between(0, fields.length - 1)
  const others = fields.filter((_, other) => other !== position)
  const field = fields[position] ?? {}
  const replaceWith = (changed: JsonObject) =>
    fields.map((old, other) => (other === position ? changed : old))
  const name = random.pick(COLUMN_NAMES)
  switch (
    random.pickWeighted({
      add: 40,
      drop: 20,
      rename: 15,
      widen: 15,
      relax: 10,
      doc: 5,
      repeat: 1,
      duplicate: 1,
    })
  ) {
    case 'add':
      return fields.some((other) => other['name'] === name) && random.chance(0.95)
        ? fields
        : [...fields, newField(random, { ids, name, formatVersion, depth: 0 })]
    case 'drop':
      return others.length === 0 ? fields : others
    case 'rename':
      return replaceWith({
        ...field,
        name: random.chance(0.9) ? `${name}_${random.between(1, 9)}` : name,
      })
    case 'widen':
      return replaceWith({ ...field, type: widened(field['type'] ?? 'int') })
    case 'relax':
      return replaceWith({ ...field, required: false })
    case 'doc':
      return replaceWith({ ...field, doc: `doc ${random.between(1, 3)}` })
    case 'repeat':
      return [...fields, { ...field, id: BigInt(ids.next()) }]
    case 'duplicate':
      return [...fields, { ...field, name: `${name}_again` }]
  }
}

function widened(type: JsonValue): JsonValue {
  if (type === 'int') return 'long'
  if (type === 'float') return 'double'
  return type === 'decimal(9, 2)' ? 'decimal(18, 2)' : type
}

function uniqueNames(random: Random, count: number): readonly string[] {
  return [...new Set(Array.from({ length: count }, () => random.pick(COLUMN_NAMES)))]
}

/** Mostly required primitive columns, as the format demands. */
function identifiers(random: Random, fields: readonly JsonObject[]): readonly JsonValue[] {
  const allowed = fields.filter(
    ({ required, type }) =>
      required === true && typeof type === 'string' && !/float|double|variant/.test(type),
  )
  const chosen = random.some(random.chance(0.9) ? allowed : fields, 0.5)
  return chosen.map(({ id }) => id ?? 0n)
}

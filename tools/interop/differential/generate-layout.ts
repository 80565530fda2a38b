import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { PartitionSpec } from '@timelake/iceberg/spec/partition-spec'
import { printTransform } from '@timelake/iceberg/spec/transform-text'
import { childFields, indexSchema } from '@timelake/iceberg/spec/schema-index'
import type { Schema } from '@timelake/iceberg/spec/schema'
import type { Random } from './random.ts'

const TIME_TRANSFORMS = ['year', 'month', 'day', 'hour', 'identity', 'void', 'bucket[8]'] as const
const OTHER_TRANSFORMS = [
  'identity',
  'bucket[4]',
  'bucket[16]',
  'truncate[3]',
  'void',
  'identity',
] as const

/** What a spec or sort order is made for. */
export interface LayoutTarget {
  readonly schema: Schema
  readonly formatVersion: number
  readonly lastPartitionId: number
  readonly partitionSpecs: readonly PartitionSpec[]
}

/** A partition spec; mostly over suitable columns, with ids as the Java client sends them, sometimes without. */
export function newSpec(random: Random, target: LayoutTarget): JsonObject {
  const columns = leafColumns(random, target.schema)
  const count = Math.min(columns.length, random.pick([0, 1, 1, 2, 2, 3, 3]))
  const chosen = Array.from({ length: count }, () => random.pick(columns))
  const fields = chosen.map((column) => ({
    'source-id': BigInt(random.chance(0.03) ? 999 : column.id),
    name: partitionName(random, column.name, columns),
    transform: transformFor(random, column.type),
  }))
  const named = random.chance(0.95) ? uniqueByName(fields) : fields
  const spec = { 'spec-id': BigInt(random.between(0, 5)), fields: withIds(random, named, target) }
  return spec
}

/** A sort order with zero to three fields. */
export function newSortOrder(random: Random, schema: Schema): JsonObject {
  const columns = leafColumns(random, schema)
  const count = Math.min(columns.length, random.pick([0, 1, 1, 2, 2, 3, 3]))
  const chosen = Array.from({ length: count }, () => random.pick(columns))
  const fields = chosen.map((column) => ({
    transform: transformFor(random, column.type),
    'source-id': BigInt(random.chance(0.03) ? 999 : column.id),
    direction: random.pick(['asc', 'desc']),
    'null-order': random.pick(['nulls-first', 'nulls-last']),
  }))
  const id = random.chance(0.03) ? random.between(0, 1) : Math.min(fields.length, 1)
  return { 'order-id': BigInt(id), fields }
}

interface Column {
  readonly id: number
  readonly name: string
  readonly type: string
}

/** Columns in structs; rarely also those inside lists and maps, and nested ones. */
function leafColumns(random: Random, schema: Schema): readonly Column[] {
  const index = indexSchema(schema)
  const isRude = random.chance(0.08)
  const columns: Column[] = []
  for (const [id, field] of index.fieldsById) {
    const isNested = childFields(field.type).length > 0
    const isTopLevel = !index.parentsById.has(id)
    if (isRude || (!isNested && (isTopLevel || isInStructs(schema, id)))) {
      columns.push({ id, name: index.namesById.get(id) ?? '', type: field.type.kind })
    }
  }
  return columns
}

function isInStructs(schema: Schema, id: number): boolean {
  const { fieldsById, parentsById } = indexSchema(schema)
  const parentId = parentsById.get(id)
  if (parentId === undefined) return true
  return fieldsById.get(parentId)?.type.kind === 'struct' && isInStructs(schema, parentId)
}

function transformFor(random: Random, type: string): string {
  if (random.chance(0.06)) return random.pick([...TIME_TRANSFORMS, ...OTHER_TRANSFORMS])
  if (type.startsWith('timestamp')) return random.pick(TIME_TRANSFORMS)
  if (type === 'date') return random.pick(['year', 'month', 'day', 'identity', 'bucket[8]'])
  if (['int', 'long', 'string', 'binary', 'decimal'].includes(type))
    return random.pick(OTHER_TRANSFORMS)
  if (['uuid', 'fixed', 'time'].includes(type))
    return random.pick(['identity', 'bucket[4]', 'void'])
  return random.pick(['identity', 'identity', 'void'])
}

function partitionName(random: Random, column: string, columns: readonly Column[]): string {
  if (random.chance(0.3)) return column
  if (random.chance(0.04)) return random.pick(columns).name
  return `${column}_${random.pick(['bucket', 'day', 'day'])}`
}

function uniqueByName<Field extends { readonly name: string }>(
  fields: readonly Field[],
): readonly Field[] {
  return fields.filter(
    (field, position) => fields.findIndex(({ name }) => name === field.name) === position,
  )
}

function withIds(
  random: Random,
  fields: readonly JsonObject[],
  target: LayoutTarget,
): readonly JsonValue[] {
  if (random.chance(0.04)) return fields
  if (target.formatVersion === 1 && random.chance(0.9)) {
    return fields.map((field, position) => ({ ...field, 'field-id': BigInt(1000 + position) }))
  }
  let lastId = target.lastPartitionId
  return fields.map((field) => {
    const earlierId = random.chance(0.9) ? earlierFieldId(target.partitionSpecs, field) : undefined
    const fieldId = earlierId ?? (random.chance(0.01) ? 1000 : (lastId += 1))
    return { ...field, 'field-id': BigInt(fieldId) }
  })
}

function earlierFieldId(specs: readonly PartitionSpec[], field: JsonObject): number | undefined {
  return specs
    .flatMap((spec) => spec.fields)
    .find(
      ({ sourceIds, transform }) =>
        BigInt(sourceIds[0] ?? -1) === field['source-id'] &&
        printTransform(transform) === field['transform'],
    )?.fieldId
}

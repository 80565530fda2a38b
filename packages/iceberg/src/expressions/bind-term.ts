import { canTransform, transformResultType } from '../spec/apply-transform.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { indexSchema } from '../spec/schema-index.ts'
import type { Schema } from '../spec/schema.ts'
import { printTransform } from '../spec/transform-text.ts'
import type { IcebergType, NestedField, PrimitiveType } from '../spec/type.ts'
import type { BoundTerm, Term } from './expression.ts'

export type FilteredSchema = Pick<Schema, 'fields'>

export interface Binding {
  readonly schema: FilteredSchema
  readonly caseSensitive: boolean
}

/**
 * The term tied to the column that it names, by its full name or the short one that skips `element` and `value`. A name that
 * fits exactly wins over ones of another case. Throws InvalidInputError for a column that the schema does not have, or has
 * several of, or inside a list or a map, and for a transform that does not take its type.
 */
export function bindTerm({ reference, transform }: Term, binding: Binding): BoundTerm {
  const { fieldsById, namesById } = indexSchema(binding.schema)
  const fieldId = 'id' in reference ? reference.id : findField(reference.name, binding)
  const field = fieldsById.get(fieldId)
  const name = namesById.get(fieldId)
  if (field === undefined || name === undefined) {
    throw new InvalidInputError(`cannot filter by field ${fieldId}: the schema has no such field`)
  }
  const type = leafType(field.type)
  if (transform.kind !== 'identity' && !canTransform(transform, type)) {
    const what = `${printTransform(transform)} of ${name}`
    throw new InvalidInputError(`cannot filter by ${what}: it does not take a ${field.type.kind}`)
  }
  return {
    fieldId,
    name,
    type,
    isRequired: isNeverNull(field, name, binding),
    transform,
    // `as`: reason: a transform of a primitive value is primitive.
    resultType: transformResultType(transform, type) as PrimitiveType,
  }
}

/** Structs, lists and maps can be asked whether they are null and nothing else, which is how variants are. */
function leafType(type: IcebergType): PrimitiveType {
  const isNested = type.kind === 'struct' || type.kind === 'list' || type.kind === 'map'
  return isNested ? { kind: 'variant' } : type
}

function findField(name: string, { schema, caseSensitive }: Binding): number {
  const exact = indexSchema(schema).idsByName.get(name)
  if (exact !== undefined) return exact
  const ids = caseSensitive ? [] : (idsInAnyCase(schema).get(name.toLowerCase()) ?? [])
  const [only] = ids
  if (only === undefined) {
    throw new InvalidInputError(`cannot filter by ${name}: the schema has no such column`)
  }
  if (ids.length === 1) return only
  throw new InvalidInputError(`cannot filter by ${name}: ${ids.length} columns differ by case only`)
}

const remembered = new WeakMap<FilteredSchema, ReadonlyMap<string, readonly number[]>>()

/** The ids of the columns whose names are the same in lower case. */
function idsInAnyCase(schema: FilteredSchema): ReadonlyMap<string, readonly number[]> {
  const known = remembered.get(schema)
  if (known !== undefined) return known
  const idsByLowerName = new Map<string, readonly number[]>()
  for (const [name, id] of indexSchema(schema).idsByName) {
    const lower = name.toLowerCase()
    const before = idsByLowerName.get(lower) ?? []
    if (!before.includes(id)) idsByLowerName.set(lower, [...before, id])
  }
  remembered.set(schema, idsByLowerName)
  return idsByLowerName
}

/** Whether the field and all around it are required. A field inside a list or a map has no one value in a row. */
function isNeverNull(field: NestedField, name: string, { schema }: Binding): boolean {
  const { fieldsById, parentsById } = indexSchema(schema)
  let isRequired = field.required
  for (let id = parentsById.get(field.id); id !== undefined; id = parentsById.get(id)) {
    const parent = fieldsById.get(id)
    if (parent?.type.kind !== 'struct') {
      throw new InvalidInputError(`cannot filter by ${name}: it is inside a list or a map`)
    }
    isRequired &&= parent.required
  }
  return isRequired
}

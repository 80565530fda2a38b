import type { Schema } from './schema.ts'
import type { IcebergType, NestedField } from './type.ts'

/**
 * Where every field of a schema is, nested ones included. List elements and map keys and values appear as
 * fields named `element`, `key` and `value`. When an id or name occurs twice the first one wins: validateSchema
 * refuses such schemas.
 */
export interface SchemaIndex {
  readonly fieldsById: ReadonlyMap<number, NestedField>
  /** Full names, for example `points.element.x`. */
  readonly namesById: ReadonlyMap<number, string>
  /** Full names and, where nothing else has it, the short form that skips `element` and `value`: `points.x`. */
  readonly idsByName: ReadonlyMap<string, number>
  /** The id of the enclosing field; absent for top-level columns. */
  readonly parentsById: ReadonlyMap<number, number>
}

/** One field found while walking a schema, parents before children. */
export interface VisitedField {
  readonly field: NestedField
  readonly fullName: string
  readonly shortName: string
  readonly parentId: number | undefined
}

type SchemaFields = Pick<Schema, 'fields'>

const remembered = new WeakMap<SchemaFields, SchemaIndex>()

/** The index of a schema, built once for each schema object. */
export function indexSchema(schema: SchemaFields): SchemaIndex {
  const known = remembered.get(schema)
  if (known !== undefined) return known
  const index = buildIndex(schema)
  remembered.set(schema, index)
  return index
}

/** The highest field id of a schema, nested fields included; 0 when it has none. */
export function highestFieldId(schema: SchemaFields): number {
  let highest = 0
  for (const id of indexSchema(schema).fieldsById.keys()) highest = Math.max(highest, id)
  return highest
}

/** Every field of a schema, parents before children, in schema order. */
export function visitFields(schema: SchemaFields): VisitedField[] {
  const visited: VisitedField[] = []
  for (const field of schema.fields) {
    visit(visited, { field, fullName: field.name, shortName: field.name, parentId: undefined })
  }
  return visited
}

/** The fields directly inside a type: struct members, the list's element, the map's key and value. */
export function childFields(type: IcebergType): readonly NestedField[] {
  switch (type.kind) {
    case 'struct':
      return type.fields
    case 'list':
      return [
        { id: type.elementId, name: 'element', required: type.elementRequired, type: type.element },
      ]
    case 'map':
      return [
        { id: type.keyId, name: 'key', required: true, type: type.key },
        { id: type.valueId, name: 'value', required: type.valueRequired, type: type.value },
      ]
    default:
      return []
  }
}

function visit(visited: VisitedField[], current: VisitedField): void {
  visited.push(current)
  const { type, id } = current.field
  for (const field of childFields(type)) {
    const isSkipped = type.kind !== 'struct' && field.name !== 'key' && field.type.kind === 'struct'
    visit(visited, {
      field,
      fullName: `${current.fullName}.${field.name}`,
      shortName: isSkipped ? current.shortName : `${current.shortName}.${field.name}`,
      parentId: id,
    })
  }
}

function buildIndex(schema: SchemaFields): SchemaIndex {
  const fieldsById = new Map<number, NestedField>()
  const namesById = new Map<number, string>()
  const idsByName = new Map<string, number>()
  const parentsById = new Map<number, number>()
  const visited = visitFields(schema)
  for (const { field, fullName, parentId } of visited) {
    if (!idsByName.has(fullName)) idsByName.set(fullName, field.id)
    if (fieldsById.has(field.id)) continue
    fieldsById.set(field.id, field)
    namesById.set(field.id, fullName)
    if (parentId !== undefined) parentsById.set(field.id, parentId)
  }
  for (const { field, shortName } of visited) {
    if (!idsByName.has(shortName)) idsByName.set(shortName, field.id)
  }
  return { fieldsById, namesById, idsByName, parentsById }
}

import type { Schema } from '../spec/schema.ts'
import type { IcebergType, ListType, MapType, NestedField } from '../spec/type.ts'

export interface RenumberedSchema {
  readonly schema: Schema
  /** The new id of each old field id. */
  readonly newIds: ReadonlyMap<number, number>
}

/**
 * The schema with fresh field ids from 1 and schema id 0, as Java assigns them to new tables: all fields of a struct
 * first, in order, then what each of them nests; a list's element, a map's key and value before what they nest.
 * Clients compute the same ids, so the order is interface.
 */
export function renumberColumns(schema: Schema): RenumberedSchema {
  const ids = new FreshIds()
  const fields = renumberFields(schema.fields, ids)
  const identifierFieldIds = schema.identifierFieldIds.map((id) => ids.newIds.get(id) ?? id)
  return { schema: { ...schema, schemaId: 0, fields, identifierFieldIds }, newIds: ids.newIds }
}

class FreshIds {
  readonly newIds = new Map<number, number>()

  assign(oldId: number): number {
    const id = this.newIds.size + 1
    this.newIds.set(oldId, id)
    return id
  }
}

function renumberFields(fields: readonly NestedField[], ids: FreshIds): readonly NestedField[] {
  const newIds = fields.map(({ id }) => ids.assign(id))
  return fields.map((field, position) => ({
    ...field,
    id: newIds[position] ?? field.id,
    type: renumberType(field.type, ids),
  }))
}

function renumberType(type: IcebergType, ids: FreshIds): IcebergType {
  switch (type.kind) {
    case 'struct':
      return { ...type, fields: renumberFields(type.fields, ids) }
    case 'list':
      return renumberList(type, ids)
    case 'map':
      return renumberMap(type, ids)
    default:
      return type
  }
}

function renumberList(type: ListType, ids: FreshIds): ListType {
  const elementId = ids.assign(type.elementId)
  return { ...type, elementId, element: renumberType(type.element, ids) }
}

function renumberMap(type: MapType, ids: FreshIds): MapType {
  const keyId = ids.assign(type.keyId)
  const valueId = ids.assign(type.valueId)
  return {
    ...type,
    keyId,
    valueId,
    key: renumberType(type.key, ids),
    value: renumberType(type.value, ids),
  }
}

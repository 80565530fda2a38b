import { partitionType, type PartitionType } from '../manifest/partition-type.ts'
import { currentSchema, schemasNewestFirst } from '../snapshot/new-snapshot.ts'
import type { PartitionSpec } from '../spec/partition-spec.ts'
import { indexSchema } from '../spec/schema-index.ts'
import type { Schema } from '../spec/schema.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { NestedField } from '../spec/type.ts'

/** A partition spec and the struct of its values. */
export interface ShapedSpec {
  readonly spec: PartitionSpec
  readonly partition: PartitionType
}

/** What data files of a table have to fit. */
export interface TableShape {
  readonly schema: Schema
  readonly defaultSpecId: number
  readonly specs: ReadonlyMap<number, ShapedSpec>
  /** Every field of every schema by its id, nested ones included, in its newest form. */
  readonly columns: ReadonlyMap<number, NestedField>
  readonly sortOrderIds: ReadonlySet<number>
}

const remembered = new WeakMap<TableMetadata, TableShape>()

/** The shape of the table, made once for each metadata object. Throws InvalidInputError without a current schema. */
export function tableShape(metadata: TableMetadata): TableShape {
  const known = remembered.get(metadata)
  if (known !== undefined) return known
  const shape = makeShape(metadata)
  remembered.set(metadata, shape)
  return shape
}

function makeShape(metadata: TableMetadata): TableShape {
  const schemas = schemasNewestFirst(metadata)
  const columns = new Map<number, NestedField>()
  for (const schema of schemas) {
    for (const [id, field] of indexSchema(schema).fieldsById) {
      if (!columns.has(id)) columns.set(id, field)
    }
  }
  return {
    schema: currentSchema(metadata),
    defaultSpecId: metadata.defaultSpecId,
    specs: new Map(
      metadata.partitionSpecs.map((spec) => [
        spec.specId,
        { spec, partition: partitionType(spec, schemas) },
      ]),
    ),
    columns,
    sortOrderIds: new Set(metadata.sortOrders.map(({ orderId }) => orderId)),
  }
}

import type { PartitionField, PartitionSpec, PartitionValue } from '../spec/partition-spec.ts'
import { transformResultType } from '../spec/apply-transform.ts'
import { indexSchema } from '../spec/schema-index.ts'
import type { Schema } from '../spec/schema.ts'
import { decodeSingleValue } from '../spec/single-value.ts'
import type { IcebergType } from '../spec/type.ts'

export interface PartitionTypeField {
  readonly fieldId: number
  readonly name: string
  readonly type: IcebergType
}

/** The struct that holds the partition values of one spec, in spec order. Spec: Partitioning. */
export interface PartitionType {
  readonly fields: readonly PartitionTypeField[]
}

/**
 * The partition struct of a spec. A source column is looked up in the schemas in the order given, so pass the current
 * one first: a column that was dropped since is found in an older one. A source that no schema has gives the type
 * `unknown`, whose values can only be null.
 */
export function partitionType(spec: PartitionSpec, schemas: readonly Schema[]): PartitionType {
  return {
    fields: spec.fields.map((field) => ({
      fieldId: field.fieldId,
      name: field.name,
      type: fieldType(field, schemas),
    })),
  }
}

function fieldType(field: PartitionField, schemas: readonly Schema[]): IcebergType {
  const sourceId = field.sourceIds[0]
  for (const schema of schemas) {
    const source = sourceId === undefined ? undefined : indexSchema(schema).fieldsById.get(sourceId)
    if (source !== undefined) return transformResultType(field.transform, source.type)
  }
  return { kind: 'unknown' }
}

/**
 * A stored partition value in the form that its type has today: an int that became a long is widened, bytes of a
 * decimal or uuid are decoded. A value that cannot be of the type comes back unchanged.
 */
export function promotePartitionValue(type: IcebergType, value: PartitionValue): PartitionValue {
  switch (type.kind) {
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
    case 'int':
    case 'date':
      return typeof value === 'bigint' ? Number(value) : value
    case 'decimal':
    case 'uuid':
      return value instanceof Uint8Array ? decodeSingleValue(type, value) : value
    default:
      return value
  }
}

/** Whether a value has the form that PartitionValue describes for the type; null always has. */
export function isPartitionValueOf(type: IcebergType, value: PartitionValue): boolean {
  if (value === null) return true
  switch (type.kind) {
    case 'boolean':
      return typeof value === 'boolean'
    case 'int':
    case 'date':
      return typeof value === 'number' && Number.isInteger(value)
    case 'float':
    case 'double':
      return typeof value === 'number'
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
    case 'decimal':
      return typeof value === 'bigint'
    case 'string':
    case 'uuid':
      return typeof value === 'string'
    case 'fixed':
      return value instanceof Uint8Array && value.length === type.lengthBytes
    case 'binary':
      return value instanceof Uint8Array
    default:
      return false
  }
}

/** A text that is equal exactly for equal partitions of one spec; floats compare by their bits, NaN equal to NaN. */
export function partitionKey(partition: readonly PartitionValue[]): string {
  return partition.map(valueKey).join('\u0000')
}

function valueKey(value: PartitionValue): string {
  if (value === null) return 'n'
  if (value instanceof Uint8Array) return `x${Buffer.from(value).toString('hex')}`
  switch (typeof value) {
    case 'boolean':
      return `b${value}`
    case 'number':
      return `i${Object.is(value, -0) ? '-0' : value}`
    case 'bigint':
      return `i${value}`
    default:
      return `s${value.replaceAll('\u0001', '\u0001\u0001').replaceAll('\u0000', '\u0001\u0002')}`
  }
}

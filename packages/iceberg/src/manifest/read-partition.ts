import type { RecordPlan } from '../avro/avro-record.ts'
import type { AvroField, AvroType } from '../avro/avro-schema.ts'
import { CorruptFileError } from '../spec/errors.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import type { PartitionType, PartitionTypeField } from './partition-type.ts'
import { isPartitionValueOf, promotePartitionValue } from './partition-type.ts'
import { DATA_FILE_FIELDS, ENTRY_FIELDS } from './wanted-fields.ts'

/** The values of a partition as Avro reads them, in the writer's order, put into ours. */
export type ReadPartition = (
  values: readonly PartitionValue[] | undefined,
) => readonly PartitionValue[]

/** The partition fields of a manifest in the writer's order, from a plan of ENTRY_FIELDS or one of its variants. */
export function writerPartitionFields(plan: RecordPlan): readonly AvroField[] {
  const files = plan.memberPlans[ENTRY_FIELDS.slot.dataFile]
  const type = structOf(files?.writerFields[DATA_FILE_FIELDS.slot.partition]?.type)
  return type?.kind === 'record' ? type.fields : []
}

function structOf(type: AvroType | undefined): AvroType | undefined {
  return type?.kind === 'union' ? type.branches.find((branch) => branch.kind === 'record') : type
}

/**
 * Puts partition values in the order and types of a spec, matched by field id; without one they stay in the writer's order
 * and in the form that the writer's logical types give. A field that the writer has not is null. The reader throws
 * CorruptFileError for a value of another type; `what` names the file.
 */
export function partitionReader(
  plan: RecordPlan,
  what: string,
  partition: PartitionType | undefined,
): ReadPartition {
  const fields = writerPartitionFields(plan)
  const stored = fields.map((field) => scalarType(field.type))
  const order = partitionOrder(fields, partition)
  return (values) =>
    order.map((position, index) => {
      const type = stored[position]
      const value = type === undefined ? null : logicalValue(type, values?.[position] ?? null)
      const field = partition?.fields[index]
      return field === undefined ? value : typedValue(field, value, what)
    })
}

function scalarType(type: AvroType): AvroType {
  if (type.kind !== 'union') return type
  return type.branches.find((branch) => branch.kind !== 'null') ?? { kind: 'null' }
}

/** For each wanted partition field, its place in the writer's order; −1 when the writer has none. */
function partitionOrder(
  fields: readonly AvroField[],
  partition: PartitionType | undefined,
): readonly number[] {
  if (partition === undefined) return fields.map((_, index) => index)
  const hasIds = fields.some((field) => field.fieldId !== undefined)
  return partition.fields.map(({ fieldId }, index) =>
    hasIds ? fields.findIndex((field) => field.fieldId === fieldId) : index,
  )
}

function typedValue(
  field: PartitionTypeField,
  stored: PartitionValue,
  what: string,
): PartitionValue {
  const value = promotePartitionValue(field.type, stored)
  if (isPartitionValueOf(field.type, value)) return value
  throw new CorruptFileError(
    `cannot read ${what}: expected ${field.type.kind} in partition field ${field.name}, got ${typeof value}`,
  )
}

/** The value in our form, judged by the writer's logical type alone. */
function logicalValue(type: AvroType, value: PartitionValue): PartitionValue {
  const logicalType = 'logicalType' in type ? type.logicalType : undefined
  if (logicalType === undefined || value === null) return value
  if (logicalType === 'uuid' && typeof value === 'string') return value.toLowerCase()
  if (!(value instanceof Uint8Array)) return value
  if (logicalType === 'uuid') return promotePartitionValue({ kind: 'uuid' }, value)
  if (logicalType !== 'decimal') return value
  return promotePartitionValue({ kind: 'decimal', precision: 38, scale: 0 }, value)
}

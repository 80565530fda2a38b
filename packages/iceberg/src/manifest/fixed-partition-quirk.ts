import type { AvroField, AvroRecord, AvroType } from '../avro/avro-schema.ts'

/**
 * The schema that the Java library really writes by when a partition value is a plain `fixed`: up to 1.11 it puts a
 * length before the bytes, as if the type were `bytes` (apache/iceberg#17501). Undefined when the entries have no such
 * field, or none that is reached through `data_file` and `partition`.
 */
export function withFixedPartitionsAsBytes(entry: AvroRecord): AvroRecord | undefined {
  return replaceField(entry, { id: 2, name: 'data_file' }, (file) =>
    replaceField(file, { id: 102, name: 'partition' }, replaceFixed),
  )
}

function replaceField(
  record: AvroRecord,
  wanted: { readonly id: number; readonly name: string },
  replace: (member: AvroRecord) => AvroRecord | undefined,
): AvroRecord | undefined {
  const field = record.fields.find(({ fieldId, name }) =>
    fieldId === undefined ? name === wanted.name : fieldId === wanted.id,
  )
  const member = field === undefined ? undefined : recordOf(field.type)
  const replaced = member === undefined ? undefined : replace(member)
  if (field === undefined || member === undefined || replaced === undefined) return undefined
  const type = swap(field.type, member, replaced)
  return withFields(record, (candidate) => (candidate === field ? { ...field, type } : candidate))
}

function replaceFixed(partition: AvroRecord): AvroRecord | undefined {
  const isQuirky = partition.fields.some((field) => fixedOf(field.type) !== undefined)
  if (!isQuirky) return undefined
  return withFields(partition, (field) => {
    const fixed = fixedOf(field.type)
    return fixed === undefined
      ? field
      : { ...field, type: swap(field.type, fixed, { kind: 'bytes' }) }
  })
}

function withFields(record: AvroRecord, change: (field: AvroField) => AvroField): AvroRecord {
  const changed = new Map(record.fields.map((field) => [field, change(field)]))
  const lookUp = (field: AvroField): AvroField => changed.get(field) ?? field
  return {
    ...record,
    fields: record.fields.map(lookUp),
    sizedFields: record.sizedFields.map(lookUp),
  }
}

function branches(type: AvroType): readonly AvroType[] {
  return type.kind === 'union' ? type.branches : [type]
}

function recordOf(type: AvroType): AvroRecord | undefined {
  return branches(type).find((branch) => branch.kind === 'record')
}

/** A uuid or decimal is written right; only a fixed without a logical type is not. */
function fixedOf(type: AvroType): AvroType | undefined {
  return branches(type).find(
    (branch) => branch.kind === 'fixed' && branch.logicalType === undefined,
  )
}

function swap(type: AvroType, before: AvroType, after: AvroType): AvroType {
  if (type.kind !== 'union') return after
  return {
    kind: 'union',
    branches: type.branches.map((branch) => (branch === before ? after : branch)),
  }
}

import type { AvroSink } from '../avro/avro-sink.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { assertNever } from '../spec/invariant.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import { encodeSingleValue } from '../spec/single-value.ts'
import type { IcebergType } from '../spec/type.ts'
import type { FieldWriter } from './field-writer.ts'
import { recordSchema } from './field-writer.ts'
import type { PartitionType, PartitionTypeField } from './partition-type.ts'

type Partition = readonly PartitionValue[]

export interface PartitionWriter {
  readonly schema: JsonObject
  write(sink: AvroSink, partition: Partition): void
}

/**
 * How a partition tuple is written: every field optional, under the partition field's id. Names that Avro does not
 * allow are spelled like the Java library does. Throws InvalidInputError for a tuple of another length, or a value that
 * is not of its type. Spec: Manifests, Appendix A.
 */
export function partitionWriter(type: PartitionType): PartitionWriter {
  const names = avroNames(type.fields)
  const fields = type.fields.map((field, index) =>
    fieldWriter(field, index, names[index] ?? field.name),
  )
  return {
    schema: recordSchema('r102', fields),
    write(sink, partition) {
      if (partition.length !== type.fields.length) {
        throw new InvalidInputError(
          `cannot write a partition: expected ${type.fields.length} values, got ${partition.length}`,
        )
      }
      for (const field of fields) field.write(sink, partition)
    },
  }
}

function fieldWriter(
  field: PartitionTypeField,
  index: number,
  name: string,
): FieldWriter<Partition> {
  return {
    id: field.fieldId,
    name,
    isOptional: true,
    type: avroType(field),
    write(sink, partition) {
      const value = partition[index]
      sink.int(value === null || value === undefined ? 0 : 1)
      if (value !== null && value !== undefined) writeValue(sink, field, value)
    },
  }
}

/** Named types carry the field id, so that no name is defined twice and none needs a reference. */
function avroType(field: PartitionTypeField): JsonValue {
  const { type, fieldId } = field
  switch (type.kind) {
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'string':
      return type.kind
    case 'binary':
      return 'bytes'
    case 'date':
      return { type: 'int', logicalType: 'date' }
    case 'time':
      return { type: 'long', logicalType: 'time-micros' }
    case 'timestamp':
    case 'timestamptz':
      return timestampSchema('timestamp-micros', type.kind === 'timestamptz')
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return timestampSchema('timestamp-nanos', type.kind === 'timestamptz_ns')
    case 'uuid':
      return { type: 'fixed', name: `uuid_fixed_${fieldId}`, size: 16n, logicalType: 'uuid' }
    case 'fixed':
      return {
        type: 'fixed',
        name: `fixed_${type.lengthBytes}_${fieldId}`,
        size: BigInt(type.lengthBytes),
      }
    case 'decimal':
      return {
        type: 'fixed',
        name: `decimal_${type.precision}_${type.scale}_${fieldId}`,
        size: BigInt(decimalLengthBytes(type.precision)),
        logicalType: 'decimal',
        precision: BigInt(type.precision),
        scale: BigInt(type.scale),
      }
    case 'unknown':
      // The column is gone and its values are null; any type that every reader knows will do.
      return 'int'
    default:
      throw new InvalidInputError(`cannot write partition field ${field.name}: type ${type.kind}`)
  }
}

function timestampSchema(logicalType: string, adjustToUtc: boolean): JsonObject {
  return { type: 'long', logicalType, 'adjust-to-utc': adjustToUtc }
}

/** The fewest bytes of two's complement that hold every decimal of the precision. */
function decimalLengthBytes(precision: number): number {
  const bits = (10n ** BigInt(precision) - 1n).toString(2).length + 1
  return Math.ceil(bits / 8)
}

function writeValue(
  sink: AvroSink,
  field: PartitionTypeField,
  value: NonNullable<PartitionValue>,
): void {
  const { type } = field
  switch (typeof value) {
    case 'boolean':
      if (type.kind === 'boolean') return sink.boolean(value)
      throw mismatch(field, value)
    case 'number':
      return writeNumber(sink, field, value)
    case 'bigint':
      return writeBigint(sink, field, value)
    case 'string':
      if (type.kind === 'string') return sink.text(value)
      if (type.kind === 'uuid') return sink.fixed(encodeSingleValue(type, value))
      throw mismatch(field, value)
    case 'object':
      return writeBytesValue(sink, field, value)
    default:
      return assertNever(value, 'partition value')
  }
}

function writeNumber(sink: AvroSink, field: PartitionTypeField, value: number): void {
  switch (field.type.kind) {
    case 'float':
      return sink.float(value)
    case 'double':
      return sink.double(value)
    case 'int':
    case 'date':
      if (!Number.isInteger(value) || value < -(2 ** 31) || value >= 2 ** 31)
        throw mismatch(field, value)
      return sink.int(value)
    default:
      throw mismatch(field, value)
  }
}

function writeBigint(sink: AvroSink, field: PartitionTypeField, value: bigint): void {
  switch (field.type.kind) {
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return sink.long(value)
    case 'decimal':
      return writeDecimal(sink, field, value)
    default:
      throw mismatch(field, value)
  }
}

function writeDecimal(sink: AvroSink, field: PartitionTypeField, value: bigint): void {
  const { type } = field
  if (type.kind !== 'decimal') throw mismatch(field, value)
  const minimal = encodeSingleValue(type, value)
  const padded = new Uint8Array(decimalLengthBytes(type.precision))
  if (minimal.length > padded.length) throw mismatch(field, value)
  if (value < 0n) padded.fill(0xff)
  padded.set(minimal, padded.length - minimal.length)
  sink.fixed(padded)
}

function writeBytesValue(sink: AvroSink, field: PartitionTypeField, value: Uint8Array): void {
  const { type } = field
  if (type.kind === 'binary') return sink.byteString(value)
  if (type.kind === 'fixed' && type.lengthBytes === value.length) return sink.fixed(value)
  throw mismatch(field, value)
}

function mismatch(field: PartitionTypeField, value: PartitionValue): InvalidInputError {
  const kind: IcebergType['kind'] = field.type.kind
  return new InvalidInputError(
    `cannot write partition field ${field.name}: expected ${kind}, got ${typeof value}`,
  )
}

function avroNames(fields: readonly PartitionTypeField[]): string[] {
  const used = new Set<string>()
  return fields.map((field) => {
    const name = avroName(field.name)
    const unique = used.has(name) ? `${name}_${field.fieldId}` : name
    used.add(unique)
    return unique
  })
}

/** Letters, digits and `_` stay; anything else becomes `_x` and its UTF-16 code in hex. */
function avroName(name: string): string {
  let result = ''
  for (let index = 0; index < name.length; index += 1) {
    const unit = name.charAt(index)
    if (/[A-Za-z_]/.test(unit) || (index > 0 && /[0-9]/.test(unit))) result += unit
    else if (/[0-9]/.test(unit)) result += `_${unit}`
    else result += `_x${name.charCodeAt(index).toString(16).toUpperCase()}`
  }
  return result === '' ? '_' : result
}

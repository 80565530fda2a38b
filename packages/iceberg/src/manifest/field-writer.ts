import type { AvroSink } from '../avro/avro-sink.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'

/** One field of a record that we write: its schema and how its value gets into the file. */
export interface FieldWriter<Source> {
  readonly id: number
  readonly name: string
  readonly doc?: string
  readonly isOptional: boolean
  /** The Avro type without the null branch. */
  readonly type: JsonValue
  write(sink: AvroSink, source: Source): void
}

export type WriteValue<Value> = (sink: AvroSink, value: Value) => void

interface FieldNames {
  readonly id: number
  readonly name: string
  readonly type: JsonValue
}

/** A field that every record has. */
export function requiredField<Source, Value>(
  names: FieldNames,
  get: (source: Source) => Value,
  write: WriteValue<Value>,
): FieldWriter<Source> {
  return {
    ...names,
    isOptional: false,
    write: (sink, source) => write(sink, get(source)),
  }
}

/** A field that is written as a union with null; `undefined` becomes null. */
export function optionalField<Source, Value>(
  names: FieldNames,
  get: (source: Source) => Value | undefined,
  write: WriteValue<Value>,
): FieldWriter<Source> {
  return {
    ...names,
    isOptional: true,
    write: (sink, source) => {
      const value = get(source)
      sink.int(value === undefined ? 0 : 1)
      if (value !== undefined) write(sink, value)
    },
  }
}

/** The Avro record schema of the fields, with Iceberg's field ids. Spec: Appendix A. */
export function recordSchema(name: string, fields: readonly FieldWriter<never>[]): JsonObject {
  return {
    type: 'record',
    name,
    fields: fields.map((field) => ({
      name: field.name,
      type: field.isOptional ? ['null', field.type] : field.type,
      default: field.isOptional ? null : undefined,
      'field-id': BigInt(field.id),
    })),
  }
}

/** An int-keyed map: a list of key and value records. Spec: Appendix A. */
export function intMapSchema(keyId: number, valueId: number, value: JsonValue): JsonObject {
  return {
    type: 'array',
    logicalType: 'map',
    items: {
      type: 'record',
      name: `k${keyId}_v${valueId}`,
      fields: [
        { name: 'key', type: 'int', 'field-id': BigInt(keyId) },
        { name: 'value', type: value, 'field-id': BigInt(valueId) },
      ],
    },
  }
}

/** A list with Iceberg's id of its element. Spec: Appendix A. */
export function listSchema(elementId: number, items: JsonValue): JsonObject {
  return { type: 'array', items, 'element-id': BigInt(elementId) }
}

export const writeInt: WriteValue<number> = (sink, value) => sink.int(value)
export const writeLong: WriteValue<bigint> = (sink, value) => sink.long(value)
export const writeText: WriteValue<string> = (sink, value) => sink.text(value)
export const writeBytes: WriteValue<Uint8Array> = (sink, value) => sink.byteString(value)
export const writeBoolean: WriteValue<boolean> = (sink, value) => sink.boolean(value)

export const writeLongsById: WriteValue<ReadonlyMap<number, bigint>> = (sink, values) => {
  if (values.size > 0) sink.int(values.size)
  for (const [id, value] of values) {
    sink.int(id)
    sink.long(value)
  }
  sink.int(0)
}

export const writeBytesById: WriteValue<ReadonlyMap<number, Uint8Array>> = (sink, values) => {
  if (values.size > 0) sink.int(values.size)
  for (const [id, value] of values) {
    sink.int(id)
    sink.byteString(value)
  }
  sink.int(0)
}

export const writeLongList: WriteValue<readonly bigint[]> = (sink, values) => {
  if (values.length > 0) sink.int(values.length)
  for (const value of values) sink.long(value)
  sink.int(0)
}

export const writeIntList: WriteValue<readonly number[]> = (sink, values) => {
  if (values.length > 0) sink.int(values.length)
  for (const value of values) sink.int(value)
  sink.int(0)
}

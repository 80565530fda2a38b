import { tableShape, type TableShape } from '../append/table-shape.ts'
import type { DataFile } from '../manifest/data-file.ts'
import type { PartitionType } from '../manifest/partition-type.ts'
import {
  type Filled,
  int,
  list,
  nonNegativeInt,
  nonNegativeLong,
  object,
  optional,
  text,
} from '../spec/decode.ts'
import { CorruptFileError, InvalidInputError } from '../spec/errors.ts'
import { decodeJsonValue, encodeJsonValue } from '../spec/json-single-value.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import { decodeSingleValue, encodeSingleValue } from '../spec/single-value.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { IcebergType, PrimitiveType } from '../spec/type.ts'

/** A data file and the spec that its partition values are of. */
export interface DescribedDataFile {
  readonly specId: number
  readonly dataFile: DataFile
}

const FORMATS = new Set(['PARQUET', 'AVRO', 'ORC'])
/** Members that a new data file cannot have: they belong to delete files, are inherited, or need keys. */
const FOREIGN_MEMBERS = [
  'equality-ids',
  'referenced-data-file',
  'content-offset',
  'content-size-in-bytes',
  'first-row-id',
  'key-metadata',
]

/**
 * Reads the description of a data file that is to be added to the table. Partition values are a list in the order of the
 * spec; bounds are hexadecimal binary values, as engines write them, or numbers and booleans. Throws InvalidInputError naming
 * the member: also for a spec or column that the table does not have, and for members that a new data file cannot have.
 * Spec: REST catalog, ContentFile; Appendix D.
 */
export function decodeNewDataFile(
  json: JsonValue | undefined,
  path: string,
  metadata: TableMetadata,
): DescribedDataFile {
  const raw = object(json, path)
  const at = (name: string): string => `${path}.${name}`
  const shape = tableShape(metadata)
  checkKind(raw, path)
  const specId = optional(raw['spec-id'], at('spec-id'), int) ?? shape.defaultSpecId
  const dataFile: Filled<DataFile> = {
    content: 'data',
    filePath: text(raw['file-path'], at('file-path')),
    fileFormat: formatOf(raw['file-format'], at('file-format')),
    partition: decodePartition(raw['partition'], at('partition'), { shape, specId }),
    recordCount: nonNegativeLong(raw['record-count'], at('record-count')),
    fileSizeBytes: nonNegativeLong(raw['file-size-in-bytes'], at('file-size-in-bytes')),
  }
  const splitOffsets = optional(raw['split-offsets'], at('split-offsets'), decodeOffsets)
  if (splitOffsets !== undefined) dataFile.splitOffsets = splitOffsets
  const sortOrderId = optional(raw['sort-order-id'], at('sort-order-id'), nonNegativeInt)
  if (sortOrderId !== undefined) dataFile.sortOrderId = sortOrderId
  return { specId, dataFile: { ...dataFile, ...decodeMetrics(raw, path, shape) } }
}

function checkKind(raw: JsonObject, path: string): void {
  const content = text(raw['content'] ?? 'data', `${path}.content`)
  if (content.toLowerCase() !== 'data') {
    throw new InvalidInputError(`expected data, got ${content}`, `${path}.content`)
  }
  for (const name of FOREIGN_MEMBERS) {
    const value = raw[name]
    if (value === undefined || value === null) continue
    throw new InvalidInputError('a new data file cannot have it', `${path}.${name}`)
  }
}

function formatOf(json: JsonValue | undefined, path: string): string {
  const format = text(json, path).toUpperCase()
  if (FORMATS.has(format)) return format
  throw new InvalidInputError(`expected parquet, avro or orc, got ${format.toLowerCase()}`, path)
}

function decodeOffsets(json: JsonValue | undefined, path: string): bigint[] {
  return list(json, path, nonNegativeLong)
}

/** The partition values of a spec, in its order. Throws InvalidInputError, also for a spec that the table does not have. */
export function decodePartition(
  json: JsonValue | undefined,
  path: string,
  { shape, specId }: { readonly shape: TableShape; readonly specId: number },
): PartitionValue[] {
  const shaped = shape.specs.get(specId)
  if (shaped === undefined) {
    throw new InvalidInputError(`the table has no partition spec ${specId}`, path)
  }
  const { fields } = shaped.partition
  const values = list(json, path, (item) => item ?? null)
  if (values.length !== fields.length) {
    throw new InvalidInputError(`expected ${fields.length} values, got ${values.length}`, path)
  }
  return fields.map(({ type }, index) => {
    const value = values[index] ?? null
    return value === null ? null : decodePrimitive(type, value, `${path}[${index}]`)
  })
}

function decodePrimitive(type: IcebergType, json: JsonValue, path: string): PartitionValue {
  if (isPrimitive(type)) return decodeJsonValue(type, json, path)
  throw new InvalidInputError(`a ${type.kind} has no single value`, path)
}

function isPrimitive(type: IcebergType): type is PrimitiveType {
  return type.kind !== 'struct' && type.kind !== 'list' && type.kind !== 'map'
}

type Metrics = Pick<
  DataFile,
  | 'columnSizesBytes'
  | 'valueCounts'
  | 'nullValueCounts'
  | 'nanValueCounts'
  | 'lowerBounds'
  | 'upperBounds'
>

const COUNT_MEMBERS = {
  columnSizesBytes: 'column-sizes',
  valueCounts: 'value-counts',
  nullValueCounts: 'null-value-counts',
  nanValueCounts: 'nan-value-counts',
} as const
const BOUND_MEMBERS = { lowerBounds: 'lower-bounds', upperBounds: 'upper-bounds' } as const

function decodeMetrics(raw: JsonObject, path: string, { columns }: TableShape): Metrics {
  const metrics: Filled<Metrics> = {}
  const typeOf = (id: number, where: string): IcebergType => {
    const column = columns.get(id)
    if (column !== undefined) return column.type
    throw new InvalidInputError(`the table has no column ${id}`, where)
  }
  for (const [member, name] of Object.entries(COUNT_MEMBERS)) {
    const map = optional(raw[name], `${path}.${name}`, (json, where) =>
      decodeMap(json, where, (id, value, at) => {
        typeOf(id, at)
        return nonNegativeLong(value, at)
      }),
    )
    // `as`: Object.entries forgets which names there are.
    if (map !== undefined) metrics[member as keyof typeof COUNT_MEMBERS] = map
  }
  for (const [member, name] of Object.entries(BOUND_MEMBERS)) {
    const map = optional(raw[name], `${path}.${name}`, (json, where) =>
      decodeMap(json, where, (id, value, at) => decodeBound(typeOf(id, at), value, at)),
    )
    // `as`: the same.
    if (map !== undefined) metrics[member as keyof typeof BOUND_MEMBERS] = map
  }
  return metrics
}

/** A map by field id, in the form `{"keys": [1], "values": [7]}`. */
function decodeMap<T>(
  json: JsonValue | undefined,
  path: string,
  decode: (id: number, value: JsonValue | undefined, path: string) => T,
): ReadonlyMap<number, T> {
  const raw = object(json, path)
  const keys = list(raw['keys'], `${path}.keys`, int)
  const values = list(raw['values'], `${path}.values`, (value) => value)
  if (keys.length !== values.length) {
    throw new InvalidInputError(`expected ${keys.length} values, got ${values.length}`, path)
  }
  return new Map(
    keys.map((id, index) => [id, decode(id, values[index], `${path}.values[${index}]`)]),
  )
}

/** A text is always the binary form in hexadecimal digits, so that the bound of a text column is never ambiguous. */
function decodeBound(type: IcebergType, json: JsonValue | undefined, path: string): Uint8Array {
  if (typeof json !== 'string') {
    const value = decodePrimitive(type, json ?? null, path)
    if (value !== null) return encodeSingleValue(type, value)
    throw new InvalidInputError('expected a bound, got null', path)
  }
  if (!/^(?:[0-9a-f]{2})*$/i.test(json)) {
    throw new InvalidInputError('expected the binary value in hexadecimal digits', path)
  }
  const bytes = Uint8Array.from(Buffer.from(json, 'hex'))
  try {
    decodeSingleValue(type, bytes)
  } catch (cause) {
    if (!(cause instanceof CorruptFileError)) throw cause
    throw new InvalidInputError(`expected a ${type.kind} in its binary form`, path, { cause })
  }
  return bytes
}

/** The description of a data file, as engines read and write it. Inverse of decodeNewDataFile. */
export function encodeDataFile(
  { dataFile, specId }: DescribedDataFile,
  partition: PartitionType,
): JsonObject {
  const counts = Object.entries(COUNT_MEMBERS).map(([member, name]) => {
    // `as`: Object.entries forgets which names there are.
    const map = dataFile[member as keyof typeof COUNT_MEMBERS]
    return [name, map === undefined ? undefined : encodeMap(map, (count) => count)]
  })
  const bounds = Object.entries(BOUND_MEMBERS).map(([member, name]) => {
    // `as`: the same.
    const map = dataFile[member as keyof typeof BOUND_MEMBERS]
    return [name, map === undefined ? undefined : encodeMap(map, hexOf)]
  })
  return {
    content: 'data',
    'file-path': dataFile.filePath,
    'file-format': dataFile.fileFormat.toLowerCase(),
    'spec-id': BigInt(specId),
    partition: partition.fields.map(({ type }, index) => {
      const value = dataFile.partition[index] ?? null
      return value === null || !isPrimitive(type) ? null : encodeJsonValue(type, value)
    }),
    'file-size-in-bytes': dataFile.fileSizeBytes,
    'record-count': dataFile.recordCount,
    'split-offsets': dataFile.splitOffsets,
    'sort-order-id': dataFile.sortOrderId === undefined ? undefined : BigInt(dataFile.sortOrderId),
    ...Object.fromEntries([...counts, ...bounds]),
  }
}

function encodeMap<T>(map: ReadonlyMap<number, T>, encode: (value: T) => JsonValue): JsonObject {
  return {
    keys: [...map.keys()].map(BigInt),
    values: [...map.values()].map((value) => encode(value)),
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex').toUpperCase()
}

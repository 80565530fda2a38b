import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import { readThriftStruct, type ThriftStruct, type ThriftValue } from './thrift-compact.ts'

export type ParquetPhysicalType =
  | 'BOOLEAN'
  | 'INT32'
  | 'INT64'
  | 'INT96'
  | 'FLOAT'
  | 'DOUBLE'
  | 'BYTE_ARRAY'
  | 'FIXED_LEN_BYTE_ARRAY'

/** What an annotation says of a leaf; the old converted types are folded in. */
export type ParquetAnnotation =
  | { readonly kind: 'string' | 'date' | 'uuid' | 'other' }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'time' | 'timestamp'; readonly unit: 'millis' | 'micros' | 'nanos' }
  | { readonly kind: 'integer'; readonly bitWidth: number; readonly signed: boolean }

/** One element of the schema tree below the root, in file order. */
export interface ParquetElement {
  readonly name: string
  readonly fieldId?: number
  /** Absent on groups. */
  readonly physicalType?: ParquetPhysicalType
  readonly typeLengthBytes?: number
  readonly repetition: 'required' | 'optional' | 'repeated'
  readonly annotation?: ParquetAnnotation
  readonly children: readonly ParquetElement[]
}

/** One column chunk; `min` and `max` are the raw statistic bytes of the current (not the deprecated) members. */
export interface ParquetColumnChunk {
  readonly path: readonly string[]
  readonly codec: string
  readonly valueCount: bigint
  readonly compressedSizeBytes: bigint
  readonly startOffset: bigint
  readonly nullCount?: bigint
  readonly min?: Uint8Array
  readonly max?: Uint8Array
  readonly minExact: boolean
  readonly maxExact: boolean
}

export interface ParquetRowGroup {
  readonly rowCount: bigint
  readonly columns: readonly ParquetColumnChunk[]
}

export interface ParquetFooter {
  readonly rowCount: bigint
  readonly createdBy?: string
  readonly columns: readonly ParquetElement[]
  readonly rowGroups: readonly ParquetRowGroup[]
}

/** The bytes at the end of a file that say where its footer starts. */
export const PARQUET_TAIL_SIZE_BYTES = 8
/** A footer beyond this is refused rather than read: nothing that we handle comes near. */
export const PARQUET_FOOTER_SIZE_BYTES_MAX = 64 * 1024 * 1024

const PHYSICAL_TYPES: readonly ParquetPhysicalType[] = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
]
const CODECS = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'LZO', 'BROTLI', 'LZ4', 'ZSTD', 'LZ4_RAW']
const REPETITIONS = ['required', 'optional', 'repeated'] as const

/**
 * The length of the footer, from the last eight bytes of a file.
 * Throws CorruptFileError unless they are a plain Parquet tail (an encrypted footer is named as such).
 */
export function footerSizeBytes(tail: Uint8Array): number {
  const magic = String.fromCharCode(...tail.subarray(tail.length - 4))
  if (magic === 'PARE') throw new CorruptFileError('the Parquet footer is encrypted')
  if (tail.length < PARQUET_TAIL_SIZE_BYTES || magic !== 'PAR1') {
    throw new CorruptFileError('not a Parquet file: it does not end with PAR1')
  }
  const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength)
  const sizeBytes = view.getUint32(tail.length - PARQUET_TAIL_SIZE_BYTES, true)
  if (sizeBytes > PARQUET_FOOTER_SIZE_BYTES_MAX) {
    throw new CorruptFileError(`the Parquet footer claims ${sizeBytes} bytes`)
  }
  return sizeBytes
}

/**
 * Everything a planner or verifier needs of a footer. `bytes` ends with the whole footer and the tail; it may be the
 * whole file. Throws CorruptFileError. Counts and offsets are bigint; statistics stay raw bytes, so they are exact.
 */
export function decodeParquetFooter(bytes: Uint8Array): ParquetFooter {
  const sizeBytes = footerSizeBytes(bytes)
  const end = bytes.length - PARQUET_TAIL_SIZE_BYTES
  if (sizeBytes > end) throw new CorruptFileError('the Parquet footer is longer than the file')
  const footer = readThriftStruct(bytes.subarray(end - sizeBytes, end))
  const elements = list(footer, 2, 'schema').map(asStruct)
  const createdBy = optionalText(footer, 6)
  return {
    rowCount: integer(footer, 3, 'num_rows'),
    ...(createdBy === undefined ? {} : { createdBy }),
    columns: decodeTree(elements),
    rowGroups: list(footer, 4, 'row_groups').map((group) => decodeRowGroup(asStruct(group))),
  }
}

/** The top-level elements; the flattened pre-order list is consumed recursively. */
function decodeTree(elements: readonly ThriftStruct[]): readonly ParquetElement[] {
  let next = 1
  const take = (count: number, depth: number): ParquetElement[] => {
    if (depth > 64) throw new CorruptFileError('the Parquet schema nests too deep')
    const children: ParquetElement[] = []
    for (let index = 0; index < count; index++) {
      const element = elements[next++]
      if (element === undefined) throw new CorruptFileError('the Parquet schema ends early')
      children.push(decodeElement(element, take(childCount(element), depth + 1)))
    }
    return children
  }
  const root = elements[0]
  if (root === undefined) throw new CorruptFileError('the Parquet schema is empty')
  return take(childCount(root), 0)
}

function childCount(element: ThriftStruct): number {
  return Number(optionalInteger(element, 5) ?? 0n)
}

function decodeElement(raw: ThriftStruct, children: readonly ParquetElement[]): ParquetElement {
  const fieldId = optionalInteger(raw, 9)
  const typeLengthBytes = optionalInteger(raw, 2)
  const type = optionalInteger(raw, 1)
  const physicalType = type === undefined ? undefined : PHYSICAL_TYPES[Number(type)]
  const annotation = decodeAnnotation(raw)
  return {
    name: optionalText(raw, 4) ?? '',
    ...(fieldId === undefined ? {} : { fieldId: Number(fieldId) }),
    ...(physicalType === undefined ? {} : { physicalType }),
    ...(typeLengthBytes === undefined ? {} : { typeLengthBytes: Number(typeLengthBytes) }),
    repetition: REPETITIONS[Number(optionalInteger(raw, 3) ?? 0n)] ?? 'repeated',
    ...(annotation === undefined ? {} : { annotation }),
    children,
  }
}

/** The logical type when there is one, else the converted type. */
function decodeAnnotation(raw: ThriftStruct): ParquetAnnotation | undefined {
  const logical = optionalStruct(raw, 10)
  const [kind, body] = logical === undefined ? [] : ([...logical][0] ?? [])
  if (kind === undefined) return decodeConvertedType(raw)
  const fields = asStruct(body)
  switch (kind) {
    case 1:
      return { kind: 'string' }
    case 5:
      return {
        kind: 'decimal',
        scale: Number(integer(fields, 1, 'scale')),
        precision: Number(integer(fields, 2, 'precision')),
      }
    case 6:
      return { kind: 'date' }
    case 7:
      return { kind: 'time', unit: decodeUnit(fields) }
    case 8:
      return { kind: 'timestamp', unit: decodeUnit(fields) }
    case 10:
      return {
        kind: 'integer',
        bitWidth: Number(integer(fields, 1, 'bitWidth')),
        signed: fields.get(2) === true,
      }
    case 14:
      return { kind: 'uuid' }
    default:
      return { kind: 'other' }
  }
}

function decodeUnit(fields: ThriftStruct): 'millis' | 'micros' | 'nanos' {
  const unit = optionalStruct(fields, 2)
  if (unit?.has(1)) return 'millis'
  return unit?.has(2) ? 'micros' : 'nanos'
}

function decodeConvertedType(raw: ThriftStruct): ParquetAnnotation | undefined {
  const converted = optionalInteger(raw, 6)
  if (converted === undefined) return undefined
  switch (Number(converted)) {
    case 0:
      return { kind: 'string' }
    case 5:
      return {
        kind: 'decimal',
        scale: Number(optionalInteger(raw, 7) ?? 0n),
        precision: Number(integer(raw, 8, 'precision')),
      }
    case 6:
      return { kind: 'date' }
    case 7:
      return { kind: 'time', unit: 'millis' }
    case 8:
      return { kind: 'time', unit: 'micros' }
    case 9:
      return { kind: 'timestamp', unit: 'millis' }
    case 10:
      return { kind: 'timestamp', unit: 'micros' }
    case 11:
    case 12:
    case 13:
    case 14:
      return { kind: 'integer', bitWidth: 8 << (Number(converted) - 11), signed: false }
    case 15:
    case 16:
    case 17:
    case 18:
      return { kind: 'integer', bitWidth: 8 << (Number(converted) - 15), signed: true }
    default:
      return { kind: 'other' }
  }
}

function decodeRowGroup(raw: ThriftStruct): ParquetRowGroup {
  return {
    rowCount: integer(raw, 3, 'row group num_rows'),
    columns: list(raw, 1, 'columns').map((chunk) => decodeChunk(asStruct(chunk))),
  }
}

function decodeChunk(raw: ThriftStruct): ParquetColumnChunk {
  const meta = optionalStruct(raw, 3)
  if (meta === undefined) throw new CorruptFileError('a Parquet column chunk has no metadata')
  const statistics: ThriftStruct = optionalStruct(meta, 12) ?? new Map()
  const nullCount = optionalInteger(statistics, 3)
  const max = optionalBytes(statistics, 5)
  const min = optionalBytes(statistics, 6)
  const dataOffset = integer(meta, 9, 'data_page_offset')
  const dictionaryOffset = optionalInteger(meta, 11)
  const useDictionary =
    dictionaryOffset !== undefined && dictionaryOffset > 0n && dictionaryOffset < dataOffset
  return {
    path: list(meta, 3, 'path_in_schema').map((part) => text(part)),
    codec: CODECS[Number(integer(meta, 4, 'codec'))] ?? 'unknown',
    valueCount: integer(meta, 5, 'num_values'),
    compressedSizeBytes: integer(meta, 7, 'total_compressed_size'),
    startOffset: useDictionary ? dictionaryOffset : dataOffset,
    ...(nullCount === undefined ? {} : { nullCount }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    maxExact: statistics.get(7) !== false,
    minExact: statistics.get(8) !== false,
  }
}

function asStruct(value: ThriftValue | undefined): ThriftStruct {
  if (value instanceof Map) return value
  throw new CorruptFileError('a Parquet footer member is not a struct')
}

function optionalStruct(from: ThriftStruct, id: number): ThriftStruct | undefined {
  const value = from.get(id)
  return value === undefined ? undefined : asStruct(value)
}

function list(from: ThriftStruct, id: number, name: string): readonly ThriftValue[] {
  const value = from.get(id)
  if (Array.isArray(value)) return value
  throw new CorruptFileError(`the Parquet footer has no ${name}`)
}

function integer(from: ThriftStruct, id: number, name: string): bigint {
  const value = optionalInteger(from, id)
  if (value === undefined) throw new CorruptFileError(`the Parquet footer has no ${name}`)
  return value
}

function optionalInteger(from: ThriftStruct, id: number): bigint | undefined {
  const value = from.get(id)
  if (value === undefined || typeof value === 'bigint') return value
  throw new CorruptFileError(`Parquet footer member ${id} is not an integer`)
}

function optionalBytes(from: ThriftStruct, id: number): Uint8Array | undefined {
  const value = from.get(id)
  if (value === undefined || value instanceof Uint8Array) return value
  throw new CorruptFileError(`Parquet footer member ${id} is not binary`)
}

function optionalText(from: ThriftStruct, id: number): string | undefined {
  const value = optionalBytes(from, id)
  return value === undefined ? undefined : text(value)
}

const UTF8 = new TextDecoder()

function text(value: ThriftValue): string {
  if (value instanceof Uint8Array) return UTF8.decode(value)
  throw new CorruptFileError('a Parquet footer member is not text')
}

import { CorruptFileError } from '../spec/errors.ts'
import { decodeSingleValue, type SingleValue } from '../spec/single-value.ts'
import type { PrimitiveType } from '../spec/type.ts'
import type { ByteStrings } from './byte-pool.ts'
import type { StoredBounds } from './stored-bounds.ts'
import type { BoundsColumn } from './metrics-table.ts'

/** What a short text takes beside its letters. */
const TEXT_BYTES = 32

/** Stored bounds read as values of a type, and the memory that this takes beside them. */
export function typedBounds(
  type: PrimitiveType,
  lower: StoredBounds,
  upper: StoredBounds,
): { column: BoundsColumn; sizeBytes: number } {
  if (type.kind === 'string') return textBounds(lower, upper)
  const column = {
    lower: (row: number) => readBound(type, lower.at(row)),
    upper: (row: number) => readBound(type, upper.at(row)),
  }
  const dense = denseBounds(type, lower.all, upper.all)
  return dense === undefined
    ? { column, sizeBytes: 0 }
    : { column: { ...column, dense: dense.bounds }, sizeBytes: dense.sizeBytes }
}

function readBound(type: PrimitiveType, bytes: Uint8Array | undefined): SingleValue | undefined {
  if (bytes === undefined) return undefined
  try {
    const value = decodeSingleValue(type, bytes)
    return Number.isNaN(value) ? undefined : value
  } catch (error) {
    // What cannot be read bounds nothing; planning goes on without it.
    if (error instanceof CorruptFileError) return undefined
    throw error
  }
}

interface DenseBounds {
  readonly bounds: NonNullable<BoundsColumn['dense']>
  readonly sizeBytes: number
}

/** The platform is little-endian, as the stored form is, so the bytes of numbers are an array of them. */
function denseBounds(
  type: PrimitiveType,
  lower: ByteStrings | undefined,
  upper: ByteStrings | undefined,
): DenseBounds | undefined {
  if (lower === undefined || upper === undefined || lower.length === 0) return undefined
  if (lower.widthBytes !== upper.widthBytes) return undefined
  switch (type.kind) {
    case 'int':
    case 'date':
      return lower.widthBytes === 4 ? int32Bounds(lower, upper) : undefined
    case 'long':
      return lower.widthBytes === 4 ? widened(lower, upper) : longBounds(lower, upper)
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return longBounds(lower, upper)
    case 'double':
      return lower.widthBytes === 8 ? doubleBounds(lower, upper) : undefined
    default:
      return undefined
  }
}

function int32Bounds(lower: ByteStrings, upper: ByteStrings): DenseBounds {
  return { bounds: { lower: int32s(lower), upper: int32s(upper) }, sizeBytes: 0 }
}

function longBounds(lower: ByteStrings, upper: ByteStrings): DenseBounds | undefined {
  if (lower.widthBytes !== 8) return undefined
  return { bounds: { lower: int64s(lower), upper: int64s(upper) }, sizeBytes: 0 }
}

function widened(lower: ByteStrings, upper: ByteStrings): DenseBounds {
  const wide = (values: Int32Array): BigInt64Array => BigInt64Array.from(values, BigInt)
  return {
    bounds: { lower: wide(int32s(lower)), upper: wide(int32s(upper)) },
    sizeBytes: 2 * BigInt64Array.BYTES_PER_ELEMENT * lower.length,
  }
}

function doubleBounds(lower: ByteStrings, upper: ByteStrings): DenseBounds | undefined {
  const bounds = { lower: float64s(lower), upper: float64s(upper) }
  const isFinite = bounds.lower.every(Number.isFinite) && bounds.upper.every(Number.isFinite)
  return isFinite ? { bounds, sizeBytes: 0 } : undefined
}

function int32s({ pool, length }: ByteStrings): Int32Array {
  return new Int32Array(pool.buffer, pool.byteOffset, length)
}

function int64s({ pool, length }: ByteStrings): BigInt64Array {
  return new BigInt64Array(pool.buffer, pool.byteOffset, length)
}

function float64s({ pool, length }: ByteStrings): Float64Array {
  return new Float64Array(pool.buffer, pool.byteOffset, length)
}

/** Equal texts, of which there tend to be many, share one string; where there are few, each is decoded when it is asked for. */
function textBounds(
  lower: StoredBounds,
  upper: StoredBounds,
): { column: BoundsColumn; sizeBytes: number } {
  const [lowers, uppers] = [textsOf(lower), textsOf(upper)]
  return {
    column: { lower: lowers.at, upper: uppers.at },
    sizeBytes: lowers.sizeBytes + uppers.sizeBytes,
  }
}

interface Texts {
  at(this: void, row: number): SingleValue | undefined
  readonly sizeBytes: number
}

function textsOf(stored: StoredBounds): Texts {
  const type = { kind: 'string' } as const
  if (!stored.repeat()) return { at: (row) => readBound(type, stored.at(row)), sizeBytes: 0 }
  const { values } = stored
  const texts = Array.from({ length: values.length }, (_, index) =>
    readBound(type, values.at(index)),
  )
  return {
    at: (row) => texts[stored.indexAt(row)],
    sizeBytes: texts.length * TEXT_BYTES + values.pool.length,
  }
}

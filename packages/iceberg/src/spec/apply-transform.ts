import { civilDate } from './civil-date.ts'
import { floorDiv } from './date-time-text.ts'
import { InvalidInputError } from './errors.ts'
import { invariant } from './invariant.ts'
import { murmur3, murmur3Long } from './murmur3.ts'
import type { PartitionValue } from './partition-spec.ts'
import { minimalTwosComplement, uuidBytes } from './single-value.ts'
import type { SingleValue } from './single-value.ts'
import { printTransform } from './transform-text.ts'
import type { Transform } from './transform.ts'
import type { IcebergType } from './type.ts'

type TimeUnit = 'year' | 'month' | 'day' | 'hour'

const SECONDS_PER_DAY = 86_400n
const SECONDS_PER_HOUR = 3_600n

const UNITS_PER_SECOND: Readonly<Record<string, bigint>> = {
  timestamp: 1_000_000n,
  timestamptz: 1_000_000n,
  timestamp_ns: 1_000_000_000n,
  timestamptz_ns: 1_000_000_000n,
}
const BUCKET_KINDS = new Set<IcebergType['kind']>([
  'int',
  'long',
  'decimal',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
  'string',
  'uuid',
  'fixed',
  'binary',
])
const TRUNCATE_KINDS = new Set<IcebergType['kind']>(['int', 'long', 'decimal', 'string', 'binary'])
const TIMESTAMP_KINDS = new Set<IcebergType['kind']>([
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
])
const NOT_IDENTITY_KINDS = new Set<IcebergType['kind']>([
  'struct',
  'list',
  'map',
  'variant',
  'geometry',
  'geography',
])

/**
 * The partition value of a source value. Null gives null, `void` always does. Throws InvalidInputError for a transform
 * that is not known or does not take the type. Times before 1970 round down. Spec: Partition Transforms.
 */
export function applyTransform(
  transform: Transform,
  type: IcebergType,
  value: PartitionValue,
): PartitionValue {
  if (transform.kind === 'void' || value === null) return null
  if (!canTransform(transform, type)) {
    throw new InvalidInputError(
      `cannot apply ${printTransform(transform)} to a value of type ${type.kind}`,
    )
  }
  switch (transform.kind) {
    case 'identity':
      return value
    case 'bucket':
      return (bucketHash(type, value) & 0x7fffffff) % transform.bucketCount
    case 'truncate':
      return truncate(transform.width, value)
    case 'unknown-transform':
      return value
    default:
      return timeUnits(transform.kind, type, value)
  }
}

/** The type of a transform's values. Of an unknown transform it is string, which nothing relies on. */
export function transformResultType(transform: Transform, type: IcebergType): IcebergType {
  switch (transform.kind) {
    case 'identity':
    case 'truncate':
    case 'void':
      return type
    case 'day':
      return { kind: 'date' }
    case 'unknown-transform':
      return { kind: 'string' }
    default:
      return { kind: 'int' }
  }
}

/** Whether the transform takes source values of the type. An unknown transform takes none, `void` all. */
export function canTransform(transform: Transform, type: IcebergType): boolean {
  switch (transform.kind) {
    case 'identity':
      return !NOT_IDENTITY_KINDS.has(type.kind)
    case 'bucket':
      return BUCKET_KINDS.has(type.kind)
    case 'truncate':
      return TRUNCATE_KINDS.has(type.kind)
    case 'hour':
      return TIMESTAMP_KINDS.has(type.kind)
    case 'void':
      return true
    case 'unknown-transform':
      return false
    default:
      return type.kind === 'date' || TIMESTAMP_KINDS.has(type.kind)
  }
}

/** The 32-bit hash that buckets are made from. Spec: Appendix B. */
export function bucketHash(type: IcebergType, value: SingleValue): number {
  switch (typeof value) {
    case 'number':
      return murmur3Long(BigInt(value))
    case 'bigint':
      if (type.kind === 'decimal') return murmur3(minimalTwosComplement(value))
      return murmur3Long(type.kind.endsWith('_ns') ? floorDiv(value, 1000n) : value)
    case 'string':
      return murmur3(type.kind === 'uuid' ? uuidBytes(value) : new TextEncoder().encode(value))
    default:
      invariant(value instanceof Uint8Array, `a ${type.kind} value cannot be hashed`)
      return murmur3(value)
  }
}

function truncate(width: number, value: SingleValue): SingleValue {
  switch (typeof value) {
    case 'number':
      return value - (((value % width) + width) % width)
    case 'bigint':
      return floorDiv(value, BigInt(width)) * BigInt(width)
    case 'string':
      return firstCodePoints(value, width)
    default:
      invariant(value instanceof Uint8Array, 'a boolean cannot be truncated')
      return value.length <= width ? value : value.slice(0, width)
  }
}

/** The first `count` code points of a text, never half of one. */
export function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text
  let end = 0
  for (let taken = 0; taken < count && end < text.length; taken++) {
    end += Number(text.codePointAt(end)) > 0xffff ? 2 : 1
  }
  return text.slice(0, end)
}

function timeUnits(unit: TimeUnit, type: IcebergType, value: SingleValue): number {
  const seconds = epochSeconds(type, value)
  if (unit === 'hour') return Number(floorDiv(seconds, SECONDS_PER_HOUR))
  const days = Number(floorDiv(seconds, SECONDS_PER_DAY))
  if (unit === 'day') return days
  const { year, month } = civilDate(days)
  return unit === 'year' ? year - 1970 : (year - 1970) * 12 + month - 1
}

function epochSeconds(type: IcebergType, value: SingleValue): bigint {
  if (typeof value === 'number') return BigInt(value) * SECONDS_PER_DAY
  const unitsPerSecond = UNITS_PER_SECOND[type.kind]
  invariant(typeof value === 'bigint' && unitsPerSecond !== undefined, `${type.kind} is not a time`)
  return floorDiv(value, unitsPerSecond)
}

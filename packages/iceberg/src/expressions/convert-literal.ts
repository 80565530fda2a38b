import { floorDiv, parseDate, parseTimestamp } from '../spec/date-time-text.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { assertNever } from '../spec/invariant.ts'
import { JSON_NUMBER_LENGTH_MAX } from '../spec/json.ts'
import { decodeJsonValue, encodeJsonValue } from '../spec/json-single-value.ts'
import type { JsonValue } from '../spec/json-value.ts'
import type { SingleValue } from '../spec/single-value.ts'
import { printPrimitiveType } from '../spec/type-json.ts'
import type { PrimitiveType } from '../spec/type.ts'
import type { Literal } from './expression.ts'

/**
 * A literal as a value of the type that it is compared with. `between`: the type has no such value, and `value` is the
 * greatest one below it. `above` and `below`: it lies beyond all finite values of the type.
 */
export type ConvertedLiteral =
  | { readonly place: 'at' | 'between'; readonly value: SingleValue }
  | { readonly place: 'above' | 'below' }

interface Range {
  readonly min: bigint
  readonly max: bigint
}

const INT_RANGE: Range = { min: -(2n ** 31n), max: 2n ** 31n - 1n }
const LONG_RANGE: Range = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const NANOS_PER_MICRO = 1_000n
const NANOS_PER_DAY = 86_400_000_000_000n
const TIME_RANGE: Range = { min: 0n, max: NANOS_PER_DAY / NANOS_PER_MICRO - 1n }
const NANOS_PER_MINUTE = 60_000_000_000n
const DATE = { kind: 'date' } as const
const TIME = { kind: 'time' } as const
const DECIMAL_TEXT = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/
const INFINITIES: ReadonlyMap<JsonValue, number> = new Map([
  ['Infinity', Infinity],
  ['+Infinity', Infinity],
  ['-Infinity', -Infinity],
])

/**
 * The literal as a value of `type`. In JSON it is what the single-value form has: numbers for numbers, text for decimals, dates,
 * times, UUIDs, and hexadecimal digits for bytes. Engines send more, which is taken as well: text for numbers, numbers for
 * decimals, dates (days) and times (microseconds, also for nanosecond types). Nothing is rounded but numbers against floats.
 * Throws InvalidInputError for null, NaN, and what cannot be of the type. Spec: Expressions, Constant values.
 */
export function convertLiteral(
  type: PrimitiveType,
  literal: Literal,
  path: string,
): ConvertedLiteral {
  return convertJson(type, untyped(literal, path), path)
}

/** The JSON of a literal that says its own type, in a form that means the same to a column of another type. */
function untyped({ json, type }: Literal, path: string): JsonValue {
  if (type === undefined) return json
  const own = convertJson(type, json, path)
  if (own.place !== 'at') return refuse(json, type, path)
  return typeof own.value === 'number' && type.kind !== 'int' && type.kind !== 'date'
    ? own.value
    : encodeJsonValue(type, own.value)
}

function convertJson(type: PrimitiveType, json: JsonValue, path: string): ConvertedLiteral {
  if (json === null) {
    throw new InvalidInputError(
      `expected ${printPrimitiveType(type)}, got null: use is-null to find nulls`,
      path,
    )
  }
  switch (type.kind) {
    case 'boolean':
      return at(BOOLEANS.get(json) ?? refuse(json, type, path))
    case 'int':
    case 'long':
      return convertWhole(type.kind, json, path)
    case 'float':
    case 'double':
      return convertFloat(type.kind, json, path)
    case 'decimal':
      return placed(scaled(json, type, path))
    case 'date':
      return convertDate(json, path)
    case 'time':
      return convertTime(json, path)
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return convertTimestamp(type.kind, json, path)
    case 'string':
    case 'uuid':
    case 'fixed':
    case 'binary':
      return at(decodeJsonValue(type, json, path))
    case 'unknown':
    case 'variant':
    case 'geometry':
    case 'geography':
      throw new InvalidInputError(
        `cannot compare type ${type.kind} with a literal: expected is-null or not-null`,
        path,
      )
    default:
      return assertNever(type, 'type')
  }
}

const BOOLEANS: ReadonlyMap<JsonValue, boolean> = new Map<JsonValue, boolean>([
  [true, true],
  [false, false],
  ['true', true],
  ['false', false],
])

function at(value: SingleValue): ConvertedLiteral {
  return { place: 'at', value }
}

/** A number of units, rounded down. */
interface Whole {
  readonly units: bigint
  readonly isExact: boolean
}

function placed({ units, isExact }: Whole): ConvertedLiteral {
  return { place: isExact ? 'at' : 'between', value: units }
}

function placedWithin({ units, isExact }: Whole, { min, max }: Range): ConvertedLiteral {
  if (units > max) return { place: 'above' }
  // What lies between the least value and the one below it is below all values, too.
  return units < min ? { place: 'below' } : placed({ units, isExact })
}

function asNumber(converted: ConvertedLiteral): ConvertedLiteral {
  return 'value' in converted ? { ...converted, value: Number(converted.value) } : converted
}

function convertWhole(
  kind: 'int' | 'long' | 'date',
  json: JsonValue,
  path: string,
): ConvertedLiteral {
  const whole = scaled(json, { kind }, path)
  if (kind === 'long') return placedWithin(whole, LONG_RANGE)
  return asNumber(placedWithin(whole, INT_RANGE))
}

/** A number, as a number or as text, times 10^scale of the type. */
function scaled(json: JsonValue, type: PrimitiveType, path: string): Whole {
  const scale = type.kind === 'decimal' ? type.scale : 0
  if (typeof json === 'bigint') return { units: json * 10n ** BigInt(scale), isExact: true }
  const isNumber = typeof json === 'number' || typeof json === 'string'
  const text = isNumber ? String(json) : ''
  const match = text.length > JSON_NUMBER_LENGTH_MAX ? null : DECIMAL_TEXT.exec(text)
  if (match === null) return refuse(json, type, path)
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n)
  const shift = scale - fraction.length + Number(exponent)
  if (shift >= 0) return { units: digits * 10n ** BigInt(shift), isExact: true }
  const divisor = 10n ** BigInt(-shift)
  return { units: floorDiv(digits, divisor), isExact: digits % divisor === 0n }
}

/** The nearest value of the type, as all engines take it: a float in JSON has the digits of the float, not of the double. */
function convertFloat(kind: 'float' | 'double', json: JsonValue, path: string): ConvertedLiteral {
  const infinity = INFINITIES.get(json)
  if (infinity !== undefined) return at(infinity)
  if (typeof json === 'number' && !Number.isFinite(json)) {
    return Number.isNaN(json) ? refuse(json, { kind }, path) : at(json)
  }
  const isNumber = typeof json === 'bigint' || typeof json === 'number'
  const isText = typeof json === 'string' && DECIMAL_TEXT.test(json)
  const double = isNumber || isText ? Number(json) : refuse(json, { kind }, path)
  const rounded = kind === 'float' ? Math.fround(double) : double
  if (Number.isFinite(rounded)) return at(rounded)
  return { place: rounded > 0 ? 'above' : 'below' }
}

function convertDate(json: JsonValue, path: string): ConvertedLiteral {
  if (typeof json === 'bigint') return convertWhole('date', json, path)
  const text = paddedYear(textOf(json, DATE, path))
  const days = parseDate(text)
  if (days !== undefined) return convertWhole('date', BigInt(days), path)
  const nanos = parseTimestamp(text, 9) ?? refuse(json, DATE, path)
  return asNumber(placedWithin(divided(nanos, NANOS_PER_DAY), INT_RANGE))
}

function convertTime(json: JsonValue, path: string): ConvertedLiteral {
  if (typeof json === 'bigint') return placedWithin({ units: json, isExact: true }, TIME_RANGE)
  const text = textOf(json, TIME, path)
  const nanos = parseTimestamp(`1970-01-01T${text}`, 9) ?? refuse(json, TIME, path)
  return placed(divided(nanos, NANOS_PER_MICRO))
}

type TimestampKind = 'timestamp' | 'timestamptz' | 'timestamp_ns' | 'timestamptz_ns'

function convertTimestamp(kind: TimestampKind, json: JsonValue, path: string): ConvertedLiteral {
  const nanos =
    typeof json === 'bigint'
      ? json * NANOS_PER_MICRO
      : (parseNanos(kind, paddedYear(textOf(json, { kind }, path))) ?? refuse(json, { kind }, path))
  const isNanos = kind === 'timestamp_ns' || kind === 'timestamptz_ns'
  return placedWithin(divided(nanos, isNanos ? 1n : NANOS_PER_MICRO), LONG_RANGE)
}

/** Nanoseconds since the epoch. Of a type without a zone the text has none, and a date is its midnight. */
function parseNanos(kind: TimestampKind, text: string): bigint | undefined {
  if (kind === 'timestamp' || kind === 'timestamp_ns') {
    const days = parseDate(text)
    return days === undefined ? parseTimestamp(text, 9) : BigInt(days) * NANOS_PER_DAY
  }
  // @NOTE PyIceberg leaves the zone out where it is UTC.
  const match = /^(.+?)(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d))?$/.exec(text)
  const [, local = '', sign, hours = '0', minutes = '0'] = match ?? []
  const offset = BigInt(hours) * 60n + BigInt(minutes)
  const nanos = parseTimestamp(local, 9)
  return nanos === undefined
    ? undefined
    : nanos - (sign === '-' ? -offset : offset) * NANOS_PER_MINUTE
}

/** @NOTE Java writes years beyond four digits without zeros before them. */
function paddedYear(text: string): string {
  return text.replace(/^([+-])(\d{4,5})-/, (_, sign: string, year: string) => {
    return `${sign}${year.padStart(6, '0')}-`
  })
}

function divided(units: bigint, divisor: bigint): Whole {
  return { units: floorDiv(units, divisor), isExact: units % divisor === 0n }
}

function textOf(json: JsonValue, type: PrimitiveType, path: string): string {
  return typeof json === 'string' ? json : refuse(json, type, path)
}

const SHOWN_LENGTH_MAX = 100

function refuse(json: JsonValue, type: PrimitiveType, path: string): never {
  const isNested = typeof json === 'object' && json !== null
  const shown = isNested ? 'a list or an object' : String(json).slice(0, SHOWN_LENGTH_MAX)
  throw new InvalidInputError(`expected ${printPrimitiveType(type)}, got ${shown}`, path)
}

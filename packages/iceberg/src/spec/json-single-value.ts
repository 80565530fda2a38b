import { bool, int, list, long, object, refuse, text } from './decode.ts'
import {
  parseDate,
  parseTime,
  parseTimestamp,
  printDate,
  printTime,
  printTimestamp,
} from './date-time-text.ts'
import { InvalidInputError } from './errors.ts'
import { assertNever, invariant } from './invariant.ts'
import type { JsonValue } from './json-value.ts'
import type { SingleValue } from './single-value.ts'
import { printPrimitiveType } from './type-json.ts'
import type {
  IcebergType,
  ListType,
  MapType,
  PrimitiveType,
  SimpleTypeKind,
  StructType,
} from './type.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Reads the JSON form of a primitive value. Spec: Appendix D, JSON single-value serialization. Hex digits and UUIDs
 * may come in any case, timestamps with fewer digits, `Z` for `+00:00`. Throws InvalidInputError naming the path.
 */
export function decodeJsonValue(type: PrimitiveType, json: JsonValue, path: string): SingleValue {
  switch (type.kind) {
    case 'boolean':
      return bool(json, path)
    case 'int':
      return int(json, path)
    case 'long':
      return long(json, path)
    case 'float':
    case 'double':
      if (typeof json === 'bigint') return Number(json)
      return typeof json === 'number' ? json : refuse(type.kind, json, path)
    case 'decimal':
      return decodeDecimal(type, text(json, path), path)
    case 'string':
      return text(json, path)
    case 'fixed':
      return decodeFixed(type.lengthBytes, text(json, path), path)
    case 'binary':
      return decodeHex(text(json, path), path)
    case 'unknown':
    case 'variant':
    case 'geometry':
    case 'geography':
      throw new InvalidInputError(`${type.kind} has no JSON value but null`, path)
    default:
      return decodeText(type.kind, text(json, path), path)
  }
}

/** The JSON form of a primitive value. Inverse of decodeJsonValue. Throws InvariantError for types without one. */
export function encodeJsonValue(type: PrimitiveType, value: SingleValue): JsonValue {
  switch (type.kind) {
    case 'int':
      return BigInt(value as number)
    case 'date':
      return printDate(value as number)
    case 'time':
      return printTime(value as bigint)
    case 'timestamp':
      return printTimestamp(value as bigint, 6)
    case 'timestamptz':
      return `${printTimestamp(value as bigint, 6)}+00:00`
    case 'timestamp_ns':
      return printTimestamp(value as bigint, 9)
    case 'timestamptz_ns':
      return `${printTimestamp(value as bigint, 9)}+00:00`
    case 'decimal':
      return printDecimal(value as bigint, type.scale)
    default:
      if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
      invariant(typeof value !== 'number' || Number.isFinite(value), `JSON cannot hold ${value}`)
      return value
  }
}

/**
 * Throws InvalidInputError unless the JSON is the single-value form of the type, nested types included. Struct members
 * are keyed by field id; maps are `{"keys": […], "values": […]}`. Null is allowed for optional members.
 */
export function checkJsonValue(type: IcebergType, json: JsonValue, path: string): void {
  switch (type.kind) {
    case 'struct':
      return checkStruct(type, json, path)
    case 'list':
      return checkList(type, json, path)
    case 'map':
      return checkMap(type, json, path)
    default:
      decodeJsonValue(type, json, path)
  }
}

/** The text of a decimal from its unscaled value: 1420 with scale 2 is `14.20`. */
export function printDecimal(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : ''
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  if (scale === 0) return sign + digits
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

function checkStruct(type: StructType, json: JsonValue, path: string): void {
  const raw = object(json, path)
  for (const field of type.fields) {
    const value = raw[String(field.id)]
    const isAbsent = value === undefined || value === null
    if (!isAbsent) checkJsonValue(field.type, value, `${path}.${field.id}`)
    else if (field.required && field.initialDefault === undefined && Object.keys(raw).length > 0) {
      throw new InvalidInputError('a required member is missing', `${path}.${field.id}`)
    }
  }
}

function checkList(type: ListType, json: JsonValue, path: string): void {
  list(json, path, (item, itemPath) => {
    if (item === null && !type.elementRequired) return
    checkJsonValue(type.element, item ?? null, itemPath)
  })
}

function checkMap(type: MapType, json: JsonValue, path: string): void {
  const raw = object(json, path)
  const keys = list(raw['keys'], `${path}.keys`, (key, keyPath) =>
    checkJsonValue(type.key, key ?? null, keyPath),
  )
  const values = list(raw['values'], `${path}.values`, (value, valuePath) => {
    if (value === null && !type.valueRequired) return
    checkJsonValue(type.value, value ?? null, valuePath)
  })
  if (keys.length !== values.length)
    throw new InvalidInputError('expected as many values as keys', path)
}

type TextKind = Extract<SimpleTypeKind, 'date' | 'time' | `timestamp${string}` | 'uuid'>

function decodeText(kind: TextKind, value: string, path: string): SingleValue {
  const parsed = parseText(kind, value)
  if (parsed !== undefined) return parsed
  throw new InvalidInputError(`"${value}" is not a ${kind}`, path)
}

function parseText(kind: TextKind, value: string): SingleValue | undefined {
  switch (kind) {
    case 'date':
      return parseDate(value)
    case 'time':
      return parseTime(value)
    case 'timestamp':
      return parseTimestamp(value, 6)
    case 'timestamp_ns':
      return parseTimestamp(value, 9)
    case 'timestamptz':
      return parseTimestamp(withoutUtc(value), 6)
    case 'timestamptz_ns':
      return parseTimestamp(withoutUtc(value), 9)
    case 'uuid':
      return UUID.test(value) ? value.toLowerCase() : undefined
    default:
      return assertNever(kind, 'type')
  }
}

/** The text before its UTC mark; a text without one cannot be parsed. */
function withoutUtc(value: string): string {
  const match = /^(.*)(?:[+-]00:00|Z)$/.exec(value)
  return match === null ? '' : String(match[1])
}

function decodeDecimal(
  type: Extract<PrimitiveType, { kind: 'decimal' }>,
  value: string,
  path: string,
): bigint {
  const match = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(value)
  const fraction = match?.[3] ?? ''
  if (match === null || fraction.length !== type.scale) {
    throw new InvalidInputError(`"${value}" is not a ${printPrimitiveType(type)}`, path)
  }
  const digits = `${match[2]}${fraction}`.replace(/^0+/, '')
  if (digits.length > type.precision) {
    throw new InvalidInputError(`"${value}" does not fit ${printPrimitiveType(type)}`, path)
  }
  return BigInt(`${digits === '' ? '0' : digits}`) * (match[1] === '-' ? -1n : 1n)
}

function decodeFixed(lengthBytes: number, value: string, path: string): Uint8Array {
  const bytes = decodeHex(value, path)
  if (bytes.length === lengthBytes) return bytes
  throw new InvalidInputError(`expected ${lengthBytes} bytes, got ${bytes.length}`, path)
}

function decodeHex(value: string, path: string): Uint8Array {
  if (!/^(?:[0-9a-f]{2})*$/i.test(value))
    throw new InvalidInputError(`"${value}" is not hexadecimal`, path)
  return Uint8Array.from(Buffer.from(value, 'hex'))
}

import { InvalidInputError } from './errors.ts'
import { isJsonArray, setMember } from './json.ts'
import type { JsonObject, JsonValue } from './json-value.ts'

/** Reads one value; `path` names it in errors, for example `snapshots[3].sequence-number`. */
export type Decode<T> = (value: JsonValue | undefined, path: string) => T

/** A mutable copy of a model type, for decoders that fill optional members one by one. */
export type Filled<T> = { -readonly [K in keyof T]: T[K] }

const INT_MAX = 2_147_483_647n
const INT_MIN = -2_147_483_648n
const LONG_MAX = 9_223_372_036_854_775_807n
const LONG_MIN = -9_223_372_036_854_775_808n

/** A JSON object. Throws InvalidInputError otherwise, like every function of this file. */
export function object(value: JsonValue | undefined, path: string): JsonObject {
  if (typeof value === 'object' && value !== null && !isJsonArray(value)) return value
  return refuse('object', value, path)
}

/** A list, each element read by `decodeItem`. */
export function list<T>(value: JsonValue | undefined, path: string, decodeItem: Decode<T>): T[] {
  if (!isJsonArray(value)) return refuse('list', value, path)
  return value.map((item, index) => decodeItem(item, `${path}[${index}]`))
}

/** A string. */
export function text(value: JsonValue | undefined, path: string): string {
  return typeof value === 'string' ? value : refuse('string', value, path)
}

/** A 64-bit signed integer. An integer-valued float such as `5.0` or `5e18` is refused: its digits may be lost. */
export function long(value: JsonValue | undefined, path: string): bigint {
  if (typeof value !== 'bigint') return refuse('long', value, path)
  if (value > LONG_MAX || value < LONG_MIN)
    throw new InvalidInputError(`${value} is not a 64-bit integer`, path)
  return value
}

/** A 32-bit signed integer. */
export function int(value: JsonValue | undefined, path: string): number {
  if (typeof value !== 'bigint') return refuse('int', value, path)
  if (value > INT_MAX || value < INT_MIN)
    throw new InvalidInputError(`${value} is not a 32-bit integer`, path)
  return Number(value)
}

/** A 32-bit integer that is not negative. */
export function nonNegativeInt(value: JsonValue | undefined, path: string): number {
  const decoded = int(value, path)
  if (decoded < 0) throw new InvalidInputError(`expected a number from 0, got ${decoded}`, path)
  return decoded
}

/** A 64-bit integer that is not negative. */
export function nonNegativeLong(value: JsonValue | undefined, path: string): bigint {
  const decoded = long(value, path)
  if (decoded < 0n) throw new InvalidInputError(`expected a number from 0, got ${decoded}`, path)
  return decoded
}

/** Milliseconds (an instant or a duration) as a safe integer. */
export function timestampMs(value: JsonValue | undefined, path: string): number {
  const decoded = Number(long(value, path))
  if (!Number.isSafeInteger(decoded)) throw new InvalidInputError(`${value} is out of range`, path)
  return decoded
}

/** A boolean. */
export function bool(value: JsonValue | undefined, path: string): boolean {
  return typeof value === 'boolean' ? value : refuse('boolean', value, path)
}

/** The decoded value, or `undefined` when it is absent or null. */
export function optional<T>(
  value: JsonValue | undefined,
  path: string,
  decode: Decode<T>,
): T | undefined {
  return value === undefined || value === null ? undefined : decode(value, path)
}

/** An object whose members are all strings. */
export function stringMap(value: JsonValue | undefined, path: string): Record<string, string> {
  const raw = object(value, path)
  const map: Record<string, string> = {}
  for (const name of Object.keys(raw)) {
    const member = raw[name]
    setMember(
      map,
      name,
      typeof member === 'string' ? member : refuse('string', member, `${path}.${name}`),
    )
  }
  return map
}

/** The members that are not in `known`, or `undefined` when there are none. */
export function extraMembers(raw: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let extra: Record<string, JsonValue | undefined> | undefined
  for (const name of Object.keys(raw)) {
    if (known.has(name)) continue
    extra ??= {}
    setMember(extra, name, raw[name])
  }
  return extra
}

/** Throws InvalidInputError `path: expected <what>, got <kind of value>`. */
export function refuse(expected: string, value: JsonValue | undefined, path: string): never {
  throw new InvalidInputError(`expected ${expected}, got ${kindOf(value)}`, path)
}

function kindOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (isJsonArray(value)) return 'list'
  if (typeof value === 'bigint') return 'integer'
  return typeof value === 'number' ? 'number with a point or exponent' : typeof value
}

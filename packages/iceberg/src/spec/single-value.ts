import { CorruptFileError } from './errors.ts'
import { assertNever, invariant } from './invariant.ts'
import type { PartitionValue } from './partition-spec.ts'
import { printPrimitiveType } from './type-json.ts'
import type { IcebergType, PrimitiveType } from './type.ts'

/** A value that is not null, in the form that PartitionValue describes. */
export type SingleValue = Exclude<PartitionValue, null>

const MICROS_PER_DAY = 86_400_000_000n
const NANOS_PER_DAY = 86_400_000_000_000n

/**
 * The binary form of a value. Spec: Appendix D, Binary single-value serialization. Throws InvariantError when the
 * value has another type's form, or the type has no binary form (unknown, variant, struct, list, map).
 */
export function encodeSingleValue(type: IcebergType, value: SingleValue): Uint8Array {
  switch (type.kind) {
    case 'boolean':
      return Uint8Array.of(expectForm(value, 'boolean', type) ? 1 : 0)
    case 'int':
    case 'date':
      return withView(4, (view) => view.setInt32(0, expectForm(value, 'number', type), true))
    case 'float':
      return withView(4, (view) => view.setFloat32(0, expectForm(value, 'number', type), true))
    case 'double':
      return withView(8, (view) => view.setFloat64(0, expectForm(value, 'number', type), true))
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return withView(8, (view) => view.setBigInt64(0, expectForm(value, 'bigint', type), true))
    case 'string':
      return new TextEncoder().encode(expectForm(value, 'string', type))
    case 'uuid':
      return uuidBytes(expectForm(value, 'string', type))
    case 'decimal':
      return minimalTwosComplement(expectForm(value, 'bigint', type))
    case 'fixed':
    case 'binary':
    case 'geometry':
    case 'geography':
      invariant(value instanceof Uint8Array, `${type.kind} value is not bytes`)
      return value
    case 'unknown':
    case 'variant':
    case 'struct':
    case 'list':
    case 'map':
      return invariantFailure(`${type.kind} has no binary form`)
    default:
      return assertNever(type, 'type')
  }
}

/**
 * The value in its binary form. Bytes written before the column was promoted keep the old type's length: int bytes
 * of a long, float bytes of a double, date bytes of a timestamp are converted. Throws CorruptFileError for an
 * impossible length, text that is not UTF-8, or a type without a binary form. Spec: Appendix D.
 */
export function decodeSingleValue(type: IcebergType, bytes: Uint8Array): SingleValue {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (type.kind) {
    case 'boolean':
      return checkLength(type, bytes, 1) && bytes[0] !== 0
    case 'int':
    case 'date':
      checkLength(type, bytes, 4)
      return view.getInt32(0, true)
    case 'float':
      checkLength(type, bytes, 4)
      return view.getFloat32(0, true)
    case 'double':
      if (bytes.length === 4) return view.getFloat32(0, true)
      checkLength(type, bytes, 8)
      return view.getFloat64(0, true)
    case 'long':
      if (bytes.length === 4) return BigInt(view.getInt32(0, true))
      checkLength(type, bytes, 8)
      return view.getBigInt64(0, true)
    case 'timestamp':
      if (bytes.length === 4) return BigInt(view.getInt32(0, true)) * MICROS_PER_DAY
      checkLength(type, bytes, 8)
      return view.getBigInt64(0, true)
    case 'timestamp_ns':
      if (bytes.length === 4) return BigInt(view.getInt32(0, true)) * NANOS_PER_DAY
      checkLength(type, bytes, 8)
      return view.getBigInt64(0, true)
    case 'time':
    case 'timestamptz':
    case 'timestamptz_ns':
      checkLength(type, bytes, 8)
      return view.getBigInt64(0, true)
    default:
      return decodeVariableLength(type, bytes)
  }
}

/**
 * Orders two values of one type as Iceberg does: negative when `a` comes first. −0 is below +0 and NaN above
 * everything; strings order by code point, which is their UTF-8 order; bytes and UUIDs are unsigned.
 */
export function compareValues(type: IcebergType, a: SingleValue, b: SingleValue): number {
  if (typeof a === 'number' && typeof b === 'number') return compareNumbers(a, b)
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b)
  invariant(
    typeof a === typeof b && (typeof a === 'bigint' || typeof a === 'boolean'),
    `cannot compare ${typeof a} with ${typeof b} as ${type.kind}`,
  )
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Unsigned byte order; a prefix comes first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const difference = (a[index] as number) - (b[index] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** The shortest big-endian two's complement bytes of an integer, at least one byte. */
export function minimalTwosComplement(value: bigint): Uint8Array {
  let byteCount = 1
  while (BigInt.asIntN(byteCount * 8, value) !== value) byteCount++
  const bytes = new Uint8Array(byteCount)
  let rest = value
  for (let index = byteCount - 1; index >= 0; index--) {
    bytes[index] = Number(rest & 0xffn)
    rest >>= 8n
  }
  return bytes
}

/** The integer of big-endian two's complement bytes of any length; 0 for none. */
export function fromTwosComplement(bytes: Uint8Array): bigint {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return BigInt.asIntN(bytes.length * 8, value)
}

/** The 16 big-endian bytes of a UUID text. Throws InvariantError when it is not one. */
export function uuidBytes(text: string): Uint8Array {
  const hex = text.replaceAll('-', '')
  invariant(/^[0-9a-f]{32}$/i.test(hex), `"${text}" is not a UUID`)
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}

function decodeVariableLength(
  type: Exclude<IcebergType, { kind: 'boolean' | 'int' | 'long' | 'float' | 'double' }>,
  bytes: Uint8Array,
): SingleValue {
  switch (type.kind) {
    case 'string':
      return decodeUtf8(bytes)
    case 'uuid':
      checkLength(type, bytes, 16)
      return uuidText(bytes)
    case 'decimal':
      if (bytes.length === 0) throw new CorruptFileError('a decimal value has no bytes')
      return fromTwosComplement(bytes)
    case 'fixed':
    case 'binary':
    case 'geometry':
    case 'geography':
      return bytes
    default:
      throw new CorruptFileError(
        `cannot decode a value of type ${type.kind}: it has no binary form`,
      )
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new CorruptFileError('a string value is not UTF-8', { cause })
  }
}

function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function checkLength(type: PrimitiveType, bytes: Uint8Array, expected: number): true {
  if (bytes.length === expected) return true
  throw new CorruptFileError(
    `cannot decode a ${printPrimitiveType(type)} value: expected ${expected} bytes, got ${bytes.length}`,
  )
}

function compareNumbers(a: number, b: number): number {
  if (a < b) return -1
  if (a > b) return 1
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1
  if (Number.isNaN(b)) return -1
  if (a !== 0) return 0
  return Number(Object.is(b, -0)) - Number(Object.is(a, -0))
}

function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const unitA = a.charCodeAt(index)
    const unitB = b.charCodeAt(index)
    if (unitA !== unitB) return codePointRank(unitA) - codePointRank(unitB)
  }
  return a.length - b.length
}

/** Surrogates stand for code points above all others, but their UTF-16 units are below U+E000. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

interface Forms {
  readonly boolean: boolean
  readonly number: number
  readonly bigint: bigint
  readonly string: string
}

function expectForm<F extends keyof Forms>(
  value: SingleValue,
  form: F,
  type: IcebergType,
): Forms[F] {
  invariant(typeof value === form, `${type.kind} value is ${typeof value}, expected ${form}`)
  return value as Forms[F]
}

function withView(byteCount: number, fill: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(byteCount)
  fill(new DataView(bytes.buffer))
  return bytes
}

function invariantFailure(sentence: string): never {
  invariant(false, sentence)
}

import type { PartitionValue } from '../spec/partition-spec.ts'
import type { SingleValue } from '../spec/single-value.ts'
import type { PrimitiveType } from '../spec/type.ts'
import { compareBytes, compareValues } from '../spec/single-value.ts'

/** Values that can be compared with one another. */
export type ValueForm = 'numeric' | 'boolean' | 'string' | 'bytes'

const STRING = { kind: 'string' } as const

/** The form of a value; undefined for null and for a value that is missing. */
export function formOf(value: PartitionValue | undefined): ValueForm | undefined {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return 'numeric'
    case 'boolean':
      return 'boolean'
    case 'string':
      return 'string'
    default:
      return value instanceof Uint8Array ? 'bytes' : undefined
  }
}

/** The form of a type's values; undefined for types whose values are not compared. */
export function formOfType(type: PrimitiveType): ValueForm | undefined {
  switch (type.kind) {
    case 'boolean':
      return 'boolean'
    case 'string':
    case 'uuid':
      return 'string'
    case 'fixed':
    case 'binary':
      return 'bytes'
    case 'unknown':
    case 'variant':
    case 'geometry':
    case 'geography':
      return undefined
    default:
      return 'numeric'
  }
}

/**
 * Orders two values of one form, none of them NaN: numbers as in arithmetic, so −0 is +0 and a number may stand beside a
 * bigint; strings by code point; bytes unsigned.
 */
export function compareLoosely(a: SingleValue, b: SingleValue): number {
  if (a === b) return 0
  if (typeof a === 'string' && typeof b === 'string') return compareValues(STRING, a, b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b)
  if (a < b) return -1
  return a > b ? 1 : 0
}

/** The same with −0 below +0, as bounds are ordered. Spec: Bounds. */
export function compareSigned(a: SingleValue, b: SingleValue): number {
  const order = compareLoosely(a, b)
  if (order !== 0 || a !== 0 || b !== 0) return order
  return Number(Object.is(b, -0)) - Number(Object.is(a, -0))
}

/** The index of the first of ascending values that is not below `value`; their number when all are. */
export function firstNotBelow(ascending: readonly SingleValue[], value: SingleValue): number {
  let from = 0
  let to = ascending.length
  while (from < to) {
    const middle = (from + to) >>> 1
    // `as`: reason: `middle` is below the length.
    if (compareLoosely(ascending[middle] as SingleValue, value) < 0) from = middle + 1
    else to = middle
  }
  return from
}

/** Whether `text` starts with `prefix`; bytes as well. */
export function startsWith(value: SingleValue, prefix: SingleValue): boolean {
  if (typeof value === 'string' && typeof prefix === 'string') return value.startsWith(prefix)
  if (!(value instanceof Uint8Array) || !(prefix instanceof Uint8Array)) return false
  return (
    value.length >= prefix.length && compareBytes(value.subarray(0, prefix.length), prefix) === 0
  )
}

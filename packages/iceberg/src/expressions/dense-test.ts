import type { BoundsColumn } from '../scan/metrics-table.ts'
import type { SingleValue } from '../spec/single-value.ts'
import type { LeafPredicate } from './expression.ts'

type DenseBounds = NonNullable<BoundsColumn['dense']>
type DenseValues = DenseBounds['lower']

/**
 * The same answers as from the bounds of each row, without a call or an allocation for a row: 64-bit integers are compared as two
 * halves. Undefined where this way does not fit the predicate. Bounds in the wrong order are not looked for.
 */
export function denseTest(
  leaf: LeafPredicate,
  { lower, upper }: DenseBounds,
): ((row: number) => boolean) | undefined {
  if (leaf.kind !== 'compare' || leaf.term.transform.kind !== 'identity') return undefined
  const { operator, literal } = leaf
  switch (operator) {
    case 'lt':
      return below(lower, literal)
    case 'lt-eq':
      return notAbove(lower, literal)
    case 'gt':
      return above(upper, literal)
    case 'gt-eq':
      return notBelow(upper, literal)
    case 'eq': {
      const isStarted = notAbove(lower, literal)
      const isOpen = notBelow(upper, literal)
      if (isStarted === undefined || isOpen === undefined) return undefined
      return (row) => isStarted(row) && isOpen(row)
    }
    default:
      return undefined
  }
}

type DenseTest = ((row: number) => boolean) | undefined

function below(values: DenseValues, literal: SingleValue): DenseTest {
  if (values instanceof BigInt64Array)
    return bigintTest(values, literal, { above: false, at: false })
  // Bounds order −0 below +0.
  if (typeof literal !== 'number' || literal === 0) return zeroTest(values, literal, -1)
  return (row) => numberAt(values, row) < literal
}

function notAbove(values: DenseValues, literal: SingleValue): DenseTest {
  if (values instanceof BigInt64Array)
    return bigintTest(values, literal, { above: false, at: true })
  if (typeof literal !== 'number') return undefined
  return (row) => numberAt(values, row) <= literal
}

function above(values: DenseValues, literal: SingleValue): DenseTest {
  if (values instanceof BigInt64Array)
    return bigintTest(values, literal, { above: true, at: false })
  if (typeof literal !== 'number' || literal === 0) return zeroTest(values, literal, 1)
  return (row) => numberAt(values, row) > literal
}

function notBelow(values: DenseValues, literal: SingleValue): DenseTest {
  if (values instanceof BigInt64Array) return bigintTest(values, literal, { above: true, at: true })
  if (typeof literal !== 'number') return undefined
  return (row) => numberAt(values, row) >= literal
}

function zeroTest(
  values: Float64Array | Int32Array,
  literal: SingleValue,
  side: 1 | -1,
): DenseTest {
  if (literal !== 0) return undefined
  const isLiteralNegative = Object.is(literal, -0)
  return (row) => {
    const value = numberAt(values, row)
    if (value !== 0) return value * side > 0
    const isNegative = Object.is(value, -0)
    return side < 0 ? isNegative && !isLiteralNegative : isLiteralNegative && !isNegative
  }
}

/** Compares the halves: the high one signed, the low one unsigned. */
function bigintTest(
  values: BigInt64Array,
  literal: SingleValue,
  wanted: { above: boolean; at: boolean },
): DenseTest {
  if (typeof literal !== 'bigint' || BigInt.asIntN(64, literal) !== literal) return undefined
  const highs = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  const lows = new Uint32Array(values.buffer, values.byteOffset, values.length * 2)
  const highLiteral = Number(literal >> 32n)
  const lowLiteral = Number(literal & 0xffff_ffffn)
  const { above: isAboveWanted, at: isAtWanted } = wanted
  return (row) => {
    // `as`: reason: rows are below the length.
    const high = highs[row * 2 + 1] as number
    if (high !== highLiteral) return high > highLiteral === isAboveWanted
    // `as`: reason: as above.
    const low = lows[row * 2] as number
    return low === lowLiteral ? isAtWanted : low > lowLiteral === isAboveWanted
  }
}

function numberAt(values: Float64Array | Int32Array, row: number): number {
  // `as`: reason: rows are below the length.
  return values[row] as number
}

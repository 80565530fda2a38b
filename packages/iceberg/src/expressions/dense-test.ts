import type { BoundsColumn } from '../scan/metrics-table.ts'
import { applyTransform } from '../spec/apply-transform.ts'
import type { SingleValue } from '../spec/single-value.ts'
import type { Transform } from '../spec/transform.ts'
import type { BoundTerm, CompareOperator, LeafPredicate } from './expression.ts'
import { compareLoosely } from './value-order.ts'

type DenseBounds = NonNullable<BoundsColumn['dense']>
type DenseValues = DenseBounds['lower']

/**
 * The same answers as from the bounds of each row, without a call or an allocation for a row: 64-bit integers are compared as two
 * halves. Undefined where this way does not fit the predicate. Bounds in the wrong order are not looked for.
 */
export function compileDenseTest(leaf: LeafPredicate): (bounds: DenseBounds) => DenseTest {
  if (leaf.kind !== 'compare') return () => undefined
  const { operator, literal, term } = leaf
  if (term.transform.kind === 'identity') {
    return (bounds) => testOf(operator, bounds, literal)
  }
  if (!ORDER_KEEPING.has(term.transform.kind)) return () => undefined
  const integers = new Map<IntegerRange, TermSteps>()
  return (bounds) => {
    const range = rangeOf(bounds)
    if (range === undefined) return undefined
    let steps = integers.get(range)
    if (steps === undefined) integers.set(range, (steps = stepsOf(term, literal, range)))
    return termTest(operator, bounds, steps)
  }
}

function testOf(
  operator: CompareOperator,
  { lower, upper }: DenseBounds,
  literal: SingleValue,
): DenseTest {
  switch (operator) {
    case 'lt':
      return below(lower, literal)
    case 'lt-eq':
      return notAbove(lower, literal)
    case 'gt':
      return above(upper, literal)
    case 'gt-eq':
      return notBelow(upper, literal)
    case 'eq':
      return both(notAbove(lower, literal), notBelow(upper, literal))
    default:
      return undefined
  }
}

/** Where the values of a term reach the literal, and where they go beyond it; undefined where no value of the column does. */
interface TermSteps {
  readonly reached: SingleValue | undefined
  readonly passed: SingleValue | undefined
}

/** Of a term that keeps the order of its column: what it says of the bounds is said of the column's own values. */
function termTest(
  operator: CompareOperator,
  { lower, upper }: DenseBounds,
  { reached, passed }: TermSteps,
): DenseTest {
  switch (operator) {
    case 'lt':
      return isBefore(lower, reached)
    case 'lt-eq':
      return isBefore(lower, passed)
    case 'gt':
      return isFrom(upper, passed)
    case 'gt-eq':
      return isFrom(upper, reached)
    case 'eq':
      return both(isBefore(lower, passed), isFrom(upper, reached))
    default:
      return undefined
  }
}

function isBefore(values: DenseValues, step: SingleValue | undefined): DenseTest {
  return step === undefined ? () => true : below(values, step)
}

function isFrom(values: DenseValues, step: SingleValue | undefined): DenseTest {
  return step === undefined ? () => false : notBelow(values, step)
}

function both(first: DenseTest, second: DenseTest): DenseTest {
  if (first === undefined || second === undefined) return undefined
  return (row) => first(row) && second(row)
}

const ORDER_KEEPING: ReadonlySet<Transform['kind']> = new Set([
  'year',
  'month',
  'day',
  'hour',
  'truncate',
])

type IntegerRange = typeof INT32 | typeof INT64
const INT32 = { bits: 32n, valueOf: Number } as const
const INT64 = { bits: 64n, valueOf: (value: bigint): bigint => value } as const

function rangeOf({ lower }: DenseBounds): IntegerRange | undefined {
  if (lower instanceof BigInt64Array) return INT64
  return lower instanceof Int32Array ? INT32 : undefined
}

function stepsOf(term: BoundTerm, literal: SingleValue, range: IntegerRange): TermSteps {
  const order = (value: bigint): number =>
    // `as`: reason: a value that is not null never becomes null.
    compareLoosely(
      applyTransform(term.transform, term.type, range.valueOf(value)) as SingleValue,
      literal,
    )
  const first = (isBeyond: (value: bigint) => boolean): SingleValue | undefined => {
    const found = firstIn(range, isBeyond)
    return found === undefined ? undefined : range.valueOf(found)
  }
  return {
    reached: first((value) => order(value) >= 0),
    passed: first((value) => order(value) > 0),
  }
}

/** The least integer for which it is so, when it is for all above it. */
function firstIn({ bits }: IntegerRange, isBeyond: (value: bigint) => boolean): bigint | undefined {
  const end = 1n << (bits - 1n)
  let [low, high] = [-end, end]
  while (low < high) {
    const middle = (low + high) >> 1n
    if (isBeyond(middle)) high = middle
    else low = middle + 1n
  }
  return low === end ? undefined : low
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

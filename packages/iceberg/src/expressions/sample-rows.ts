import fc from 'fast-check'
import { applyTransform, canTransform, transformResultType } from '../spec/apply-transform.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import type { SingleValue } from '../spec/single-value.ts'
import { compareValues } from '../spec/single-value.ts'
import type { Transform } from '../spec/transform.ts'
import type { PrimitiveType } from '../spec/type.ts'
import type { BoundTerm, LeafPredicate, Predicate } from './expression.ts'
import { and, or } from './simplify.ts'

/** A column by its position: field id 1 is the first. */
export type SampleRow = readonly PartitionValue[]

/** The three ways in which engines order NaN and the zeros. */
export const ORDERS = ['filter', 'arithmetic', 'bounds'] as const
export type Order = (typeof ORDERS)[number]

const HOURS = [-8761n, -745n, -25n, -24n, -1n, 0n, 1n, 23n, 24n, 744n, 8760n]
const aroundHours = (unitsPerHour: bigint): fc.Arbitrary<bigint> =>
  fc
    .tuple(fc.constantFrom(...HOURS), fc.constantFrom(-1n, 0n, 1n, unitsPerHour / 2n))
    .map(([hours, rest]) => hours * unitsPerHour + rest)

const VALUES: readonly (readonly [PrimitiveType, fc.Arbitrary<SingleValue>])[] = [
  [{ kind: 'boolean' }, fc.boolean()],
  [
    { kind: 'int' },
    fc.oneof(fc.integer({ min: -21, max: 21 }), fc.constantFrom(-(2 ** 31), 2 ** 31 - 1)),
  ],
  [
    { kind: 'long' },
    fc.oneof(fc.bigInt(-21n, 21n), fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 32n)),
  ],
  [{ kind: 'float' }, fc.constantFrom(-1.5, -0, 0, 1.5, 3, NaN, Infinity, -Infinity)],
  [{ kind: 'double' }, fc.constantFrom(-1e300, -1.5, -0, 0, 0.1, 3, NaN, Infinity)],
  [{ kind: 'decimal', precision: 9, scale: 2 }, fc.bigInt(-130n, 130n)],
  [
    { kind: 'date' },
    fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(-366, -365, -32, -31, 30, 31, 365)),
  ],
  [{ kind: 'time' }, fc.bigInt(0n, 3n)],
  [{ kind: 'timestamp' }, aroundHours(3_600_000_000n)],
  [{ kind: 'timestamptz' }, aroundHours(3_600_000_000n)],
  [{ kind: 'timestamp_ns' }, aroundHours(3_600_000_000_000n)],
  [{ kind: 'timestamptz_ns' }, aroundHours(3_600_000_000_000n)],
  [
    { kind: 'string' },
    fc
      .array(fc.constantFrom('a', 'b', 'é', '\uffff', '🚀', '😀'), { maxLength: 4 })
      .map((parts) => parts.join('')),
  ],
  [
    { kind: 'uuid' },
    fc
      .constantFrom('00', '01', '7f', '80', 'ff')
      .map((byte) => `${byte}000000-0000-0000-0000-000000000000`),
  ],
  [{ kind: 'fixed', lengthBytes: 2 }, fc.uint8Array({ minLength: 2, maxLength: 2 })],
  [
    { kind: 'binary' },
    fc
      .array(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), { maxLength: 4 })
      .map((bytes) => Uint8Array.from(bytes)),
  ],
]

export const SAMPLE_TYPES = VALUES.map(([type]) => type)

/** A value of a sample type; now and then null. */
export function sampleValue(type: PrimitiveType): fc.Arbitrary<PartitionValue> {
  return fc.option(singleValue(type), { freq: 6 })
}

/** A transform of the type that a spec may have. */
export function sampleTransform(type: PrimitiveType): fc.Arbitrary<Transform> {
  return fc.constantFrom(...TRANSFORMS.filter((transform) => canTransform(transform, type)))
}

const TRANSFORMS: readonly Transform[] = [
  { kind: 'identity' },
  { kind: 'identity' },
  { kind: 'bucket', bucketCount: 3 },
  { kind: 'truncate', width: 2 },
  { kind: 'truncate', width: 10 },
  { kind: 'year' },
  { kind: 'month' },
  { kind: 'day' },
  { kind: 'hour' },
  { kind: 'void' },
]

/** A filter of some leaves on columns of the types, one column each. */
export function samplePredicate(types: readonly PrimitiveType[]): fc.Arbitrary<Predicate> {
  const leaf = fc.oneof(...types.map((type, index) => sampleLeaf(type, index + 1)))
  return fc.oneof(
    { weight: 3, arbitrary: leaf },
    { weight: 1, arbitrary: fc.array(leaf, { minLength: 2, maxLength: 3 }).map(and) },
    { weight: 1, arbitrary: fc.array(leaf, { minLength: 2, maxLength: 3 }).map(or) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(leaf, leaf, leaf, leaf)
        .map(([a, b, c, d]) => or([and([a, b]), and([c, d])])),
    },
  )
}

/** A predicate on the column of a type, with the field id. */
export function sampleLeaf(type: PrimitiveType, fieldId: number): fc.Arbitrary<LeafPredicate> {
  return sampleTransform(type).chain((transform) => {
    // `as`: reason: transforms of primitive values are primitive.
    const resultType = transformResultType(transform, type) as PrimitiveType
    const term: BoundTerm = {
      fieldId,
      name: `c${fieldId}`,
      type,
      isRequired: false,
      transform,
      resultType,
    }
    const literal = singleValue(type)
      .filter((value) => !Number.isNaN(value))
      .map((value) => applyTransform(transform, type, value))
    const unary = fc
      .constantFrom(
        'is-null',
        'not-null',
        ...(isFloating(type) ? (['is-nan', 'not-nan'] as const) : []),
      )
      .map((operator): LeafPredicate => ({ kind: 'unary', operator, term }))
    if (transform.kind === 'void') return unary
    return fc.oneof(
      { weight: 1, arbitrary: unary },
      { weight: 4, arbitrary: compareLeaf(term, literal) },
      { weight: 2, arbitrary: setLeaf(term, literal) },
    )
  })
}

function compareLeaf(
  term: BoundTerm,
  literal: fc.Arbitrary<PartitionValue>,
): fc.Arbitrary<LeafPredicate> {
  const prefixes =
    term.resultType.kind === 'string' ? (['starts-with', 'not-starts-with'] as const) : []
  const operator = fc.constantFrom(
    'lt',
    'lt-eq',
    'gt',
    'gt-eq',
    'eq',
    'not-eq',
    ...prefixes,
    ...prefixes,
  )
  return fc.tuple(operator, literal).map(([operator, value]) => ({
    kind: 'compare',
    operator,
    term,
    // `as`: reason: a transform of a value that is not null is not null.
    literal: value as SingleValue,
  }))
}

function setLeaf(
  term: BoundTerm,
  literal: fc.Arbitrary<PartitionValue>,
): fc.Arbitrary<LeafPredicate> {
  return fc
    .tuple(fc.constantFrom('in', 'not-in'), fc.array(literal, { minLength: 2, maxLength: 4 }))
    .map(([operator, values]) => {
      // `as`: reason: as above.
      const literals = [...(values as SingleValue[])]
      literals.sort((a, b) => compareValues(term.resultType, a, b))
      return { kind: 'set', operator, term, literals }
    })
}

function singleValue(type: PrimitiveType): fc.Arbitrary<SingleValue> {
  const found = VALUES.find(([known]) => known.kind === type.kind)
  if (found === undefined) throw new Error(`no sample values of ${type.kind}`)
  return found[1]
}

function isFloating(type: PrimitiveType): boolean {
  return type.kind === 'float' || type.kind === 'double'
}

/** Whether a row matches in an engine of that order. */
export function rowMatches(predicate: Predicate, row: SampleRow, order: Order): boolean {
  switch (predicate.kind) {
    case 'true':
      return true
    case 'false':
      return false
    case 'and':
      return predicate.children.every((child) => rowMatches(child, row, order))
    case 'or':
      return predicate.children.some((child) => rowMatches(child, row, order))
    default:
      return leafMatches(predicate, row, order)
  }
}

function leafMatches(leaf: LeafPredicate, row: SampleRow, order: Order): boolean {
  const { term } = leaf
  const value = applyTransform(term.transform, term.type, row[term.fieldId - 1] ?? null)
  if (leaf.kind === 'unary') {
    const isHit = leaf.operator.endsWith('null') ? value === null : Number.isNaN(value)
    return leaf.operator.startsWith('is-') ? isHit : !isHit
  }
  if (leaf.kind === 'set') {
    const isIn =
      value !== null && leaf.literals.some((literal) => compare(term, value, literal, order) === 0)
    return leaf.operator === 'in' ? isIn : !isIn
  }
  const { operator, literal } = leaf
  if (value === null) return operator === 'not-eq' || operator === 'not-starts-with'
  if (operator === 'starts-with') return String(value).startsWith(String(literal))
  if (operator === 'not-starts-with') return !String(value).startsWith(String(literal))
  const sign = compare(term, value, literal, order)
  if (sign === undefined) return operator === 'not-eq'
  return {
    lt: sign < 0,
    'lt-eq': sign <= 0,
    gt: sign > 0,
    'gt-eq': sign >= 0,
    eq: sign === 0,
    'not-eq': sign !== 0,
  }[operator]
}

/** Undefined where the two have no order. */
function compare(
  term: BoundTerm,
  a: SingleValue,
  b: SingleValue,
  order: Order,
): number | undefined {
  if (order !== 'bounds' && a === b) return 0
  if (order === 'arithmetic' && (Number.isNaN(a) || Number.isNaN(b))) return undefined
  return compareValues(term.resultType, a, b)
}

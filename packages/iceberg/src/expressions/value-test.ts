import type { PartitionValue } from '../spec/partition-spec.ts'
import type { SingleValue } from '../spec/single-value.ts'
import { assertNever } from '../spec/invariant.ts'
import type { CompareOperator, LeafPredicate, SetOperator, UnaryOperator } from './expression.ts'
import type { ValueForm } from './value-order.ts'
import { compareLoosely, compareSigned, firstNotBelow, formOf, startsWith } from './value-order.ts'

/** An operator with its literals: none for the unary ones, ascending and distinct for the sets. */
export interface Condition {
  readonly operator: UnaryOperator | CompareOperator | SetOperator
  readonly literals: readonly SingleValue[]
}

/**
 * A condition made ready to be asked of many values. Engines order NaN and the two zeros in two ways: as arithmetic does
 * (nothing is above NaN, −0 equals +0) and as bounds are ordered (NaN above all, −0 below +0). `mightMatch` is false only when both say
 * no, `mustMatch` true only when both say yes. Null is unequal to every literal and neither below nor above one.
 */
export interface ValueTest {
  readonly matchesNull: boolean
  readonly matchesNan: 'always' | 'in-one-order' | 'never'
  /** A value whose form is not that of the literals, or that is missing, might match. */
  mightMatch(value: PartitionValue | undefined): boolean
  /** A value whose form is not that of the literals, or that is missing, need not match. */
  mustMatch(value: PartitionValue | undefined): boolean
  /** Whether a value between the bounds, neither null nor NaN, might match; an absent bound is unknown. */
  mightMatchBetween(lower: SingleValue | undefined, upper: SingleValue | undefined): boolean
}

/** What is known about the values of many rows. */
export interface ValueRange {
  readonly mayHaveNull: boolean
  readonly mayHaveNan: boolean
  /** Whether there may be values that are neither null nor NaN. */
  readonly mayHaveOthers: boolean
  readonly lower?: SingleValue
  readonly upper?: SingleValue
}

/** The condition that a predicate puts to its term. */
export function conditionOf(leaf: LeafPredicate): Condition {
  switch (leaf.kind) {
    case 'unary':
      return { operator: leaf.operator, literals: [] }
    case 'compare':
      return { operator: leaf.operator, literals: [leaf.literal] }
    case 'set':
      return { operator: leaf.operator, literals: leaf.literals }
    default:
      return assertNever(leaf, 'predicate')
  }
}

/**
 * Makes the condition of a predicate ready, for the values of its term. Java engines order UUIDs as two signed numbers, all others
 * as bytes: what is above and below is asked in both orders.
 */
export function compilePredicate(leaf: LeafPredicate): ValueTest {
  const condition = conditionOf(leaf)
  const test = compileCondition(condition)
  if (leaf.term.resultType.kind !== 'uuid' || !COMPARISONS.has(leaf.operator)) return test
  const literals = condition.literals.map(signedUuid)
  const other = compileCondition({ operator: condition.operator, literals })
  const signed = (value: SingleValue | undefined): SingleValue | undefined =>
    value === undefined ? undefined : signedUuid(value)
  return {
    ...test,
    mightMatch: (value) => test.mightMatch(value) || other.mightMatch(signed(value ?? undefined)),
    mustMatch: (value) => test.mustMatch(value) && other.mustMatch(signed(value ?? undefined)),
    mightMatchBetween: (lower, upper) =>
      test.mightMatchBetween(lower, upper) || other.mightMatchBetween(signed(lower), signed(upper)),
  }
}

/** Makes a condition ready. Sets that a transform mapped may be unordered and hold a value twice. */
export function compileCondition(condition: Condition): ValueTest {
  const { operator } = condition
  const isSet = operator === 'in' || operator === 'not-in'
  const literals = isSet ? ascending(condition.literals) : condition.literals
  const form = formOf(literals[0])
  const matchesNull = NULL_MATCHES.has(operator)
  const matchesNan = nanMatch(operator)
  const ask = askers(operator, literals)
  return {
    matchesNull,
    matchesNan,
    mightMatch: (value) =>
      decide(value, { form, isNullMatch: matchesNull, isNanMatch: matchesNan !== 'never' }) ??
      // `as`: reason: a value that decide leaves is neither null nor missing.
      ask.mightMatch(value as SingleValue),
    mustMatch: (value) =>
      isKnown(value, form) &&
      (decide(value, { form, isNullMatch: matchesNull, isNanMatch: matchesNan === 'always' }) ??
        // `as`: reason: as above.
        ask.mustMatch(value as SingleValue)),
    mightMatchBetween: ask.mightMatchBetween,
  }
}

/** Whether any of the values might match. */
export function mightMatchRange(test: ValueTest, range: ValueRange): boolean {
  if (range.mayHaveNull && test.matchesNull) return true
  if (range.mayHaveNan && test.matchesNan !== 'never') return true
  return range.mayHaveOthers && test.mightMatchBetween(range.lower, range.upper)
}

type Askers = Pick<ValueTest, 'mightMatchBetween'> & {
  mightMatch(value: SingleValue): boolean
  mustMatch(value: SingleValue): boolean
}

const NULL_MATCHES: ReadonlySet<Condition['operator']> = new Set([
  'is-null',
  'not-nan',
  'not-eq',
  'not-in',
  'not-starts-with',
])

const COMPARISONS: ReadonlySet<Condition['operator']> = new Set(['lt', 'lt-eq', 'gt', 'gt-eq'])

/** A text that is ordered as the UUID is by Java: the sign bits of both halves are turned over. */
function signedUuid(value: SingleValue): SingleValue {
  if (typeof value !== 'string') return value
  return value.replace(/^.|(?<=^.{19})./g, (digit) => (parseInt(digit, 16) ^ 8).toString(16))
}

function nanMatch(operator: Condition['operator']): ValueTest['matchesNan'] {
  switch (operator) {
    case 'is-nan':
    case 'not-null':
    case 'not-eq':
    case 'not-in':
    case 'not-starts-with':
      return 'always'
    case 'gt':
    case 'gt-eq':
      return 'in-one-order'
    default:
      return 'never'
  }
}

function isKnown(value: PartitionValue | undefined, form: ValueForm | undefined): boolean {
  return value === null || (value !== undefined && (form === undefined || formOf(value) === form))
}

/** The answer for null, NaN and values that cannot be compared; undefined for the rest. */
function decide(
  value: PartitionValue | undefined,
  known: { form: ValueForm | undefined; isNullMatch: boolean; isNanMatch: boolean },
): boolean | undefined {
  if (value === null) return known.isNullMatch
  if (Number.isNaN(value)) return known.isNanMatch
  return isKnown(value, known.form) ? undefined : true
}

/** Answers for values that are neither null nor NaN and of the literals' form. */
function askers(operator: Condition['operator'], literals: readonly SingleValue[]): Askers {
  // `as`: reason: only unary operators have no literal, and they do not use it.
  const literal = literals[0] as SingleValue
  switch (operator) {
    case 'is-null':
    case 'is-nan':
      return constant(false)
    case 'not-null':
    case 'not-nan':
      return constant(true)
    case 'lt':
    case 'lt-eq':
    case 'gt':
    case 'gt-eq':
      return comparison(operator, literal)
    case 'eq':
      return equality(literal)
    case 'not-eq':
      return inequality(literal)
    case 'in':
      return membership(literals)
    case 'not-in':
      return exclusion(literals)
    case 'starts-with':
      return prefix(literal)
    case 'not-starts-with':
      return otherPrefix(literal)
    default:
      return assertNever(operator, 'operator')
  }
}

function constant(answer: boolean): Askers {
  return { mightMatch: () => answer, mustMatch: () => answer, mightMatchBetween: () => answer }
}

function comparison(operator: 'lt' | 'lt-eq' | 'gt' | 'gt-eq', literal: SingleValue): Askers {
  switch (operator) {
    case 'lt':
      return {
        mightMatch: (value) => compareSigned(value, literal) < 0,
        mustMatch: (value) => compareLoosely(value, literal) < 0,
        mightMatchBetween: (lower) => lower === undefined || compareSigned(lower, literal) < 0,
      }
    case 'lt-eq':
      return {
        mightMatch: (value) => compareLoosely(value, literal) <= 0,
        mustMatch: (value) => compareSigned(value, literal) <= 0,
        mightMatchBetween: (lower) => lower === undefined || compareLoosely(lower, literal) <= 0,
      }
    case 'gt':
      return {
        mightMatch: (value) => compareSigned(value, literal) > 0,
        mustMatch: (value) => compareLoosely(value, literal) > 0,
        mightMatchBetween: (_, upper) => upper === undefined || compareSigned(upper, literal) > 0,
      }
    case 'gt-eq':
      return {
        mightMatch: (value) => compareLoosely(value, literal) >= 0,
        mustMatch: (value) => compareSigned(value, literal) >= 0,
        mightMatchBetween: (_, upper) => upper === undefined || compareLoosely(upper, literal) >= 0,
      }
    default:
      return assertNever(operator, 'operator')
  }
}

function equality(literal: SingleValue): Askers {
  return {
    mightMatch: (value) => compareLoosely(value, literal) === 0,
    mustMatch: (value) => compareSigned(value, literal) === 0,
    mightMatchBetween: (lower, upper) =>
      (lower === undefined || compareLoosely(lower, literal) <= 0) &&
      (upper === undefined || compareLoosely(upper, literal) >= 0),
  }
}

function inequality(literal: SingleValue): Askers {
  return {
    mightMatch: (value) => compareSigned(value, literal) !== 0,
    mustMatch: (value) => compareLoosely(value, literal) !== 0,
    // Bounds may lie outside the values, but where both are the literal, all values are.
    mightMatchBetween: (lower, upper) =>
      lower === undefined ||
      upper === undefined ||
      compareSigned(lower, literal) !== 0 ||
      compareSigned(upper, literal) !== 0,
  }
}

function membership(literals: readonly SingleValue[]): Askers {
  return {
    mightMatch: (value) => holds(literals, value, compareLoosely),
    mustMatch: (value) => holds(literals, value, compareSigned),
    mightMatchBetween: (lower, upper) => {
      const first = literals[lower === undefined ? 0 : firstNotBelow(literals, lower)]
      return first !== undefined && (upper === undefined || compareLoosely(first, upper) <= 0)
    },
  }
}

function exclusion(literals: readonly SingleValue[]): Askers {
  return {
    mightMatch: (value) => !holds(literals, value, compareSigned),
    mustMatch: (value) => !holds(literals, value, compareLoosely),
    mightMatchBetween: (lower, upper) =>
      lower === undefined ||
      upper === undefined ||
      compareSigned(lower, upper) !== 0 ||
      !holds(literals, lower, compareSigned),
  }
}

function prefix(literal: SingleValue): Askers {
  const matches = (value: SingleValue): boolean => startsWith(value, literal)
  return {
    mightMatch: matches,
    mustMatch: matches,
    // All texts with the prefix lie together: not below it, and the ones above it start with it.
    mightMatchBetween: (lower, upper) =>
      (lower === undefined || compareLoosely(lower, literal) <= 0 || matches(lower)) &&
      (upper === undefined || compareLoosely(upper, literal) >= 0),
  }
}

function otherPrefix(literal: SingleValue): Askers {
  const matches = (value: SingleValue): boolean => !startsWith(value, literal)
  return {
    mightMatch: matches,
    mustMatch: matches,
    mightMatchBetween: (lower, upper) =>
      lower === undefined || upper === undefined || matches(lower) || matches(upper),
  }
}

function holds(
  literals: readonly SingleValue[],
  value: SingleValue,
  compare: (a: SingleValue, b: SingleValue) => number,
): boolean {
  // Two zeros may stand side by side.
  for (let index = firstNotBelow(literals, value); index < literals.length; index++) {
    // `as`: reason: the index is below the length.
    const literal = literals[index] as SingleValue
    if (compare(literal, value) === 0) return true
    if (compareLoosely(literal, value) !== 0) return false
  }
  return false
}

function ascending(literals: readonly SingleValue[]): readonly SingleValue[] {
  const sorted = [...literals].sort(compareSigned)
  return sorted.filter((literal, index) => {
    const before = sorted[index - 1]
    return before === undefined || compareSigned(before, literal) !== 0
  })
}

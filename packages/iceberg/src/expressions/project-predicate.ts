import { applyTransform, firstCodePoints } from '../spec/apply-transform.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import type { SingleValue } from '../spec/single-value.ts'
import { printTransform } from '../spec/transform-text.ts'
import type { Transform } from '../spec/transform.ts'
import type { BoundTerm, LeafPredicate } from './expression.ts'
import type { Condition, ValueTest } from './value-test.ts'
import { compileCondition, compilePredicate, conditionOf } from './value-test.ts'
import { compareLoosely, formOf, formOfType } from './value-order.ts'

/**
 * What a predicate on rows says about the partition values of one field. Where `inclusive` says no, no row of the partition
 * matches; where `strict` says yes, all do. An absent one says nothing.
 */
export interface ProjectedPredicate {
  readonly inclusive?: ValueTest
  readonly strict?: ValueTest
}

type Projected = Readonly<Partial<Record<'inclusive' | 'strict', Condition>>>

/** Years, months, days and hours before 1970 that old writers made one too large. */
type TimeRounding = 'exact' | 'maybe-one-too-large'

const LONE_SURROGATE = /\p{Surrogate}/u
const TIME_KINDS: ReadonlySet<Transform['kind']> = new Set(['year', 'month', 'day', 'hour'])
const ORDER_KEEPING: ReadonlySet<Transform['kind']> = new Set([
  ...TIME_KINDS,
  'identity',
  'truncate',
])

/**
 * Projects a predicate onto a partition field whose source is the predicate's column. A day of a date was never made wrong:
 * `isOldDate` says that the column has always been a date. Spec: Scan Planning.
 */
export function projectPredicate(
  leaf: LeafPredicate,
  transform: Transform,
  isOldDate: boolean,
): ProjectedPredicate {
  if (isMute(transform) || isMute(leaf.term.transform)) return {}
  const projected = projectPlainly(leaf, transform, isOldDate)
  const { kind } = leaf.term.type
  if (transform.kind !== 'truncate' || (kind !== 'int' && kind !== 'long')) return projected
  const isWrapped = (value: PartitionValue | undefined): boolean =>
    mayHaveWrapped(value, transform.width)
  return {
    ...(projected.inclusive === undefined
      ? {}
      : { inclusive: unlessWrapped(projected.inclusive, isWrapped) }),
    ...(projected.strict === undefined
      ? {}
      : { strict: unlessWrapped(projected.strict, isWrapped) }),
  }
}

function projectPlainly(
  leaf: LeafPredicate,
  transform: Transform,
  isOldDate: boolean,
): ProjectedPredicate {
  const rounding = transform.kind === 'day' && isOldDate ? 'exact' : 'maybe-one-too-large'
  if (leaf.term.transform.kind !== 'identity') return projectTerm(leaf, transform, rounding)
  if (transform.kind === 'identity') return both(compilePredicate(leaf))
  return compileProjected(projectColumn(leaf, transform, rounding))
}

/** Whether the values of a transform say nothing of the values that it is given. */
export function isMute({ kind }: Transform): boolean {
  return kind === 'void' || kind === 'unknown-transform'
}

/** The test of a term's values, asked of values of its column. */
export function compileTerm(leaf: LeafPredicate): ValueTest {
  const test = compilePredicate(leaf)
  return leaf.term.transform.kind === 'identity' ? test : throughTransform(test, leaf.term)
}

/** A predicate on a transform of a column: the field may be of the same transform, or of the column itself. */
function projectTerm(
  leaf: LeafPredicate,
  transform: Transform,
  rounding: TimeRounding,
): ProjectedPredicate {
  if (transform.kind === 'identity') return both(compileTerm(leaf))
  if (printTransform(transform) !== printTransform(leaf.term.transform)) return {}
  if (!TIME_KINDS.has(transform.kind) || leaf.kind === 'unary' || rounding === 'exact') {
    return both(compilePredicate(leaf))
  }
  const condition = conditionOf(leaf)
  const strict = provenTime(condition)
  return compileProjected({
    ...projectSteps(condition, (value) => value, rounding),
    ...(strict === undefined ? {} : { strict }),
  })
}

/** What proves a condition on a time unit, where values up to 0 may be one too large. */
function provenTime(condition: Condition): Condition | undefined {
  const { operator, literals } = condition
  switch (operator) {
    case 'lt':
    case 'lt-eq':
      return condition
    case 'gt':
    case 'gt-eq':
      return roundedStrictly(condition, 'maybe-one-too-large')
    case 'eq':
    case 'in': {
      const sure = literals.filter((literal) => compareLoosely(literal, 0) > 0)
      return sure.length === 0 ? undefined : { operator: 'in', literals: sure }
    }
    default:
      return roundedUp(condition, 'maybe-one-too-large')
  }
}

function projectColumn(
  leaf: LeafPredicate,
  transform: Transform,
  rounding: TimeRounding,
): Projected {
  const condition = conditionOf(leaf)
  if (leaf.kind === 'unary') return { inclusive: condition, strict: condition }
  const { type } = leaf.term
  const apply = (value: SingleValue): SingleValue =>
    // `as`: reason: a value that is not null never becomes null.
    applyTransform(transform, type, value) as SingleValue
  if (transform.kind === 'bucket') return projectBuckets(condition, apply)
  if (transform.kind !== 'truncate') return projectSteps(condition, apply, rounding)
  if (type.kind === 'string') return projectPrefixes(condition, { apply, width: transform.width })
  return type.kind === 'binary'
    ? projectCuts(condition, apply)
    : projectSteps(condition, apply, 'exact')
}

type Apply = (value: SingleValue) => SingleValue

/** Buckets keep no order: only equality says something. */
function projectBuckets({ operator, literals }: Condition, apply: Apply): Projected {
  const buckets = literals.map(apply)
  if (operator === 'eq' || operator === 'in') return { inclusive: { operator, literals: buckets } }
  if (operator === 'not-eq' || operator === 'not-in') {
    return { strict: { operator, literals: buckets } }
  }
  return {}
}

/** Transforms of values that have a next and a previous one: whole numbers, decimals, times. */
function projectSteps(
  { operator, literals }: Condition,
  apply: Apply,
  rounding: TimeRounding,
): Projected {
  const mapped = literals.map(apply)
  const [first] = literals
  if (first === undefined) return {}
  const here: Condition = { operator, literals: mapped }
  switch (operator) {
    case 'lt':
      return {
        inclusive: roundedUp({ operator: 'lt-eq', literals: [apply(step(first, -1))] }, rounding),
        strict: here,
      }
    case 'lt-eq':
      return {
        inclusive: roundedUp(here, rounding),
        strict: { operator: 'lt', literals: [apply(step(first, 1))] },
      }
    case 'gt':
      return {
        inclusive: { operator: 'gt-eq', literals: [apply(step(first, 1))] },
        strict: roundedStrictly(here, rounding),
      }
    case 'gt-eq':
      return {
        inclusive: here,
        strict: roundedStrictly({ operator: 'gt', literals: [apply(step(first, -1))] }, rounding),
      }
    case 'eq':
    case 'in':
      return { inclusive: roundedUp(here, rounding) }
    case 'not-eq':
    case 'not-in':
      return { strict: roundedUp(here, rounding) }
    default:
      return {}
  }
}

/** Adds the values that old writers put in the place of negative ones. */
function roundedUp(condition: Condition, rounding: TimeRounding): Condition {
  const { operator, literals } = condition
  if (rounding === 'exact' || !literals.some(isNegative)) return condition
  if (operator === 'lt-eq')
    return { operator, literals: literals.map((literal) => step(literal, 1)) }
  return {
    operator: operator === 'eq' || operator === 'in' ? 'in' : 'not-in',
    literals: literals.flatMap((literal) =>
      isNegative(literal) ? [literal, step(literal, 1)] : [literal],
    ),
  }
}

/** A partition value above the literal may be that of a value which is not, where old writers rounded it. */
function roundedStrictly(condition: Condition, rounding: TimeRounding): Condition {
  const [literal] = condition.literals
  if (rounding === 'exact' || literal === undefined || compareLoosely(literal, 0) > 0)
    return condition
  return { operator: condition.operator, literals: [step(literal, 1)] }
}

/** The first bytes of a value: no value is next to another. */
function projectCuts({ operator, literals }: Condition, apply: Apply): Projected {
  const mapped = literals.map(apply)
  switch (operator) {
    case 'lt':
    case 'lt-eq':
      return {
        inclusive: { operator: 'lt-eq', literals: mapped },
        strict: { operator: 'lt', literals: mapped },
      }
    case 'gt':
    case 'gt-eq':
      return {
        inclusive: { operator: 'gt-eq', literals: mapped },
        strict: { operator: 'gt', literals: mapped },
      }
    case 'eq':
    case 'in':
      return { inclusive: { operator, literals: mapped } }
    case 'not-eq':
    case 'not-in':
      return { strict: { operator, literals: mapped } }
    default:
      return {}
  }
}

/** The first code points of a text. The partition has as much of a short prefix as the text itself. */
function projectPrefixes(
  condition: Condition,
  { apply, width }: { apply: Apply; width: number },
): Projected {
  const { operator, literals } = condition
  if (operator !== 'starts-with' && operator !== 'not-starts-with') {
    return projectCuts(condition, apply)
  }
  const [prefix] = literals
  // Half of a code point is a prefix of texts that are cut elsewhere.
  if (typeof prefix !== 'string' || LONE_SURROGATE.test(prefix)) return {}
  if (firstCodePoints(prefix, width) === prefix) return { inclusive: condition, strict: condition }
  const cut: Condition = { operator, literals: literals.map(apply) }
  return operator === 'starts-with' ? { inclusive: cut } : { strict: cut }
}

const INT_MAX = 2n ** 31n - 1n
const LONG_MAX = 2n ** 63n - 1n

/**
 * Whether a number may stand for one that was cut below the smallest of its type: other writers let it wrap to the largest.
 * A long may have been an int when it was written.
 */
function mayHaveWrapped(value: PartitionValue | undefined, width: number): boolean {
  if (value === undefined || value === null || formOf(value) !== 'numeric') return false
  const isIn = (above: bigint, most: bigint): boolean =>
    compareLoosely(value, above) > 0 && compareLoosely(value, most) <= 0
  return isIn(LONG_MAX - BigInt(width), LONG_MAX) || isIn(INT_MAX - BigInt(width), INT_MAX)
}

/** The test, which says nothing of values that may have wrapped. */
function unlessWrapped(
  test: ValueTest,
  isWrapped: (value: PartitionValue | undefined) => boolean,
): ValueTest {
  return {
    ...test,
    mightMatch: (value) => isWrapped(value) || test.mightMatch(value),
    mustMatch: (value) => !isWrapped(value) && test.mustMatch(value),
    mightMatchBetween: (lower, upper) =>
      isWrapped(upper) || upper === undefined || test.mightMatchBetween(lower, upper),
  }
}

function step(value: SingleValue, by: 1 | -1): SingleValue {
  // `as`: reason: what is not a bigint here is a number.
  return typeof value === 'bigint' ? value + BigInt(by) : (value as number) + by
}

function isNegative(value: SingleValue): boolean {
  return compareLoosely(value, 0) < 0
}

function both(test: ValueTest): ProjectedPredicate {
  return { inclusive: test, strict: test }
}

function compileProjected({ inclusive, strict }: Projected): ProjectedPredicate {
  return {
    ...(inclusive === undefined ? {} : { inclusive: compileCondition(inclusive) }),
    ...(strict === undefined ? {} : { strict: compileCondition(strict) }),
  }
}

/** A test of a term's values, asked of its column's; a value of another form than the column's might match. */
function throughTransform(test: ValueTest, term: BoundTerm): ValueTest {
  const form = formOfType(term.type)
  const apply = (value: PartitionValue): PartitionValue =>
    applyTransform(term.transform, term.type, value)
  const bound = (value: SingleValue | undefined): SingleValue | undefined =>
    value === undefined || !ORDER_KEEPING.has(term.transform.kind)
      ? undefined
      : (apply(value) ?? undefined)
  const isReadable = (value: PartitionValue | undefined): value is PartitionValue =>
    value === null || (formOf(value) === form && !Number.isNaN(value))
  return {
    matchesNull: test.matchesNull,
    matchesNan: test.matchesNan,
    mightMatch: (value) => !isReadable(value) || test.mightMatch(apply(value)),
    mustMatch: (value) => isReadable(value) && test.mustMatch(apply(value)),
    mightMatchBetween: (lower, upper) => test.mightMatchBetween(bound(lower), bound(upper)),
  }
}

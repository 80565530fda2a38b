import { applyTransform } from '../spec/apply-transform.ts'
import { assertNever } from '../spec/invariant.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import { compareValues, type SingleValue } from '../spec/single-value.ts'
import type { BoundTerm, CompareOperator, LeafPredicate, Predicate } from './expression.ts'

/** The value of a term's column in one row. */
export type ValueOf = (term: BoundTerm) => PartitionValue

/**
 * Whether a row matches; transforms are applied here. Null and NaN are equal to no literal, so they match `not-eq`, `not-in` and
 * (null) `not-starts-with`, and are neither below nor above one; −0 equals +0. Spec: Expressions, Predicates.
 */
export function evaluate(predicate: Predicate, valueOf: ValueOf): boolean {
  switch (predicate.kind) {
    case 'true':
      return true
    case 'false':
      return false
    case 'and':
      return predicate.children.every((child) => evaluate(child, valueOf))
    case 'or':
      return predicate.children.some((child) => evaluate(child, valueOf))
    default:
      return evaluateLeaf(predicate, valueOf)
  }
}

function evaluateLeaf(leaf: LeafPredicate, valueOf: ValueOf): boolean {
  const { term } = leaf
  const value = applyTransform(term.transform, term.type, valueOf(term))
  switch (leaf.kind) {
    case 'unary':
      return evaluateUnary(leaf, value)
    case 'compare':
      return evaluateCompare(leaf, value)
    case 'set': {
      const isAmong = leaf.literals.some((literal) => isEqual(term, value, literal))
      return isAmong === (leaf.operator === 'in')
    }
    default:
      return assertNever(leaf, 'predicate')
  }
}

function evaluateUnary(
  { operator }: Extract<LeafPredicate, { kind: 'unary' }>,
  value: PartitionValue,
): boolean {
  switch (operator) {
    case 'is-null':
      return value === null
    case 'not-null':
      return value !== null
    case 'is-nan':
      return Number.isNaN(value)
    case 'not-nan':
      return !Number.isNaN(value)
    default:
      return assertNever(operator, 'operator')
  }
}

function evaluateCompare(
  { operator, term, literal }: Extract<LeafPredicate, { kind: 'compare' }>,
  value: PartitionValue,
): boolean {
  switch (operator) {
    case 'eq':
      return isEqual(term, value, literal)
    case 'not-eq':
      return !isEqual(term, value, literal)
    case 'starts-with':
      return startsWith(value, literal)
    case 'not-starts-with':
      return !startsWith(value, literal)
    default:
      return (
        value !== null &&
        !Number.isNaN(value) &&
        isOrdered(operator, compareInFilter(term, value, literal))
      )
  }
}

function isOrdered(
  operator: Extract<CompareOperator, 'lt' | 'lt-eq' | 'gt' | 'gt-eq'>,
  order: number,
): boolean {
  switch (operator) {
    case 'lt':
      return order < 0
    case 'lt-eq':
      return order <= 0
    case 'gt':
      return order > 0
    case 'gt-eq':
      return order >= 0
    default:
      return assertNever(operator, 'operator')
  }
}

function isEqual(term: BoundTerm, value: PartitionValue, literal: SingleValue): boolean {
  return value !== null && compareInFilter(term, value, literal) === 0
}

/** Like compareValues, but −0 equals +0. */
function compareInFilter({ resultType }: BoundTerm, a: SingleValue, b: SingleValue): number {
  return a === b ? 0 : compareValues(resultType, a, b)
}

function startsWith(value: PartitionValue, prefix: SingleValue): boolean {
  return typeof value === 'string' && typeof prefix === 'string' && value.startsWith(prefix)
}

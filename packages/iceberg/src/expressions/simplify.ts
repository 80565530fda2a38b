import { assertNever } from '../spec/invariant.ts'
import {
  ALWAYS_FALSE,
  ALWAYS_TRUE,
  type CompareOperator,
  type LeafPredicate,
  type Predicate,
  type SetOperator,
  type UnaryOperator,
} from './expression.ts'

/** All of them, in the normal form of Predicate; `true` for none. */
export function and(children: readonly Predicate[]): Predicate {
  return combine('and', children)
}

/** At least one of them, in the normal form of Predicate; `false` for none. */
export function or(children: readonly Predicate[]): Predicate {
  return combine('or', children)
}

function combine(kind: 'and' | 'or', children: readonly Predicate[]): Predicate {
  const [neutral, absorbing] = kind === 'and' ? ['true', 'false'] : ['false', 'true']
  const kept: Predicate[] = []
  for (const child of children) {
    if (child.kind === absorbing) return child
    if (child.kind === kind) for (const grandchild of child.children) kept.push(grandchild)
    else if (child.kind !== neutral) kept.push(child)
  }
  if (kept.length > 1) return { kind, children: kept }
  return kept[0] ?? (kind === 'and' ? ALWAYS_TRUE : ALWAYS_FALSE)
}

export const UNARY_OPPOSITES: Readonly<Record<UnaryOperator, UnaryOperator>> = {
  'is-null': 'not-null',
  'not-null': 'is-null',
  'is-nan': 'not-nan',
  'not-nan': 'is-nan',
}
export const COMPARE_OPPOSITES: Readonly<Record<CompareOperator, CompareOperator>> = {
  lt: 'gt-eq',
  'lt-eq': 'gt',
  gt: 'lt-eq',
  'gt-eq': 'lt',
  eq: 'not-eq',
  'not-eq': 'eq',
  'starts-with': 'not-starts-with',
  'not-starts-with': 'starts-with',
}
export const SET_OPPOSITES: Readonly<Record<SetOperator, SetOperator>> = {
  in: 'not-in',
  'not-in': 'in',
}

/**
 * The opposite, with `not` moved into the leaves as engines do: `not (x < 5)` is `x >= 5`, so a null is in neither
 * of the two.
 */
export function negate(predicate: Predicate): Predicate {
  switch (predicate.kind) {
    case 'true':
      return ALWAYS_FALSE
    case 'false':
      return ALWAYS_TRUE
    case 'and':
      return or(predicate.children.map(negate))
    case 'or':
      return and(predicate.children.map(negate))
    default:
      return negateLeaf(predicate)
  }
}

function negateLeaf(leaf: LeafPredicate): LeafPredicate {
  switch (leaf.kind) {
    case 'unary':
      return { ...leaf, operator: UNARY_OPPOSITES[leaf.operator] }
    case 'compare':
      return { ...leaf, operator: COMPARE_OPPOSITES[leaf.operator] }
    case 'set':
      return { ...leaf, operator: SET_OPPOSITES[leaf.operator] }
    default:
      return assertNever(leaf, 'predicate')
  }
}

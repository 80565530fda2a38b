import { assertNever } from '../spec/invariant.ts'
import type {
  CompareOperator,
  Expression,
  LeafPredicate,
  SetOperator,
  UnaryOperator,
} from './expression.ts'

/** A predicate of a filter that is not tied to a schema. */
export type UnboundLeaf = Extract<Expression, { kind: LeafPredicate['kind'] }>

const UNARY_OPPOSITES: Readonly<Record<UnaryOperator, UnaryOperator>> = {
  'is-null': 'not-null',
  'not-null': 'is-null',
  'is-nan': 'not-nan',
  'not-nan': 'is-nan',
}
const COMPARE_OPPOSITES: Readonly<Record<CompareOperator, CompareOperator>> = {
  lt: 'gt-eq',
  'lt-eq': 'gt',
  gt: 'lt-eq',
  'gt-eq': 'lt',
  eq: 'not-eq',
  'not-eq': 'eq',
  'starts-with': 'not-starts-with',
  'not-starts-with': 'starts-with',
}
const SET_OPPOSITES: Readonly<Record<SetOperator, SetOperator>> = { in: 'not-in', 'not-in': 'in' }

/** The opposite as engines see it: that of `x < 5` is `x >= 5`, so a null is in neither of the two. */
export function opposite<Leaf extends UnboundLeaf | LeafPredicate>(leaf: Leaf): Leaf {
  return { ...leaf, operator: oppositeOperator(leaf) }
}

function oppositeOperator(leaf: UnboundLeaf | LeafPredicate) {
  switch (leaf.kind) {
    case 'unary':
      return UNARY_OPPOSITES[leaf.operator]
    case 'compare':
      return COMPARE_OPPOSITES[leaf.operator]
    case 'set':
      return SET_OPPOSITES[leaf.operator]
    default:
      return assertNever(leaf, 'predicate')
  }
}

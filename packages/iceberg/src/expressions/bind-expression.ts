import { InvalidInputError } from '../spec/errors.ts'
import { assertNever } from '../spec/invariant.ts'
import { compareValues, type SingleValue } from '../spec/single-value.ts'
import { bindTerm, type Binding, type FilteredSchema } from './bind-term.ts'
import { compareBeyond, compareInfinity, isFloating, isInfinite } from './compare-beyond.ts'
import { convertLiteral, type ConvertedLiteral } from './convert-literal.ts'
import { evaluate } from './evaluate.ts'
import {
  ALWAYS_FALSE,
  ALWAYS_TRUE,
  type BoundTerm,
  type CompareOperator,
  type Expression,
  type LeafPredicate,
  type Literal,
  type Predicate,
  type SetOperator,
} from './expression.ts'
import { opposite, type UnboundLeaf } from './opposite.ts'
import { and, or } from './simplify.ts'

/**
 * The filter tied to the columns of a schema, in the normal form of Predicate: names resolved, literals converted to the
 * types of their terms, `not` moved into the operators as engines do (`not (x < 5)` is `x >= 5`, so nulls are in neither), and
 * leaves replaced by `true` or `false` where no value can decide otherwise. A comparison with a literal beyond all values is
 * replaced by what engines take it for, which for `x < 10^30` is `true` even where x is null.
 * Throws InvalidInputError that names the column. Spec: Expressions.
 */
export function bindExpression(
  expression: Expression,
  schema: FilteredSchema,
  options: { readonly caseSensitive: boolean },
): Predicate {
  return bind(expression, { schema, ...options }, false)
}

function bind(expression: Expression, binding: Binding, isNegated: boolean): Predicate {
  switch (expression.kind) {
    case 'true':
    case 'false':
      return (expression.kind === 'true') === isNegated ? ALWAYS_FALSE : ALWAYS_TRUE
    case 'not':
      return bind(expression.child, binding, !isNegated)
    case 'and':
    case 'or': {
      const children = expression.children.map((child) => bind(child, binding, isNegated))
      return (expression.kind === 'and') === isNegated ? or(children) : and(children)
    }
    default:
      return bindLeaf(isNegated ? opposite(expression) : expression, binding)
  }
}

function bindLeaf(leaf: UnboundLeaf, binding: Binding): Predicate {
  const term = bindTerm(leaf.term, binding)
  const bound = bindOperands(leaf, term)
  const isAlwaysNull = term.transform.kind === 'void' || term.type.kind === 'unknown'
  if (!isAlwaysNull) return bound
  return evaluate(bound, () => null) ? ALWAYS_TRUE : ALWAYS_FALSE
}

function bindOperands(leaf: UnboundLeaf, term: BoundTerm): Predicate {
  switch (leaf.kind) {
    case 'unary':
      return bindUnary(leaf, term)
    case 'compare':
      return bindCompare(leaf, term)
    case 'set':
      return bindSet(leaf, term)
    default:
      return assertNever(leaf, 'expression')
  }
}

function bindUnary(
  { operator }: Extract<UnboundLeaf, { kind: 'unary' }>,
  term: BoundTerm,
): Predicate {
  switch (operator) {
    case 'is-null':
      return isNeverNull(term) ? ALWAYS_FALSE : { kind: 'unary', operator, term }
    case 'not-null':
      return isNeverNull(term) ? ALWAYS_TRUE : { kind: 'unary', operator, term }
    case 'is-nan':
    case 'not-nan':
      if (isFloating(term.resultType)) return { kind: 'unary', operator, term }
      throw new InvalidInputError(
        `cannot test ${term.name} for NaN: expected a float or double, got ${term.resultType.kind}`,
      )
    default:
      return assertNever(operator, 'operator')
  }
}

function isNeverNull({ isRequired, transform }: BoundTerm): boolean {
  return isRequired && transform.kind !== 'void'
}

function bindCompare(
  { operator, literal }: Extract<UnboundLeaf, { kind: 'compare' }>,
  term: BoundTerm,
): Predicate {
  if (operator === 'starts-with' || operator === 'not-starts-with') checkPrefixed(term)
  const converted = convert(literal, term)
  switch (converted.place) {
    case 'at':
      return compareValue(operator, term, converted.value)
    case 'between':
      return compareBetween(operator, term, converted.value)
    case 'above':
    case 'below':
      return compareBeyond(operator, term, converted.place)
    default:
      return assertNever(converted, 'literal')
  }
}

function compareValue(operator: CompareOperator, term: BoundTerm, literal: SingleValue): Predicate {
  return isInfinite(literal)
    ? compareInfinity(operator, term, literal)
    : { kind: 'compare', operator, term, literal }
}

function checkPrefixed({ name, resultType }: BoundTerm): void {
  if (resultType.kind === 'string') return
  throw new InvalidInputError(
    `cannot compare the start of ${name}: expected a string, got ${resultType.kind}`,
  )
}

function convert(literal: Literal, term: BoundTerm): ConvertedLiteral {
  return convertLiteral(term.resultType, literal, `filter on ${term.name}`)
}

/** A comparison with a literal that lies right above `value` and below the next value of the type. */
function compareBetween(
  operator: CompareOperator,
  term: BoundTerm,
  literal: SingleValue,
): Predicate {
  switch (operator) {
    case 'eq':
      return ALWAYS_FALSE
    case 'not-eq':
      return ALWAYS_TRUE
    case 'lt':
    case 'lt-eq':
      return { kind: 'compare', operator: 'lt-eq', term, literal }
    default:
      return { kind: 'compare', operator: 'gt', term, literal }
  }
}

function bindSet(
  { operator, literals }: Extract<UnboundLeaf, { kind: 'set' }>,
  term: BoundTerm,
): Predicate {
  const found = literals
    .map((literal) => convert(literal, term))
    // No value is equal to a literal that the type does not have.
    .flatMap((converted) => (converted.place === 'at' ? [converted.value] : []))
  const [single, combine] = operator === 'in' ? (['eq', or] as const) : (['not-eq', and] as const)
  const finite = distinct(
    found.filter((value) => !isInfinite(value)),
    term,
  )
  const infinite = distinct(found.filter(isInfinite), term)
  return combine([
    ...setOf(operator, term, finite),
    ...infinite.map((literal) => compareValue(single, term, literal)),
  ])
}

function setOf(
  operator: SetOperator,
  term: BoundTerm,
  literals: readonly SingleValue[],
): LeafPredicate[] {
  const [only] = literals
  if (only === undefined) return []
  if (literals.length > 1) return [{ kind: 'set', operator, term, literals }]
  return [{ kind: 'compare', operator: operator === 'in' ? 'eq' : 'not-eq', term, literal: only }]
}

function distinct(values: SingleValue[], { resultType }: BoundTerm): readonly SingleValue[] {
  values.sort((a, b) => compareValues(resultType, a, b))
  return values.filter((value, index) => {
    const before = values[index - 1]
    return before === undefined || compareValues(resultType, before, value) !== 0
  })
}

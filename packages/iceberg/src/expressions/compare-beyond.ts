import type { SingleValue } from '../spec/single-value.ts'
import type { PrimitiveType } from '../spec/type.ts'
import {
  ALWAYS_FALSE,
  ALWAYS_TRUE,
  type BoundTerm,
  type CompareOperator,
  type Predicate,
} from './expression.ts'
import { and, or } from './simplify.ts'

const FLOAT_MAX = (2 - 2 ** -23) * 2 ** 127

/** Whether the type has NaN and infinities. */
export function isFloating({ kind }: PrimitiveType): boolean {
  return kind === 'float' || kind === 'double'
}

/** Whether a value is one of the infinities of the floating types. */
export function isInfinite(value: SingleValue): boolean {
  return value === Infinity || value === -Infinity
}

/**
 * A comparison with a literal beyond all finite values of the term, as Java and PyIceberg take it: `true` or `false` for nulls,
 * too. Infinities are beyond such a literal, so they are not lost.
 */
export function compareBeyond(
  operator: CompareOperator,
  term: BoundTerm,
  place: 'above' | 'below',
): Predicate {
  const [inward, outward] = place === 'above' ? ['lt', 'gt'] : ['gt', 'lt']
  switch (operator) {
    case 'not-eq':
    case inward:
    case `${inward}-eq`:
      return ALWAYS_TRUE
    case outward:
    case `${outward}-eq`:
      return isFloating(term.resultType)
        ? isInfinity(term, place === 'above' ? 1 : -1)
        : ALWAYS_FALSE
    default:
      return ALWAYS_FALSE
  }
}

/**
 * A comparison of floats with an infinity, said with the greatest finite number: JSON, in which the filter goes back to
 * clients, has no infinities.
 */
export function compareInfinity(
  operator: CompareOperator,
  term: BoundTerm,
  infinity: SingleValue,
): Predicate {
  const sign = infinity === Infinity ? 1 : -1
  const [inward, outward] = sign > 0 ? ['lt', 'gt'] : ['gt', 'lt']
  const isNull = { kind: 'unary', operator: 'is-null', term } as const
  const isNan = { kind: 'unary', operator: 'is-nan', term } as const
  switch (operator) {
    case 'eq':
    case `${outward}-eq`:
      return isInfinity(term, sign)
    case 'not-eq': {
      const others = [isOtherThanInfinity(term, sign), isNan]
      return or(term.isRequired ? others : [...others, isNull])
    }
    case inward:
      return isOtherThanInfinity(term, sign)
    case `${inward}-eq`: {
      const isNumber = { ...isNan, operator: 'not-nan' } as const
      return and(term.isRequired ? [isNumber] : [{ ...isNull, operator: 'not-null' }, isNumber])
    }
    default:
      return ALWAYS_FALSE
  }
}

function isInfinity(term: BoundTerm, sign: 1 | -1): Predicate {
  const operator = sign > 0 ? 'gt' : 'lt'
  return { kind: 'compare', operator, term, literal: sign * greatest(term) }
}

function isOtherThanInfinity(term: BoundTerm, sign: 1 | -1): Predicate {
  const operator = sign > 0 ? 'lt-eq' : 'gt-eq'
  return { kind: 'compare', operator, term, literal: sign * greatest(term) }
}

function greatest({ resultType }: BoundTerm): number {
  return resultType.kind === 'float' ? FLOAT_MAX : Number.MAX_VALUE
}

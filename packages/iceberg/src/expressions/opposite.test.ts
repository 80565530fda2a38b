import { describe, expect, it } from 'vitest'
import type { PartitionValue } from '../spec/partition-spec.ts'
import { bindExpression } from './bind-expression.ts'
import { evaluate } from './evaluate.ts'
import {
  ALWAYS_FALSE,
  ALWAYS_TRUE,
  type BoundTerm,
  type Expression,
  type LeafPredicate,
} from './expression.ts'
import { opposite } from './opposite.ts'
import { and, or } from './simplify.ts'

const term = (kind: 'double' | 'string'): BoundTerm => ({
  fieldId: 1,
  name: 'x',
  type: { kind },
  isRequired: false,
  transform: { kind: 'identity' },
  resultType: { kind },
})
const NUMBER = term('double')
const TEXT = term('string')

const A: LeafPredicate = { kind: 'compare', operator: 'lt', term: NUMBER, literal: 1 }
const B: LeafPredicate = { kind: 'compare', operator: 'gt', term: NUMBER, literal: 2 }
const C: LeafPredicate = { kind: 'unary', operator: 'is-nan', term: NUMBER }

/** Every leaf, with values on both sides of its literal and on it; whether null and NaN match it and its opposite. */
const LEAVES: [LeafPredicate, readonly SingleRow[]][] = [
  [
    { kind: 'unary', operator: 'is-null', term: NUMBER },
    [
      [null, true, false],
      [1, false, true],
      [NaN, false, true],
    ],
  ],
  [
    { kind: 'unary', operator: 'is-nan', term: NUMBER },
    [
      [null, false, true],
      [1, false, true],
      [NaN, true, false],
    ],
  ],
  [
    { kind: 'compare', operator: 'lt', term: NUMBER, literal: 1 },
    [
      [null, false, false],
      [0, true, false],
      [1, false, true],
      [2, false, true],
      [NaN, false, false],
    ],
  ],
  [
    { kind: 'compare', operator: 'lt-eq', term: NUMBER, literal: 1 },
    [
      [null, false, false],
      [0, true, false],
      [1, true, false],
      [2, false, true],
      [NaN, false, false],
    ],
  ],
  [
    { kind: 'compare', operator: 'eq', term: NUMBER, literal: 1 },
    [
      [null, false, true],
      [0, false, true],
      [1, true, false],
      [NaN, false, true],
    ],
  ],
  [
    { kind: 'compare', operator: 'eq', term: NUMBER, literal: -0 },
    [
      [0, true, false],
      [-0, true, false],
    ],
  ],
  [
    { kind: 'compare', operator: 'lt', term: NUMBER, literal: 0 },
    [
      [0, false, true],
      [-0, false, true],
    ],
  ],
  [
    { kind: 'set', operator: 'in', term: NUMBER, literals: [0, 1] },
    [
      [null, false, true],
      [-0, true, false],
      [2, false, true],
      [NaN, false, true],
    ],
  ],
  [
    { kind: 'compare', operator: 'starts-with', term: TEXT, literal: 'ab' },
    [
      [null, false, true],
      ['a', false, true],
      ['ab', true, false],
      ['abc', true, false],
    ],
  ],
]
type SingleRow = readonly [value: PartitionValue, matches: boolean, matchesOpposite: boolean]

describe('opposite', () => {
  it.each(LEAVES)('gives the opposite of $0.operator', (leaf, rows) => {
    const turned = opposite(leaf)
    for (const [value, matches, matchesOpposite] of rows) {
      expect(evaluate(leaf, () => value)).toBe(matches)
      expect(evaluate(turned, () => value)).toBe(matchesOpposite)
    }
    expect(opposite(turned)).toEqual(leaf)
  })
})

describe('not', () => {
  const schema = {
    fields: [{ id: 1, name: 'x', required: false, type: { kind: 'double' } }],
  } as const
  const not = (child: Expression) =>
    bindExpression({ kind: 'not', child }, schema, { caseSensitive: true })
  const x = { reference: { name: 'x' }, transform: { kind: 'identity' } } as const
  const a: Expression = { kind: 'compare', operator: 'lt', term: x, literal: { json: 1n } }
  const b: Expression = { kind: 'compare', operator: 'gt', term: x, literal: { json: 2n } }
  const c: Expression = { kind: 'unary', operator: 'is-nan', term: x }

  it('moves into chains and constants', () => {
    const chain = not({ kind: 'and', children: [a, { kind: 'or', children: [b, c] }] })
    expect(chain).toEqual(or([opposite(A), and([opposite(B), opposite(C)])]))
    expect(not(ALWAYS_TRUE)).toEqual(ALWAYS_FALSE)
    expect(not(ALWAYS_FALSE)).toEqual(ALWAYS_TRUE)
  })
})

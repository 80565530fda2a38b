import { describe, expect, it } from 'vitest'
import type { PartitionValue } from '../spec/partition-spec.ts'
import { evaluate } from './evaluate.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE, type BoundTerm, type LeafPredicate } from './expression.ts'
import { and, negate, or } from './simplify.ts'

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

describe('negate', () => {
  it.each(LEAVES)('gives the opposite of $0.operator', (leaf, rows) => {
    const opposite = negate(leaf)
    for (const [value, matches, matchesOpposite] of rows) {
      expect(evaluate(leaf, () => value)).toBe(matches)
      expect(evaluate(opposite, () => value)).toBe(matchesOpposite)
    }
    expect(negate(opposite)).toEqual(leaf)
  })

  it('moves into chains and constants', () => {
    expect(negate(and([A, or([B, C])]))).toEqual(or([negate(A), and([negate(B), negate(C)])]))
    expect(negate(ALWAYS_TRUE)).toEqual(ALWAYS_FALSE)
    expect(negate(ALWAYS_FALSE)).toEqual(ALWAYS_TRUE)
  })
})

describe('and, or', () => {
  it('are true and false of nothing', () => {
    expect(and([])).toEqual(ALWAYS_TRUE)
    expect(or([])).toEqual(ALWAYS_FALSE)
  })

  it('leave out what decides nothing, and end at what decides all', () => {
    expect(and([ALWAYS_TRUE, A, ALWAYS_TRUE])).toBe(A)
    expect(or([ALWAYS_FALSE, A])).toBe(A)
    expect(and([A, ALWAYS_FALSE, B])).toEqual(ALWAYS_FALSE)
    expect(or([A, ALWAYS_TRUE])).toEqual(ALWAYS_TRUE)
  })

  it('take in chains of their own kind and keep the order, and others as they are', () => {
    expect(and([and([A, B]), C])).toEqual({ kind: 'and', children: [A, B, C] })
    expect(or([A, or([B, C])])).toEqual({ kind: 'or', children: [A, B, C] })
    expect(and([or([A, B]), C])).toEqual({
      kind: 'and',
      children: [{ kind: 'or', children: [A, B] }, C],
    })
  })

  it('take in a chain of any length', () => {
    const long = Array.from({ length: 200_000 }, () => A)
    const chain = and([and(long), B])
    expect(chain.kind === 'and' && chain.children.length).toBe(200_001)
  })
})

import { describe, expect, it } from 'vitest'
import { ALWAYS_FALSE, ALWAYS_TRUE, type BoundTerm, type LeafPredicate } from './expression.ts'
import { and, or } from './simplify.ts'

const NUMBER: BoundTerm = {
  fieldId: 1,
  name: 'x',
  type: { kind: 'double' },
  isRequired: false,
  transform: { kind: 'identity' },
  resultType: { kind: 'double' },
}

const A: LeafPredicate = { kind: 'compare', operator: 'lt', term: NUMBER, literal: 1 }
const B: LeafPredicate = { kind: 'compare', operator: 'gt', term: NUMBER, literal: 2 }
const C: LeafPredicate = { kind: 'unary', operator: 'is-nan', term: NUMBER }

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

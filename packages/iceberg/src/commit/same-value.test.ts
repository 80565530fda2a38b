import { expect, it } from 'vitest'
import { sameValue } from './same-value.ts'

it.each<readonly [unknown, unknown, boolean]>([
  [{ a: 1n, b: [1, 'x'] }, { b: [1, 'x'], a: 1n }, true],
  [{ a: undefined }, {}, true],
  [{ a: 1 }, { a: 1n }, false],
  [[1, 2], [2, 1], false],
  [[1], [1, 2], false],
  [{}, [], false],
  [null, {}, false],
  [{ a: null }, {}, false],
  [Number.NaN, Number.NaN, true],
  [{}, { constructor: 1 }, false],
])('%o and %o: %s', (left, right, isSame) => {
  expect(sameValue(left, right)).toBe(isSame)
  expect(sameValue(right, left)).toBe(isSame)
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { NumberColumnBuilder } from './number-column.ts'

const value = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom(0n, 1n, 255n, 256n, 65_535n, 65_536n, 2n ** 31n, -1n, -(2n ** 31n)),
  fc.constantFrom(2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
)
const alike = fc.tuple(value, value).chain(([a, b]) => fc.array(fc.constantFrom(a, a, a, b)))

it('gives back every integer, and none where none was, whatever it keeps them in', () => {
  fc.assert(
    fc.property(fc.oneof(fc.array(value), alike), fc.nat(100), (values, capacity) => {
      const builder = new NumberColumnBuilder(capacity)
      for (const each of values) {
        if (each === undefined) builder.pushNumber(Number.NaN)
        else builder.push(each)
      }
      const column = builder.finish()
      expect(values.map((_, row) => column.at(row))).toEqual(values)
      const numbers = values.map((each) => (each === undefined ? Number.NaN : Number(each)))
      expect(values.map((_, row) => column.numberAt(row))).toEqual(numbers)
    }),
    { numRuns: 1_000 },
  )
})

it.each([
  ['one value', () => 2n ** 62n, 0],
  ['small numbers', (row: number) => BigInt(row % 256), 1],
  ['numbers of two bytes', (row: number) => BigInt(row % 257), 2],
  ['negative numbers', (row: number) => -BigInt(row % 257), 4],
])('takes as many bytes for a row as %s need', (_, at, bytes) => {
  const builder = new NumberColumnBuilder(0)
  for (let row = 0; row < 1_000; row += 1) builder.push(at(row))
  expect(builder.finish().sizeBytes).toBe(1_000 * bytes)
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { NamePool, type PackedNames } from './name-pool.ts'

function packed(names: readonly string[]): PackedNames {
  const pool = new NamePool()
  for (const name of names) {
    // Not at the beginning of what it is read from.
    const bytes = Buffer.from(`x${name}y`)
    pool.push(bytes, 1, bytes.length - 1)
  }
  return pool.finish()
}

const uuid = fc.uuid()
const name = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.tuple(fc.nat(99_999), uuid).map(([n, id]) => `${n}-0-${id}.parquet`),
  fc.tuple(fc.nat(9), uuid).map(([n, id]) => `${id.toUpperCase()}-${id}-0000${n}.parquet`),
  fc.tuple(uuid, fc.nat(40)).map(([id, cut]) => id.slice(0, cut)),
  fc.nat(400).map((length) => 'ü'.repeat(length)),
  fc.constantFrom('', 'a', '----', 'data.parquet'),
)

it('gives every name back, in whatever order they are asked', () => {
  fc.assert(
    fc.property(fc.array(name, { maxLength: 60 }), fc.array(fc.nat(59)), (names, rows) => {
      const pool = packed(names)
      expect(names.map((_, row) => pool.at(row))).toEqual(names)
      for (const row of rows) {
        if (row < names.length) expect(pool.at(row)).toBe(names[row])
      }
    }),
    { numRuns: 500 },
  )
})

it('takes about half of what names with a UUID are long', () => {
  const names = Array.from(
    { length: 1_000 },
    (_, row) => `00000-${10_000 + row}-${fc.sample(uuid, { numRuns: 1, seed: row })[0]}.parquet`,
  )
  expect(packed(names).sizeBytes).toBeLessThan(1_000 * 27)
})

it('takes nothing for files that have no name', () => {
  const pool = packed(Array<string>(1_000).fill(''))
  expect(pool.sizeBytes).toBe(0)
  expect(pool.at(999)).toBe('')
})

import { openTestDatabase } from '@timelake/testing/open-test-database'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StatementError } from './database-errors.ts'
import { boundArray } from './pglite-bind.ts'
import type { Database } from './sql-session.ts'

const TEXT_ARRAY = 1009
const INT4_ARRAY = 1007
const INT8_ARRAY = 1016

describe('parameters of the database in this process', () => {
  let database: Database

  beforeAll(async () => {
    database = await openTestDatabase()
  })

  afterAll(() => database.close())

  /** The items as the database got them, each as text. */
  const received = async (type: string, items: readonly unknown[]) => {
    const rows = await database.query<{ item: string | null }>(
      `select item::text as item from unnest($1::${type}[]) with ordinality as i(item, place) order by place`,
      [items],
    )
    return rows.map(({ item }) => item)
  }

  it('takes texts as they are', async () => {
    const texts = [
      '',
      'a',
      null,
      'NULL',
      'null',
      '{}',
      'a,b',
      '"',
      '\\',
      '\\"',
      "'",
      'é',
      '\u{1f600}',
    ]
    expect(await received('text', texts)).toEqual(texts)
  })

  it('takes any text', async () => {
    // The database holds no NUL, and a lone surrogate is no character.
    const text = fc.string({ unit: 'binary' }).map((any) => any.replaceAll('\0', ''))
    const items = fc.array(fc.oneof(text, fc.constant(null)), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(items, async (texts) => {
        expect(await received('text', texts)).toEqual(texts)
      }),
      { numRuns: 50 },
    )
  })

  it('takes whole numbers to their limits', async () => {
    const longs = [-(2n ** 63n), 2n ** 63n - 1n, 9007199254740993n, 0, -1, null]
    expect(await received('bigint', longs)).toEqual(longs.map((one) => one?.toString() ?? null))
    const ints = [-(2 ** 31), 2 ** 31 - 1, 0n, null]
    expect(await received('int', ints)).toEqual(ints.map((one) => one?.toString() ?? null))
  })

  it.each(['text', 'bigint', 'int'])('takes an empty array of %s', async (type) => {
    expect(await received(type, [])).toEqual([])
    const sql = `select cardinality($1::${type}[]) as size, $1::${type}[] = '{}' as is_empty`
    expect(await database.query(sql, [[]])).toEqual([{ size: 0, is_empty: true }])
  })

  it('counts the items of an array from 1', async () => {
    const sql = 'select ($1::text[])[1] as first, array_ndims($1::text[]) as dimensions'
    expect(await database.query(sql, [['a', 'b']])).toEqual([{ first: 'a', dimensions: 1 }])
  })

  it.each([
    ['bigint', [1.5]],
    ['bigint', [2n ** 63n]],
    ['int', [2 ** 31]],
    ['int', [Number.NaN]],
    ['bigint', ['one']],
  ])('lets the database refuse what is no %s: %s', async (type, items) => {
    await expect(received(type, items)).rejects.toThrow(StatementError)
    expect(await received(type, [1])).toEqual(['1'])
  })

  it('takes statements of any size, one after another', async () => {
    for (const length of [10, 100_000, 5_000_000, 10]) {
      const texts = ['x'.repeat(length), '日'.repeat(length / 10)]
      const rows = await database.query<{ long: string; length: bigint }>(
        'select $2::text as long, sum(length(item)) as length from unnest($1::text[]) as item',
        [texts, texts[0]],
      )
      expect(rows[0]?.long).toBe(texts[0])
      expect(Number(rows[0]?.length)).toBe(length + length / 10)
    }
  })

  it('keeps scalars beside arrays', async () => {
    const sql = `select $1::text as text, $2::bigint as long, $3::boolean as yes, $4::text as nothing,
      cardinality($5::text[]) as size`
    expect(await database.query(sql, ['a"b', 2n ** 62n, true, null, ['x', null]])).toEqual([
      { text: 'a"b', long: 2n ** 62n, yes: true, nothing: null, size: 2 },
    ])
  })
})

it.each([
  ['a text for an array', TEXT_ARRAY, '{a}'],
  ['an array of arrays', TEXT_ARRAY, [['a']]],
  ['a number among texts', TEXT_ARRAY, ['a', 1]],
  ['a text among numbers', INT8_ARRAY, ['1']],
  ['a fraction', INT4_ARRAY, [0.5]],
  ['an undefined item', TEXT_ARRAY, [undefined]],
  ['an array of another type', 1000, [true]],
])('leaves the text form to %s', (_, typeOid, value) => {
  expect(boundArray(value, typeOid)).toBeUndefined()
})

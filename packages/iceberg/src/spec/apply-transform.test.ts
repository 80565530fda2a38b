import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  applyTransform,
  bucketHash,
  canTransform,
  firstCodePoints,
  transformResultType,
} from './apply-transform.ts'
import { InvalidInputError } from './errors.ts'
import { parseTimestamp } from './date-time-text.ts'
import { decodeJsonValue } from './json-single-value.ts'
import { murmur3, murmur3Long } from './murmur3.ts'
import type { PartitionValue } from './partition-spec.ts'
import { parseTransform } from './transform-text.ts'
import { parsePrimitiveType } from './type-json.ts'
import type { PrimitiveType } from './type.ts'

const type = (text: string): PrimitiveType => parsePrimitiveType(text, 'type')

describe('bucketHash', () => {
  it.each([
    ['int', 34n, 2017239379],
    ['long', 34n, 2017239379],
    ['decimal(9, 2)', '14.20', -500754589],
    ['date', '2017-11-16', -653330422],
    ['time', '22:31:08', -662762989],
    ['timestamp', '2017-11-16T22:31:08', -2047944441],
    ['timestamp', '2017-11-16T22:31:08.000001', -1207196810],
    ['timestamptz', '2017-11-16T22:31:08+00:00', -2047944441],
    ['timestamptz', '2017-11-16T22:31:08.000001+00:00', -1207196810],
    ['timestamp_ns', '2017-11-16T22:31:08', -2047944441],
    ['timestamp_ns', '2017-11-16T22:31:08.000001001', -1207196810],
    ['timestamptz_ns', '2017-11-16T22:31:08.000001999+00:00', -1207196810],
    ['string', 'iceberg', 1210000089],
    ['uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', 1488055340],
    ['fixed[4]', '00010203', -188683207],
    ['binary', '00010203', -188683207],
  ] as [string, string | bigint, number][])('of %s %s is %i', (text, json, expected) => {
    expect(bucketHash(type(text), decodeJsonValue(type(text), json, 'value'))).toBe(expected)
  })

  it('of a long is that of its eight bytes', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (value) => {
        const bytes = Buffer.alloc(8)
        bytes.writeBigInt64LE(value)
        expect(murmur3Long(value)).toBe(murmur3(bytes))
      }),
    )
  })

  it.each([
    ['', 0],
    ['a', 1009084850],
    ['abc', -1277324294],
    ['abcde', -392455434],
  ])('of the bytes of "%s" agrees with the reference implementation', (text, expected) => {
    expect(murmur3(new TextEncoder().encode(text))).toBe(expected)
  })
})

describe('applyTransform', () => {
  const micros = (text: string): bigint => parseTimestamp(text, 6) as bigint

  it.each([
    ['bucket[16]', 'int', 34, (2017239379 & 0x7fffffff) % 16],
    ['bucket[100]', 'date', 17486, (-653330422 & 0x7fffffff) % 100],
    ['truncate[10]', 'int', 1, 0],
    ['truncate[10]', 'int', -1, -10],
    ['truncate[10]', 'long', -1n, -10n],
    ['truncate[50]', 'decimal(9, 2)', 1065n, 1050n],
    ['truncate[50]', 'decimal(9, 2)', -1n, -50n],
    ['truncate[3]', 'string', 'iceberg', 'ice'],
    ['truncate[2]', 'string', '😀😀😀', '😀😀'],
    ['truncate[2]', 'binary', Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2)],
    ['identity', 'string', 'x', 'x'],
    ['void', 'string', 'x', null],
    ['bucket[16]', 'string', null, null],
    ['day', 'date', 17486, 17486],
    ['month', 'date', 17486, 574],
    ['year', 'date', 17486, 47],
    ['year', 'date', -1, -1],
    ['month', 'date', -1, -1],
    ['month', 'date', -47, -2],
    ['year', 'date', 2147483647, 5879610],
    ['year', 'date', -2147483648, -5879611],
  ] as [string, string, PartitionValue, PartitionValue][])(
    '%s of %s %s is %s',
    (transform, text, value, expected) => {
      expect(applyTransform(parseTransform(transform), type(text), value)).toEqual(expected)
    },
  )

  it.each([
    ['hour', '1969-12-31T23:59:59.999999', -1],
    ['day', '1969-12-31T23:59:59.999999', -1],
    ['month', '1969-12-31T23:59:59.999999', -1],
    ['year', '1969-12-31T23:59:59.999999', -1],
    ['day', '1969-12-31T00:00', -1],
    ['month', '1969-11-15T00:00', -2],
    ['hour', '1970-01-01T00:00', 0],
    ['year', '0001-01-01T00:00', -1969],
    ['month', '9999-12-31T23:59', 8029 * 12 + 11],
  ])('%s of %s rounds down to %i (B106)', (transform, text, expected) => {
    const value = micros(text)
    expect(applyTransform(parseTransform(transform), type('timestamp'), value)).toBe(expected)
    expect(applyTransform(parseTransform(transform), type('timestamptz_ns'), value * 1000n)).toBe(
      expected,
    )
  })

  it.each([
    ['hour', 'date', 1],
    ['bucket[4]', 'double', 1],
    ['truncate[4]', 'date', 1],
    ['identity', 'variant', 1],
    ['day', 'string', 'x'],
    ['zorder', 'int', 1],
  ] as [string, string, PartitionValue][])('refuses %s of %s', (transform, text, value) => {
    expect(canTransform(parseTransform(transform), type(text))).toBe(false)
    expect(() => applyTransform(parseTransform(transform), type(text), value)).toThrow(
      InvalidInputError,
    )
  })

  it('gives values of the result type', () => {
    expect(transformResultType(parseTransform('day'), type('timestamp'))).toEqual({ kind: 'date' })
    expect(transformResultType(parseTransform('bucket[4]'), type('string'))).toEqual({
      kind: 'int',
    })
    expect(transformResultType(parseTransform('truncate[4]'), type('decimal(9, 2)'))).toEqual(
      type('decimal(9, 2)'),
    )
  })
})

describe('firstCodePoints', () => {
  it('never cuts a character in two (B095)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 20 }), (text, count) => {
        expect(firstCodePoints(text, count)).toBe([...text].slice(0, count).join(''))
      }),
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import type { JsonValue } from '../spec/json-value.ts'
import { compareValues, type SingleValue } from '../spec/single-value.ts'
import { parsePrimitiveType } from '../spec/type-json.ts'
import type { PrimitiveType } from '../spec/type.ts'
import { convertLiteral, type ConvertedLiteral } from './convert-literal.ts'

const convert = (type: string, json: JsonValue, own?: string): ConvertedLiteral =>
  convertLiteral(
    parsePrimitiveType(type, 'type'),
    { json, ...(own === undefined ? {} : { type: parsePrimitiveType(own, 'type') }) },
    'filter on x',
  )
const at = (value: SingleValue): ConvertedLiteral => ({ place: 'at', value })
const between = (value: SingleValue): ConvertedLiteral => ({ place: 'between', value })
const ABOVE: ConvertedLiteral = { place: 'above' }
const BELOW: ConvertedLiteral = { place: 'below' }
const FLOAT_MAX = 3.4028234663852886e38
const DAY = 86_400_000_000n

describe('convertLiteral', () => {
  it.each<[string, JsonValue, ConvertedLiteral]>([
    ['boolean', true, at(true)],
    ['boolean', 'false', at(false)],
    ['int', 2147483647n, at(2147483647)],
    ['int', 2147483648n, ABOVE],
    ['int', -2147483648n, at(-2147483648)],
    ['int', -2147483649n, BELOW],
    ['int', -2147483648.5, BELOW],
    ['int', 5.0, at(5)],
    ['int', 5.5, between(5)],
    ['int', -5.5, between(-6)],
    ['int', 1e300, ABOVE],
    ['int', '5', at(5)],
    ['long', 9223372036854775807n, at(9223372036854775807n)],
    ['long', 9223372036854775808n, ABOVE],
    ['long', '-9223372036854775809', BELOW],
    ['long', 2 ** 53, at(9007199254740992n)],
    ['float', 0.1, at(Math.fround(0.1))],
    ['float', 3.4028235e38, at(FLOAT_MAX)],
    ['float', 1e39, ABOVE],
    ['float', -1e39, BELOW],
    ['float', 16777217n, at(16777216)],
    ['float', 'Infinity', at(Infinity)],
    ['double', 5n, at(5)],
    ['double', '1.5', at(1.5)],
    ['double', -0, at(-0)],
    ['double', 10n ** 400n, ABOVE],
    ['double', '-Infinity', at(-Infinity)],
    ['decimal(9,2)', '12.34', at(1234n)],
    ['decimal(9,2)', '12.3', at(1230n)],
    ['decimal(9,2)', '12.3400', at(1234n)],
    ['decimal(9,2)', '1E+3', at(100000n)],
    ['decimal(9,2)', '12.345', between(1234n)],
    ['decimal(9,2)', '-12.345', between(-1235n)],
    ['decimal(9,2)', 0.1, at(10n)],
    ['decimal(9,2)', 1e-7, between(0n)],
    ['decimal(9,2)', 7n, at(700n)],
    [
      'decimal(38,10)',
      '1234567890123456789012345678.0123456789',
      at(12345678901234567890123456780123456789n),
    ],
    // A lower multiple of a width may have more digits than the values.
    ['decimal(3,0)', '-1000', at(-1000n)],
    ['date', '2020-01-02', at(18263)],
    ['date', 18263n, at(18263)],
    ['date', '1969-12-31', at(-1)],
    ['date', '+12000-01-02', at(3663383)],
    ['date', '+10000000-01-01', ABOVE],
    ['date', 2147483648n, ABOVE],
    ['date', '2020-01-02T00:00:00', at(18263)],
    ['date', '1969-12-31T23:59:59.999999999', between(-1)],
    ['time', '01:02:03.000004', at(3723000004n)],
    ['time', '01:02', at(3720000000n)],
    ['time', '01:02:03.000004567', between(3723000004n)],
    ['time', 0n, at(0n)],
    ['time', DAY, ABOVE],
    ['time', -1n, BELOW],
    ['timestamp', '1970-01-01T00:00:00.000001', at(1n)],
    ['timestamp', '1969-12-31T23:59:59.999999', at(-1n)],
    ['timestamp', '1970-01-01T00:00:00.000001001', between(1n)],
    ['timestamp', '1969-12-31T23:59:59.9999999', between(-1n)],
    ['timestamp', '1970-01-02', at(DAY)],
    ['timestamp', 5n, at(5n)],
    ['timestamptz', '1970-01-01T00:00:00Z', at(0n)],
    ['timestamptz', '1970-01-01T00:00:00+00:00', at(0n)],
    ['timestamptz', '1970-01-01T00:00:00+02:00', at(-7_200_000_000n)],
    ['timestamptz', '1970-01-01T00:00:00.5-05:30', at(19_800_500_000n)],
    ['timestamptz', '1970-01-01T00:00-0530', at(19_800_000_000n)],
    ['timestamptz', '1970-01-01T00:00:01', at(1_000_000n)],
    ['timestamptz_ns', '1970-01-01T00:00:00.000000001', at(1n)],
    ['timestamp_ns', '1970-01-01T00:00:00.000000001', at(1n)],
    ['timestamp_ns', 5n, at(5000n)],
    ['timestamp_ns', '2300-01-01T00:00:00', ABOVE],
    ['timestamptz_ns', '1600-01-01T00:00:00Z', BELOW],
    ['timestamptz_ns', -1n, at(-1000n)],
    ['string', '', at('')],
    ['uuid', 'F79C3E09-677C-4BBD-A479-3F349CB785E7', at('f79c3e09-677c-4bbd-a479-3f349cb785e7')],
    ['fixed[2]', '01FF', at(Uint8Array.of(1, 255))],
    ['binary', '', at(new Uint8Array())],
  ])('takes %s %s', (type, json, expected) => {
    expect(convert(type, json)).toEqual(expected)
  })

  it.each<[string, string, JsonValue, ConvertedLiteral]>([
    ['int', 'long', 5n, at(5)],
    ['long', 'int', 5n, at(5n)],
    ['long', 'double', 5.5, between(5n)],
    ['decimal(9,2)', 'decimal(12,3)', '1.005', between(100n)],
    ['double', 'float', 0.1, at(Math.fround(0.1))],
    ['double', 'double', 'Infinity', at(Infinity)],
    ['timestamp', 'date', '1970-01-02', at(DAY)],
    ['timestamp', 'date', 1n, at(DAY)],
    ['date', 'timestamp', DAY + 1n, between(1)],
    ['date', 'timestamp', '1970-01-02T00:00:00', at(1)],
    ['timestamp', 'timestamp_ns', '1970-01-01T00:00:00.000000001', between(0n)],
    ['timestamptz_ns', 'timestamptz', '1970-01-01T00:00:00.000001+00:00', at(1000n)],
    ['date', 'string', '1970-01-02', at(1)],
    ['binary', 'fixed[2]', '01ff', at(Uint8Array.of(1, 255))],
    [
      'uuid',
      'uuid',
      'F79C3E09-677C-4BBD-A479-3F349CB785E7',
      at('f79c3e09-677c-4bbd-a479-3f349cb785e7'),
    ],
  ])('takes for %s what says of itself that it is the %s %s', (type, own, json, expected) => {
    expect(convert(type, json, own)).toEqual(expected)
  })

  it.each<[string, JsonValue, RegExp]>([
    ['int', null, /^filter on x: expected int, got null: use is-null/],
    ['double', null, /use is-null/],
    ['double', 'NaN', /expected double, got NaN/],
    ['double', Number.NaN, /expected double, got NaN/],
    ['float', 'NaN', /NaN/],
    ['decimal(9,2)', 'NaN', /NaN/],
    ['decimal(9,2)', '1e99999', /decimal\(9, ?2\)/],
    ['decimal(9,2)', '1'.repeat(1001), /decimal/],
    ['boolean', 1n, /expected boolean, got 1/],
    ['int', 'five', /expected int, got five/],
    ['int', true, /expected int, got true/],
    ['int', [1n], /a list or an object/],
    ['date', '2020-02-30', /got 2020-02-30/],
    ['date', '2020-1-2', /date/],
    ['date', 1.5, /date/],
    ['time', '24:00:00', /time/],
    ['timestamp', '2020-01-01T00:00:00Z', /expected timestamp,/],
    ['timestamptz', '2020-01-01T00:00:00+1', /expected timestamptz,/],
    ['timestamptz', '2020-01-01', /timestamptz/],
    ['string', 5n, /expected string, got integer/],
    ['uuid', 'x', /not a uuid/],
    ['fixed[2]', '01', /expected 2 bytes, got 1/],
    ['fixed[2]', 'zz', /not hexadecimal/],
    ['binary', '0', /not hexadecimal/],
    ['variant', 1n, /cannot compare type variant/],
    ['unknown', 1n, /cannot compare type unknown/],
  ])('refuses %s %s', (type, json, message) => {
    expect(() => convert(type, json)).toThrow(InvalidInputError)
    expect(() => convert(type, json)).toThrow(message)
  })

  it.each<[string, string, JsonValue]>([
    ['int', 'int', 2147483648n],
    ['int', 'int', 1.5],
    ['timestamptz', 'date', '2020-01-01'],
    ['timestamp', 'timestamptz', '2020-01-01T00:00:00Z'],
    ['string', 'int', 5n],
    ['boolean', 'int', 1n],
    ['binary', 'uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7'],
    ['int', 'double', 'NaN'],
    ['int', 'long', null],
  ])('refuses for %s what says of itself that it is the %s %s', (type, own, json) => {
    expect(() => convert(type, json, own)).toThrow(InvalidInputError)
  })

  it('keeps the order of numbers whatever type they are compared in', () => {
    const types: PrimitiveType[] = [
      { kind: 'int' },
      { kind: 'long' },
      { kind: 'decimal', precision: 38, scale: 3 },
    ]
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e20, max: 1e20 }),
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
      fc.integer({ min: -20_000, max: 20_000 }).map((thousandths) => thousandths / 1000),
    )
    const rank = (type: PrimitiveType, a: ConvertedLiteral, b: ConvertedLiteral): number => {
      const side = (one: ConvertedLiteral): number =>
        one.place === 'above' ? 1 : one.place === 'below' ? -1 : 0
      if (!('value' in a) || !('value' in b)) return side(a) - side(b)
      const order = compareValues(type, a.value, b.value)
      return order === 0 ? Number(a.place === 'between') - Number(b.place === 'between') : order
    }
    fc.assert(
      fc.property(number, number, fc.constantFrom(...types), (a, b, type) => {
        const order = rank(
          type,
          convertLiteral(type, { json: a }, ''),
          convertLiteral(type, { json: b }, ''),
        )
        if (a < b) expect(order).toBeLessThanOrEqual(0)
        if (a > b) expect(order).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: 500 },
    )
  })
})

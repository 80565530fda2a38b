import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CorruptFileError, InvalidInputError } from './errors.ts'
import { checkJsonValue, decodeJsonValue, encodeJsonValue } from './json-single-value.ts'
import { compareValues, decodeSingleValue, encodeSingleValue } from './single-value.ts'
import type { SingleValue } from './single-value.ts'
import { parsePrimitiveType } from './type-json.ts'
import type { PrimitiveType } from './type.ts'

const long = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)
const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const bytes = (length?: number) =>
  fc.uint8Array(length === undefined ? { maxLength: 20 } : { minLength: length, maxLength: length })

const arbitraryValues: [string, fc.Arbitrary<SingleValue>][] = [
  ['boolean', fc.boolean()],
  ['int', int],
  ['date', int],
  ['long', long],
  ['time', fc.bigInt(0n, 86_399_999_999n)],
  ['timestamp', long],
  ['timestamptz', long],
  ['timestamp_ns', long],
  ['timestamptz_ns', long],
  ['float', fc.float({ noNaN: true, noDefaultInfinity: true })],
  ['double', fc.double({ noNaN: true, noDefaultInfinity: true })],
  ['decimal(38, 10)', fc.bigInt(-(10n ** 38n) + 1n, 10n ** 38n - 1n)],
  ['decimal(9, 0)', fc.bigInt(-999_999_999n, 999_999_999n)],
  ['string', fc.string({ unit: 'binary' })],
  ['uuid', fc.uuid()],
  ['fixed[7]', bytes(7)],
  ['binary', bytes()],
]

const type = (text: string): PrimitiveType => parsePrimitiveType(text, 'type')
const hex = (value: Uint8Array): string => Buffer.from(value).toString('hex')
const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))

describe('single values', () => {
  it.each(arbitraryValues)('of %s come back from their bytes', (text, values) => {
    fc.assert(
      fc.property(values, (value) => {
        expect(decodeSingleValue(type(text), encodeSingleValue(type(text), value))).toEqual(value)
      }),
    )
  })

  it.each(arbitraryValues)('of %s come back from their JSON', (text, values) => {
    fc.assert(
      fc.property(values, (value) => {
        const json = encodeJsonValue(type(text), value)
        expect(decodeJsonValue(type(text), json, 'value')).toEqual(value)
      }),
    )
  })

  it.each([
    ['boolean', true, '01'],
    ['int', -2, 'feffffff'],
    ['long', 1n, '0100000000000000'],
    ['date', 19000, '384a0000'],
    ['float', -0, '00000080'],
    ['double', 1.5, '000000000000f83f'],
    ['decimal(7, 2)', -996953n, 'f0c9a7'],
    ['decimal(7, 2)', 1250n, '04e2'],
    ['decimal(9, 2)', 0n, '00'],
    ['decimal(9, 2)', 128n, '0080'],
    ['decimal(9, 2)', -128n, '80'],
    ['decimal(9, 2)', -129n, 'ff7f'],
    ['string', 'aä•', '61c3a4e280a2'],
    ['uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', 'f79c3e09677c4bbda4793f349cb785e7'],
  ] as [string, SingleValue, string][])('of %s: %s is %s (B101)', (text, value, expected) => {
    expect(hex(encodeSingleValue(type(text), value))).toBe(expected)
    expect(decodeSingleValue(type(text), unhex(expected))).toEqual(value)
  })

  it.each([
    ['long', '01000000', 1n],
    ['long', 'ffffffff', -1n],
    ['double', '0000c03f', 1.5],
    ['timestamp', 'ffffffff', -86_400_000_000n],
    ['timestamp_ns', '01000000', 86_400_000_000_000n],
    ['decimal(38, 2)', 'f0c9a7', -996953n],
  ] as [string, string, SingleValue][])(
    'of %s read %s of the type before promotion',
    (text, stored, expected) => {
      expect(decodeSingleValue(type(text), unhex(stored))).toEqual(expected)
    },
  )

  it.each([
    ['int', '0100000000000000'],
    ['boolean', ''],
    ['timestamptz', '01000000'],
    ['float', '000000000000f83f'],
    ['uuid', '00'],
    ['decimal(9, 2)', ''],
    ['string', 'e280'],
    ['unknown', '00'],
    ['variant', '00'],
  ])('of %s refuse %s', (text, stored) => {
    expect(() => decodeSingleValue(type(text), unhex(stored))).toThrow(CorruptFileError)
  })
})

describe('JSON single values', () => {
  it.each([
    ['decimal(9, 2)', 1420n, '14.20'],
    ['decimal(9, 2)', -5n, '-0.05'],
    ['decimal(9, 0)', -7n, '-7'],
    ['date', 17486, '2017-11-16'],
    ['date', -1, '1969-12-31'],
    ['date', -719162, '0001-01-01'],
    ['date', 2932896, '9999-12-31'],
    ['time', 81068123456n, '22:31:08.123456'],
    ['timestamp', 1510871468123456n, '2017-11-16T22:31:08.123456'],
    ['timestamp', -1n, '1969-12-31T23:59:59.999999'],
    ['timestamptz', 1510871468123456n, '2017-11-16T22:31:08.123456+00:00'],
    ['timestamp_ns', 1510871468123456789n, '2017-11-16T22:31:08.123456789'],
    ['timestamptz_ns', -1n, '1969-12-31T23:59:59.999999999+00:00'],
    ['fixed[2]', Uint8Array.of(0, 255), '00ff'],
    ['uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', 'f79c3e09-677c-4bbd-a479-3f349cb785e7'],
  ] as [string, SingleValue, string][])('of %s: %s is %s', (text, value, expected) => {
    expect(encodeJsonValue(type(text), value)).toBe(expected)
    expect(decodeJsonValue(type(text), expected, 'value')).toEqual(value)
  })

  it.each([
    ['timestamp', '2017-11-16T22:31:08', 1510871468000000n],
    ['timestamptz', '2017-11-16T22:31:08.5Z', 1510871468500000n],
    ['timestamptz_ns', '2017-11-16T22:31:08-00:00', 1510871468000000000n],
    ['time', '22:31', 81060000000n],
    ['binary', '00FF', Uint8Array.of(0, 255)],
    ['uuid', 'F79C3E09-677C-4BBD-A479-3F349CB785E7', 'f79c3e09-677c-4bbd-a479-3f349cb785e7'],
    ['double', 3n, 3],
  ] as [string, string | bigint, SingleValue][])('of %s also read %s', (text, json, expected) => {
    expect(decodeJsonValue(type(text), json, 'value')).toEqual(expected)
  })

  it.each([
    ['int', 2147483648n],
    ['int', 1],
    ['long', '1'],
    ['decimal(9, 2)', '14.2'],
    ['decimal(4, 2)', '123.45'],
    ['decimal(9, 2)', 14n],
    ['date', '2017-02-30'],
    ['date', '2017-1-1'],
    ['time', '24:00:00'],
    ['timestamp', '2017-11-16'],
    ['timestamp', '2017-11-16T22:31:08.1234567'],
    ['timestamp', '2017-11-16T22:31:08+00:00'],
    ['timestamptz', '2017-11-16T22:31:08'],
    ['timestamptz', '2017-11-16T22:31:08+01:00'],
    ['uuid', 'nope'],
    ['fixed[2]', '00'],
    ['binary', '0'],
    ['variant', 1n],
  ] as [string, string | bigint][])('of %s refuse %s', (text, json) => {
    expect(() => decodeJsonValue(type(text), json, 'value')).toThrow(InvalidInputError)
  })

  it('of nested types are checked by their shape', () => {
    const list = {
      kind: 'list',
      elementId: 1,
      elementRequired: true,
      element: type('int'),
    } as const
    expect(() => checkJsonValue(list, [1n, 2n], 'v')).not.toThrow()
    expect(() => checkJsonValue(list, [null], 'v')).toThrow('v[0]')
    const map = {
      kind: 'map',
      keyId: 1,
      key: type('string'),
      valueId: 2,
      valueRequired: false,
      value: list,
    } as const
    expect(() => checkJsonValue(map, { keys: ['a'], values: [null] }, 'v')).not.toThrow()
    expect(() => checkJsonValue(map, { keys: ['a'], values: [] }, 'v')).toThrow(/as many values/)
  })
})

describe('compareValues', () => {
  it.each([
    ['double', [-Infinity, -1, -0, 0, 1, Infinity, NaN]],
    ['long', [-9223372036854775808n, -1n, 0n, 9223372036854775807n]],
    ['boolean', [false, true]],
    ['string', ['', 'a', 'aa', 'b', 'ä', '\uffee', '\u{1f600}']],
    ['binary', [Uint8Array.of(), Uint8Array.of(1), Uint8Array.of(1, 0), Uint8Array.of(200)]],
    ['uuid', ['00000000-0000-0000-0000-000000000001', 'f0000000-0000-0000-0000-000000000000']],
  ] as [string, SingleValue[]][])('orders values of %s', (text, ordered) => {
    for (const [indexA, a] of ordered.entries()) {
      for (const [indexB, b] of ordered.entries()) {
        expect(Math.sign(compareValues(type(text), a, b))).toBe(Math.sign(indexA - indexB))
      }
    }
  })

  it('orders strings as their UTF-8 bytes', () => {
    const text = fc.string({ unit: 'binary', maxLength: 4 })
    fc.assert(
      fc.property(text, text, (a, b) => {
        const expected = Buffer.compare(Buffer.from(a), Buffer.from(b))
        expect(Math.sign(compareValues(type('string'), a, b))).toBe(expected)
      }),
    )
  })
})

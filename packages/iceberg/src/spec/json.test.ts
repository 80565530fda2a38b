import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryJson } from '@timelake/testing/arbitrary-metadata'
import { heapBytesInUse } from '@timelake/testing/heap-in-use'
import {
  JSON_DEPTH_MAX,
  JsonSyntaxError,
  ownMember,
  parseJson,
  printJson,
  setMember,
} from './json.ts'
import type { JsonValue } from './json-value.ts'

describe('parseJson', () => {
  it('gives back what printJson printed', () => {
    fc.assert(
      fc.property(arbitraryJson, (value) => {
        expect(parseJson(printJson(value))).toEqual(value)
      }),
    )
  })

  it('agrees with JSON.parse on texts without numbers, in any layout', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, (_, member: unknown) =>
          typeof member === 'number' ? String(member) : member,
        )
        const laidOut = JSON.stringify(JSON.parse(text), undefined, indent)
        expect(parseJson(laidOut)).toEqual(JSON.parse(text))
      }),
    )
  })

  it.each([
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['5184430069070270604', 5184430069070270604n],
    ['123456789012345', 123456789012345n],
    ['0', 0n],
    ['-0', 0n],
    ['1.0', 1],
    ['-0.0', -0],
    ['1e3', 1000],
    ['1E-2', 0.01],
    ['4.5982866113522427e+18', 4598286611352242700],
  ])('reads the number %s', (text, expected) => {
    expect(parseJson(text)).toBe(expected)
  })

  it.each([
    '',
    ' ',
    '01',
    '-',
    '-01',
    '1.',
    '.5',
    '1e',
    '+1',
    '1e400',
    'NaN',
    'nul',
    '"abc',
    '"a\nb"',
    '"\\x"',
    '"\\u12"',
    '{"a" 1}',
    '{"a":1,}',
    '{a:1}',
    '[1,]',
    '[1 2]',
    '[',
    '{"a":1',
    '1 2',
    "{'a':1}",
    '{"a\\n":1,"a\n":2}',
    `${'9'.repeat(2000)}`,
  ])('refuses %j and names the position', (text) => {
    expect(() => parseJson(text)).toThrow(JsonSyntaxError)
    expect(() => parseJson(text)).toThrow(/invalid JSON at position \d+/)
  })

  it('refuses what JSON.parse refuses and nothing else', () => {
    const nearJson = fc.string({
      unit: fc.constantFrom(...'{}[]",:\\ \n\t01-.eEtrufalsnx'),
      maxLength: 12,
    })
    fc.assert(
      fc.property(nearJson, (text) => {
        fc.pre(!/[1-9]?0*[eE]\+?[0-9]{3,}/.test(text))
        expect(accepts(parseJson, text)).toBe(accepts(JSON.parse, text))
      }),
      { numRuns: 3000 },
    )
  })

  it('reads objects whose member names end in escapes beside ones that look alike', () => {
    const text = '[{"a\\\\":1},{"a\\"b":2},{"a\\\\":3},{"a":4},{"ab":5},{"":6},{"":7}]'
    expect(parseJson(text)).toEqual([
      { 'a\\': 1n },
      { 'a"b': 2n },
      { 'a\\': 3n },
      { a: 4n },
      { ab: 5n },
      { '': 6n },
      { '': 7n },
    ])
  })

  it('keeps the last of repeated members', () => {
    expect(parseJson('{"a":1,"b":2,"a":3}')).toEqual({ a: 3n, b: 2n })
  })

  it('keeps a member named __proto__ without touching the prototype, also when objects repeat it', () => {
    const parsed = parseJson('[{"__proto__":{"x":1}},{"__proto__":{"x":2}}]') as { x?: unknown }[]
    for (const object of parsed) {
      expect(object.x).toBeUndefined()
      expect(Object.keys(object)).toEqual(['__proto__'])
    }
    expect(printJson(parsed as never)).toBe('[{"__proto__":{"x":1}},{"__proto__":{"x":2}}]')
  })

  it('refuses text that nests deeper than the limit and reads text at the limit', () => {
    const nest = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(() => parseJson(nest(JSON_DEPTH_MAX))).not.toThrow()
    expect(() => parseJson(nest(JSON_DEPTH_MAX + 1))).toThrow(/nested deeper/)
    expect(() => parseJson('['.repeat(1_000_000))).toThrow(/nested deeper/)
  })
})

describe('printJson', () => {
  it.each([
    [1, '1.0'],
    [-0, '-0.0'],
    [0.1, '0.1'],
    [1e21, '1.0e+21'],
    [1.5e-7, '1.5e-7'],
    [5184430069070270604n, '5184430069070270604'],
    [{ a: undefined, b: null }, '{"b":null}'],
    ['\ud800', '"\\ud800"'],
  ])('prints %s as %s', (value, expected) => {
    expect(printJson(value)).toBe(expected)
  })
})

it('a value does not keep the text alive that it was read from (B093)', () => {
  const beforeBytes = heapBytesInUse()
  const kept = Array.from({ length: 8 }, (_, index) => {
    const list = parseJson(`["kept ${index} of a long text","${'x'.repeat(4_000_000)}"]`)
    return (list as readonly JsonValue[])[0]
  })
  expect(heapBytesInUse() - beforeBytes).toBeLessThan(4_000_000)
  expect(kept[7]).toBe('kept 7 of a long text')
})

describe('record members', () => {
  it('are found only when the record has them itself', () => {
    const record: Record<string, number> = {}
    setMember(record, '__proto__', 1)
    expect(ownMember(record, '__proto__')).toBe(1)
    expect(ownMember(record, 'constructor')).toBeUndefined()
  })
})

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text)
    return true
  } catch {
    return false
  }
}

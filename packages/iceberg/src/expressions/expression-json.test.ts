import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import { parseJson, printJson } from '../spec/json.ts'
import type { JsonValue } from '../spec/json-value.ts'
import type { Schema } from '../spec/schema.ts'
import type { PrimitiveType } from '../spec/type.ts'
import { bindExpression } from './bind-expression.ts'
import type { Expression, Literal } from './expression.ts'
import {
  decodeExpression,
  encodePredicate,
  EXPRESSION_DEPTH_MAX,
  EXPRESSION_LITERALS_MAX,
  EXPRESSION_NODES_MAX,
} from './expression-json.ts'

const IDENTITY = { kind: 'identity' } as const

const decode = (text: string): Expression => decodeExpression(parseJson(text), 'filter')

const eq = (literal: Literal, name = 'a'): Expression => ({
  kind: 'compare',
  operator: 'eq',
  term: { reference: { name }, transform: IDENTITY },
  literal,
})

const bucketed = {
  kind: 'compare',
  operator: 'eq',
  term: { reference: { name: 'a' }, transform: { kind: 'bucket', bucketCount: 16 } },
  literal: { json: 3n },
}

describe('decodeExpression', () => {
  it.each<[string, unknown]>([
    ['true', { kind: 'true' }],
    ['false', { kind: 'false' }],
    ['{"type":"true"}', { kind: 'true' }],
    ['{"type":"FALSE"}', { kind: 'false' }],
    ['{"type":"literal","value":true}', { kind: 'true' }],
    ['{"type":"eq","term":"a","value":5}', eq({ json: 5n })],
    ['{"type":"eq","term":{"type":"reference","term":"a"},"value":5.0}', eq({ json: 5 })],
    ['{"type":"eq","term":"a.b","value":{"type":"literal","value":"x"}}', eq({ json: 'x' }, 'a.b')],
    ['{"type":"EQ","term":"a","value":null}', eq({ json: null })],
    ['{"type":"eq","left":{"type":"reference","name":"a"},"right":"x"}', eq({ json: 'x' })],
    ['{"type":"eq","left":5,"right":{"type":"reference","name":"a"}}', eq({ json: 5n })],
    [
      '{"type":"eq","left":{"type":"reference","name":"a"},"right":{"type":"literal","value":5,"data-type":"long"}}',
      eq({ json: 5n, type: { kind: 'long' } }),
    ],
    [
      '{"type":"eq","term":{"type":"transform","transform":"bucket[16]","term":"a"},"value":3}',
      bucketed,
    ],
    [
      '{"type":"eq","left":{"type":"apply","function":"bucket","arguments":[16,{"type":"reference","name":"a"}]},"right":3}',
      bucketed,
    ],
    [
      '{"type":"eq","left":{"type":"apply","function":["bucket"],"arguments":[{"type":"literal","value":16,"data-type":"int"},{"type":"reference","name":"a"}]},"right":3}',
      bucketed,
    ],
    [
      '{"type":"eq","left":{"type":"apply","function":{"catalog":"iceberg_functions","identifier":["bucket"]},"arguments":[16,{"type":"reference","name":"a"}]},"right":3}',
      bucketed,
    ],
    [
      '{"type":"eq","left":{"type":"apply","function":{"catalog":null,"identifier":["identity"]},"arguments":[{"type":"reference","name":"a"}]},"right":3}',
      eq({ json: 3n }),
    ],
  ])('reads %s', (text, expected) => {
    expect(decode(text)).toEqual(expected)
  })

  it('reads references by field id', () => {
    expect(decode('{"type":"is-null","child":{"type":"reference","id":7}}')).toEqual({
      kind: 'unary',
      operator: 'is-null',
      term: { reference: { id: 7 }, transform: IDENTITY },
    })
  })

  it.each([
    ['lt', 'gt'],
    ['lt-eq', 'gt-eq'],
    ['gt', 'lt'],
    ['gt-eq', 'lt-eq'],
    ['not-eq', 'not-eq'],
  ])('turns a %s with its column at the right around', (operator, turned) => {
    const column = { type: 'reference', name: 'a' }
    expect(decodeExpression({ type: operator, left: 5n, right: column }, '')).toMatchObject({
      operator: turned,
      literal: { json: 5n },
    })
    expect(decodeExpression({ type: operator, left: column, right: 5n }, '')).toMatchObject({
      operator,
    })
  })

  it.each([
    '{"type":"in","term":"a","values":[1,2]}',
    '{"type":"in","child":{"type":"reference","name":"a"},"values":[1,{"type":"literal","value":2}]}',
  ])('reads the set of %s', (text) => {
    expect(decode(text)).toMatchObject({
      kind: 'set',
      operator: 'in',
      literals: [{ json: 1n }, { json: 2n }],
    })
  })

  it('gives the type of a list of literals to each of them', () => {
    const text =
      '{"type":"not-in","child":{"type":"reference","name":"a"},"values":{"type":"literals","values":["2020-01-01"],"data-type":"date"}}'
    expect(decode(text)).toMatchObject({
      operator: 'not-in',
      literals: [{ json: '2020-01-01', type: { kind: 'date' } }],
    })
  })

  it('makes one list of a chain that leans to either side or to both', () => {
    const leaf = (name: string): string => `{"type":"is-null","term":"${name}"}`
    const and = (left: string, right: string): string =>
      `{"type":"and","left":${left},"right":${right}}`
    const names = ['a', 'b', 'c', 'd']
    const [a, b, c, d] = names.map(leaf) as [string, string, string, string]
    for (const text of [
      and(and(and(a, b), c), d),
      and(a, and(b, and(c, d))),
      and(and(a, b), and(c, d)),
    ]) {
      const decoded = decode(text)
      expect(decoded).toMatchObject({
        kind: 'and',
        children: names.map((name) => ({ kind: 'unary', term: { reference: { name } } })),
      })
    }
    expect(decode(and(`{"type":"or","left":${a},"right":${b}}`, c))).toMatchObject({
      kind: 'and',
      children: [{ kind: 'or' }, { kind: 'unary' }],
    })
  })

  it.each<[string, string, RegExp]>([
    ['nothing', 'null', /^filter: expected object, got null/],
    ['a text', '"a = 1"', /expected object/],
    ['an unknown kind', '{"type":"like","term":"a","value":"x"}', /filter\.type: "like"/],
    ['a missing operand', '{"type":"and","left":true}', /filter\.right/],
    ['a missing child', '{"type":"not"}', /filter\.child/],
    ['a missing column', '{"type":"eq","value":5}', /filter\.left: .*got nothing/],
    ['a missing value', '{"type":"eq","term":"a"}', /filter\.value: .*nothing/],
    ['two literals', '{"type":"eq","left":1,"right":1}', /filter\.left: expected a reference/],
    [
      'two columns',
      '{"type":"eq","left":{"type":"reference","name":"a"},"right":{"type":"reference","name":"b"}}',
      /filter\.right\.?.*expected a literal, got "reference"/,
    ],
    [
      'a literal that is tested for null',
      '{"type":"is-null","child":"a"}',
      /filter\.child: expected a reference/,
    ],
    [
      'a prefix test turned around',
      '{"type":"starts-with","left":"x","right":{"type":"reference","name":"a"}}',
      /filter\.left/,
    ],
    [
      'an unknown transform',
      '{"type":"is-null","term":{"type":"transform","transform":"zorder","term":"a"}}',
      /"zorder" is not a known transform/,
    ],
    [
      'a transform of a transform',
      '{"type":"is-null","term":{"type":"transform","transform":"day","term":{"type":"transform","transform":"bucket[4]","term":"a"}}}',
      /expected a column/,
    ],
    [
      'no buckets',
      '{"type":"is-null","term":{"type":"transform","transform":"bucket[0]","term":"a"}}',
      /bucket\[0\]/,
    ],
    [
      'too few arguments',
      '{"type":"is-null","child":{"type":"apply","function":"bucket","arguments":[{"type":"reference","name":"a"}]}}',
      /expected 2 for bucket, got 1/,
    ],
    [
      'a negative width',
      '{"type":"is-null","child":{"type":"apply","function":"truncate","arguments":[-1,{"type":"reference","name":"a"}]}}',
      /expected a number from 1, got -1/,
    ],
    [
      'a function of SQL',
      '{"type":"is-null","child":{"type":"apply","function":{"catalog":"sql_functions","identifier":["year"]},"arguments":[{"type":"reference","name":"a"}]}}',
      /expected iceberg_functions/,
    ],
    [
      'a function of a user',
      '{"type":"is-null","child":{"type":"apply","function":["db","year"],"arguments":[{"type":"reference","name":"a"}]}}',
      /in one part/,
    ],
    [
      'if_else',
      '{"type":"is-null","child":{"type":"apply","function":"if_else","arguments":[true,1,2]}}',
      /expected 1 for if_else, got 3/,
    ],
    ['values that are no list', '{"type":"in","term":"a","values":1}', /filter\.values/],
    [
      'literals of no type',
      '{"type":"in","term":"a","values":{"type":"list","values":[]}}',
      /expected literals/,
    ],
    [
      'a literal of a nested type',
      '{"type":"eq","term":"a","value":{"type":"literal","value":1,"data-type":"what"}}',
      /filter\.value\.data-type/,
    ],
  ])('refuses %s and names the place', (_, text, message) => {
    expect(() => decode(text)).toThrow(InvalidInputError)
    expect(() => decode(text)).toThrow(message)
  })

  it('reads a chain of a hundred thousand members without going deep, and no longer one', () => {
    const leaf: JsonValue = { type: 'is-null', term: 'a' }
    const chain = (count: number, side: 'left' | 'right'): JsonValue => {
      let json: JsonValue = leaf
      for (let at = 1; at < count; at++) {
        json =
          side === 'left'
            ? { type: 'or', left: json, right: leaf }
            : { type: 'or', left: leaf, right: json }
      }
      return json
    }
    // Members and links both count.
    const length = EXPRESSION_NODES_MAX / 2
    for (const side of ['left', 'right'] as const) {
      const decoded = decodeExpression(chain(length, side), 'filter')
      expect(decoded.kind === 'or' && decoded.children.length).toBe(length)
      expect(() => decodeExpression(chain(length + 1, side), 'filter')).toThrow(
        /at most 100000 parts/,
      )
    }
  })

  it('refuses a filter that alternates too deep', () => {
    const nested = (depth: number): JsonValue =>
      depth === 0 ? true : { type: 'not', child: nested(depth - 1) }
    expect(decodeExpression(nested(EXPRESSION_DEPTH_MAX), 'f').kind).toBe('not')
    expect(() => decodeExpression(nested(EXPRESSION_DEPTH_MAX + 1), 'f')).toThrow(
      /at most 200 levels/,
    )
  })

  it('refuses too many literals', () => {
    const values = new Array<JsonValue>(EXPRESSION_LITERALS_MAX + 1).fill(1n)
    expect(() => decodeExpression({ type: 'in', term: 'a', values }, 'f')).toThrow(
      /at most 1000000 literals/,
    )
  })
})

const TYPES: Readonly<Record<string, PrimitiveType>> = {
  b: { kind: 'boolean' },
  i: { kind: 'int' },
  l: { kind: 'long' },
  f: { kind: 'float' },
  d: { kind: 'double' },
  dec: { kind: 'decimal', precision: 9, scale: 2 },
  day: { kind: 'date' },
  tod: { kind: 'time' },
  ts: { kind: 'timestamp' },
  tz: { kind: 'timestamptz' },
  tsn: { kind: 'timestamp_ns' },
  tzn: { kind: 'timestamptz_ns' },
  s: { kind: 'string' },
  u: { kind: 'uuid' },
  fix: { kind: 'fixed', lengthBytes: 2 },
  bin: { kind: 'binary' },
}
const SCHEMA: Pick<Schema, 'fields'> = {
  fields: Object.entries(TYPES).map(([name, type], index) => ({
    id: index + 1,
    name,
    required: false,
    type,
  })),
}

const bound = (text: string): string =>
  printJson(encodePredicate(bindExpression(decode(text), SCHEMA, { caseSensitive: true })))

describe('encodePredicate', () => {
  // What Java 1.12 writes for its own literals, and PyIceberg 0.12 for its, and what of it goes back to them.
  it.each([
    ['b', 'true', 'true'],
    ['i', '5', '5'],
    ['l', '9223372036854775807', '9223372036854775807'],
    ['f', '0.1', '0.10000000149011612'],
    ['f', '5', '5.0'],
    ['d', '5', '5.0'],
    ['d', '-0.0', '-0.0'],
    ['d', '1e+300', '1.0e+300'],
    ['dec', '"12.340"', '"12.34"'],
    ['dec', '"1E+3"', '"1000.00"'],
    ['dec', '1.5', '"1.50"'],
    ['day', '"2020-01-02"', '"2020-01-02"'],
    ['day', '18263', '"2020-01-02"'],
    ['day', '"+12000-01-02"', '3663383'],
    ['day', '"0000-12-31"', '-719163'],
    ['day', '-719162', '"0001-01-01"'],
    ['tod', '3723000004', '"01:02:03.000004"'],
    ['ts', '"2020-01-02T03:04:05.000006"', '"2020-01-02T03:04:05.000006"'],
    ['ts', '1577934245000006', '"2020-01-02T03:04:05.000006"'],
    ['ts', '253402300800000000', '253402300800000000'],
    ['tz', '1577934245000006', '"2020-01-02T03:04:05.000006+00:00"'],
    ['tz', '"2020-01-02T05:04:05.000006+02:00"', '"2020-01-02T03:04:05.000006+00:00"'],
    ['tsn', '1577934245000006', '"2020-01-02T03:04:05.000006000"'],
    ['tzn', '"2020-01-02T03:04:05.000006789Z"', '"2020-01-02T03:04:05.000006789+00:00"'],
    ['s', '"a\\"b"', '"a\\"b"'],
    ['u', '"00000000-0000-0000-0000-00000000ABCD"', '"00000000-0000-0000-0000-00000000abcd"'],
    ['fix', '"01FF"', '"01ff"'],
    ['bin', '"01ff00"', '"01ff00"'],
  ])('writes a literal of column %s that came as %s as %s', (term, value, expected) => {
    expect(bound(`{"type":"eq","term":"${term}","value":${value}}`)).toBe(
      `{"type":"eq","term":"${term}","value":${expected}}`,
    )
  })

  it.each([
    'true',
    'false',
    '{"type":"is-null","term":"i"}',
    '{"type":"not-nan","term":"d"}',
    '{"type":"not-starts-with","term":"s","value":""}',
    '{"type":"in","term":"i","values":[1,2,3]}',
    '{"type":"not-in","term":"day","values":["2020-01-01","2020-01-02"]}',
    '{"type":"eq","term":{"type":"transform","transform":"bucket[16]","term":"i"},"value":3}',
    '{"type":"lt","term":{"type":"transform","transform":"day","term":"ts"},"value":"2020-01-02"}',
    '{"type":"and","left":{"type":"and","left":{"type":"is-null","term":"i"},"right":{"type":"is-null","term":"l"}},"right":{"type":"or","left":{"type":"is-null","term":"f"},"right":{"type":"is-null","term":"d"}}}',
  ])('writes %s as it came', (text) => {
    expect(bound(text)).toBe(text)
  })

  it('moves not into the operators', () => {
    expect(
      bound(
        '{"type":"not","child":{"type":"or","left":{"type":"lt","term":"i","value":1},"right":{"type":"not","child":{"type":"in","term":"s","values":["a","b"]}}}}',
      ),
    ).toBe(
      '{"type":"and","left":{"type":"gt-eq","term":"i","value":1},"right":{"type":"in","term":"s","values":["a","b"]}}',
    )
  })

  it('writes a long chain as a tree that is not deep', () => {
    const links = Array.from({ length: 5000 }, (_, at): JsonValue => ({
      type: 'eq',
      term: 'i',
      value: BigInt(at),
    }))
    const chain = links.reduce<JsonValue | undefined>(
      (left, right) => (left === undefined ? right : { type: 'or', left, right }),
      undefined,
    )
    const predicate = bindExpression(decodeExpression(chain, ''), SCHEMA, { caseSensitive: true })
    const depth = (json: JsonValue | undefined): number =>
      typeof json === 'object' && json !== null && 'left' in json
        ? 1 + Math.max(depth(json.left), depth(json.right))
        : 0
    const written = encodePredicate(predicate)
    expect(depth(written)).toBeLessThan(64 + 16)
    const again = bindExpression(decodeExpression(written, ''), SCHEMA, { caseSensitive: true })
    expect(again).toEqual(predicate)
  })
})

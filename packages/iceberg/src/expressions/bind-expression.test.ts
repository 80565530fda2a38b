import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import { parseJson, printJson } from '../spec/json.ts'
import type { JsonValue } from '../spec/json-value.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import { parsePrimitiveType } from '../spec/type-json.ts'
import type { IcebergType, NestedField } from '../spec/type.ts'
import { bindExpression } from './bind-expression.ts'
import { evaluate } from './evaluate.ts'
import type { CompareOperator, Expression, Predicate, Term } from './expression.ts'
import { decodeExpression, encodePredicate } from './expression-json.ts'

const column = (
  id: number,
  name: string,
  type: IcebergType | string,
  required = false,
): NestedField => ({
  id,
  name,
  required,
  type: typeof type === 'string' ? parsePrimitiveType(type, name) : type,
})

const FIELDS: NestedField[] = [
  column(1, 'i', 'int'),
  column(2, 'r', 'int', true),
  column(3, 'f', 'float'),
  column(4, 'd', 'double'),
  column(5, 'rd', 'double', true),
  column(6, 'dec', 'decimal(5,2)'),
  column(7, 's', 'string'),
  column(8, 'bin', 'binary'),
  column(9, 'ts', 'timestamp'),
  column(10, 'st', {
    kind: 'struct',
    fields: [column(11, 'x', 'int', true), column(12, 'y', 'int')],
  }),
  column(13, 'rst', { kind: 'struct', fields: [column(14, 'x', 'int', true)] }, true),
  column(15, 'li', {
    kind: 'list',
    elementId: 16,
    elementRequired: true,
    element: { kind: 'struct', fields: [column(17, 'x', 'int', true)] },
  }),
  column(18, 'st.z', 'int'),
  column(19, 'Mixed', 'int'),
  column(20, 'twin', 'int'),
  column(21, 'Twin', 'int'),
  column(22, 'v', 'variant'),
  column(23, 'nothing', 'unknown'),
  column(24, 'l', 'long'),
  column(25, 'day', 'date'),
]
const SCHEMA = { fields: FIELDS }

const bind = (text: string, caseSensitive = true): Predicate =>
  bindExpression(decodeExpression(parseJson(text), 'filter'), SCHEMA, { caseSensitive })
const bound = (text: string, caseSensitive = true): string =>
  printJson(encodePredicate(bind(text, caseSensitive)))

const compare = (type: string, term: string, value: string): string =>
  `{"type":"${type}","term":"${term}","value":${value}}`
const unary = (type: string, term: string): string => `{"type":"${type}","term":"${term}"}`
const through = (transform: string, name: string): string =>
  `{"type":"transform","transform":"${transform}","term":"${name}"}`

describe('bindExpression', () => {
  it('gives a term its column, type and name', () => {
    expect(bind(unary('is-null', 'st.y'))).toEqual({
      kind: 'unary',
      operator: 'is-null',
      term: {
        fieldId: 12,
        name: 'st.y',
        type: { kind: 'int' },
        isRequired: false,
        transform: { kind: 'identity' },
        resultType: { kind: 'int' },
      },
    })
  })

  it('gives a term the type of its transform', () => {
    expect(bind(`{"type":"eq","term":${through('day', 'ts')},"value":"2020-01-02"}`)).toMatchObject(
      {
        term: { fieldId: 9, type: { kind: 'timestamp' }, resultType: { kind: 'date' } },
        literal: 18263,
      },
    )
  })

  it.each([
    ['a required column', 'r', true],
    ['a required member of a required struct', 'rst.x', true],
    ['a required struct', 'rst', true],
    ['a required member of an optional struct', 'st.x', false],
    ['an optional column', 'i', false],
    ['an optional struct', 'st', false],
    ['a list', 'li', false],
    ['a variant', 'v', false],
  ])('asks %s whether it is null only where it can be', (_, name, isRequired) => {
    expect(bound(unary('is-null', name))).toBe(isRequired ? 'false' : unary('is-null', name))
    expect(bound(unary('not-null', name))).toBe(isRequired ? 'true' : unary('not-null', name))
  })

  it.each([
    ['is-null', 'true'],
    ['not-null', 'false'],
  ])('knows that a column of type unknown is null: %s is %s', (type, answer) => {
    expect(bound(unary(type, 'nothing'))).toBe(answer)
  })

  it.each([
    ['is-null', '', 'true'],
    ['not-null', '', 'false'],
    ['eq', ',"value":1', 'false'],
    ['lt', ',"value":1', 'false'],
    ['not-eq', ',"value":1', 'true'],
    ['in', ',"values":[1,2]', 'false'],
    ['not-in', ',"values":[1,2]', 'true'],
  ])('knows that void gives null: %s is %3$s', (type, operand, answer) => {
    expect(bound(`{"type":"${type}","term":${through('void', 'r')}${operand}}`)).toBe(answer)
  })

  it.each([
    // Beyond the range, as Java 1.12 and PyIceberg 0.12 take it.
    ['lt', 'i', '2147483648', 'true'],
    ['lt-eq', 'i', '2147483648', 'true'],
    ['not-eq', 'i', '2147483648', 'true'],
    ['gt', 'i', '2147483648', 'false'],
    ['gt-eq', 'i', '2147483648', 'false'],
    ['eq', 'i', '2147483648', 'false'],
    ['gt', 'i', '-2147483649', 'true'],
    ['gt-eq', 'i', '-2147483649', 'true'],
    ['not-eq', 'i', '-2147483649', 'true'],
    ['lt', 'i', '-2147483649', 'false'],
    ['lt-eq', 'i', '-2147483649', 'false'],
    ['eq', 'i', '-2147483649', 'false'],
    ['lt', 'f', '1e39', 'true'],
    ['eq', 'f', '1e39', 'false'],
    // Between two values.
    ['lt', 'i', '2.5', compare('lt-eq', 'i', '2')],
    ['lt-eq', 'i', '2.5', compare('lt-eq', 'i', '2')],
    ['gt', 'i', '2.5', compare('gt', 'i', '2')],
    ['gt-eq', 'i', '2.5', compare('gt', 'i', '2')],
    ['eq', 'i', '2.5', 'false'],
    ['not-eq', 'i', '2.5', 'true'],
    ['gt', 'dec', '"1.005"', compare('gt', 'dec', '"1.00"')],
    ['lt', 'dec', '"-1.005"', compare('lt-eq', 'dec', '"-1.01"')],
    [
      'lt',
      'ts',
      '"1970-01-01T00:00:00.0000015"',
      compare('lt-eq', 'ts', '"1970-01-01T00:00:00.000001"'),
    ],
    // Infinities are above what a float can hold.
    ['gt', 'f', '1e39', compare('gt', 'f', '3.4028234663852886e+38')],
    ['gt-eq', 'f', '1e39', compare('gt', 'f', '3.4028234663852886e+38')],
    ['lt', 'f', '-1e39', compare('lt', 'f', '-3.4028234663852886e+38')],
  ])('takes %s of %s and %s as %s', (type, name, value, expected) => {
    expect(bound(compare(type, name, value))).toBe(expected)
  })

  it('takes the opposite of a comparison beyond the range as the opposite comparison', () => {
    expect(bound(`{"type":"not","child":${compare('gt', 'f', '1e39')}}`)).toBe('true')
    expect(bound(`{"type":"not","child":${compare('lt', 'i', '2147483648')}}`)).toBe('false')
  })

  it.each([
    ['in', '[3,1,2,1,3]', '{"type":"in","term":"i","values":[1,2,3]}'],
    ['in', '[1,1.5,9999999999]', compare('eq', 'i', '1')],
    ['not-in', '[1,1,1]', compare('not-eq', 'i', '1')],
    ['in', '[]', 'false'],
    ['in', '[0.5]', 'false'],
    ['not-in', '[]', 'true'],
    ['not-in', '[9999999999]', 'true'],
  ])('takes %s %s as %s', (type, values, expected) => {
    expect(bound(`{"type":"${type}","term":"i","values":${values}}`)).toBe(expected)
  })

  it('sorts and strips a set of a hundred thousand literals in moments', () => {
    const values = Array.from({ length: 100_000 }, (_, at) => `k${(at * 7919) % 50_000}`)
    const predicate = bindExpression(
      decodeExpression({ type: 'in', term: 's', values }, 'filter'),
      SCHEMA,
      { caseSensitive: true },
    )
    expect(predicate.kind === 'set' && predicate.literals.length).toBe(50_000)
  })

  it.each<[string, string, boolean, string]>([
    ['any case', 'mixed', false, 'Mixed'],
    ['any case in a struct', 'ST.Y', false, 'st.y'],
    ['the exact case among several', 'Twin', false, 'Twin'],
    ['a dot in it', 'st.z', true, 'st.z'],
  ])('finds a name with %s', (_, name, caseSensitive, found) => {
    expect(bound(compare('eq', name, '1'), caseSensitive)).toBe(compare('eq', found, '1'))
  })

  it('finds a column by its id', () => {
    expect(bound('{"type":"is-null","child":{"type":"reference","id":12}}')).toBe(
      unary('is-null', 'st.y'),
    )
  })

  it.each<[string, string, RegExp]>([
    [
      'a name of another case',
      compare('eq', 'mixed', '1'),
      /cannot filter by mixed: the schema has no such column/,
    ],
    [
      'an unknown id',
      '{"type":"is-null","child":{"type":"reference","id":99}}',
      /cannot filter by field 99/,
    ],
    [
      'a member of a list',
      compare('eq', 'li.element.x', '1'),
      /cannot filter by li.element.x: it is inside a list or a map/,
    ],
    ['a member of a list by its short name', unary('is-null', 'li.x'), /inside a list or a map/],
    ['a struct compared', compare('eq', 'st', '1'), /filter on st: cannot compare/],
    [
      'NaN of an int',
      unary('is-nan', 'i'),
      /cannot test i for NaN: expected a float or double, got int/,
    ],
    [
      'the start of binary',
      compare('starts-with', 'bin', '"00"'),
      /cannot compare the start of bin: expected a string, got binary/,
    ],
    [
      'the start of a bucket',
      `{"type":"starts-with","term":${through('bucket[4]', 's')},"value":"a"}`,
      /expected a string, got int/,
    ],
    [
      'the start of a number',
      compare('starts-with', 's', '1'),
      /filter on s: expected string, got integer/,
    ],
    [
      'an hour of a date',
      `{"type":"eq","term":${through('hour', 'day')},"value":1}`,
      /cannot filter by hour of day: it does not take a date/,
    ],
    [
      'a bucket of a double',
      `{"type":"eq","term":${through('bucket[4]', 'd')},"value":1}`,
      /does not take a double/,
    ],
    [
      'a bucket of a struct',
      `{"type":"is-null","term":${through('bucket[4]', 'st')}}`,
      /does not take a struct/,
    ],
    ['null', compare('eq', 'i', 'null'), /filter on i: expected int, got null/],
    [
      'null in a set',
      '{"type":"in","term":"i","values":[1,null]}',
      /filter on i: expected int, got null/,
    ],
    [
      'a wrong literal deep inside',
      `{"type":"and","left":true,"right":{"type":"not","child":${compare('eq', 'i', '"x"')}}}`,
      /filter on i: expected int, got x/,
    ],
  ])('refuses %s and names the column', (_, text, message) => {
    expect(() => bind(text)).toThrow(InvalidInputError)
    expect(() => bind(text)).toThrow(message)
  })

  it('refuses a name that several columns have in another case', () => {
    expect(() => bind(compare('eq', 'TWIN', '1'), false)).toThrow(
      /cannot filter by TWIN: 2 columns differ by case only/,
    )
  })
})

const INFINITY_ROWS = [
  null,
  Number.NaN,
  Infinity,
  -Infinity,
  0,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
]

describe('a comparison with an infinity', () => {
  const operators = ['lt', 'lt-eq', 'gt', 'gt-eq', 'eq', 'not-eq'] as const
  it.each(
    operators.flatMap((type) => ['Infinity', '-Infinity'].map((text) => [type, text] as const)),
  )('is said without one: %s %s', (type, text) => {
    const predicate = bind(compare(type, 'd', `"${text}"`))
    // Printing refuses what JSON cannot hold.
    expect(printJson(encodePredicate(predicate))).not.toContain('Infinity')
    for (const value of INFINITY_ROWS) {
      expect(evaluate(predicate, () => value)).toBe(compares(type, value, Number(text)))
    }
  })

  it.each(['in', 'not-in'])('is said without one: %s', (type) => {
    const predicate = bind(
      `{"type":"${type}","term":"d","values":["Infinity",0.0,"-Infinity",1.0]}`,
    )
    expect(printJson(encodePredicate(predicate))).not.toContain('Infinity')
    for (const value of INFINITY_ROWS) {
      const isAmong = value === 0 || value === Infinity || value === -Infinity
      expect(evaluate(predicate, () => value)).toBe(isAmong === (type === 'in'))
    }
  })
})

function compares(operator: string, value: number | null, literal: number): boolean {
  switch (operator) {
    case 'eq':
      return value === literal
    case 'not-eq':
      return value !== literal
    case 'lt':
      return value !== null && value < literal
    case 'lt-eq':
      return value !== null && value <= literal
    case 'gt':
      return value !== null && value > literal
    default:
      return value !== null && value >= literal
  }
}

/** Rows of four columns; `dec` in hundredths. */
interface Row {
  readonly i: number | null
  readonly d: number | null
  readonly dec: number | null
  readonly s: string | null
}

const ROW = fc.record<Row>({
  i: fc.option(fc.integer({ min: -3, max: 3 }), { nil: null }),
  d: fc.option(
    fc.oneof(
      fc.constantFrom(Number.NaN, -0, 0, Infinity),
      fc.integer({ min: -6, max: 6 }).map((n) => n / 2),
    ),
    { nil: null },
  ),
  dec: fc.option(fc.integer({ min: -300, max: 300 }), { nil: null }),
  s: fc.option(
    fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u{1f600}', '\uffff'), maxLength: 3 }),
    { nil: null },
  ),
})
const TERM_IDS = { i: 1, d: 4, dec: 6, s: 7 } as const
type Name = keyof typeof TERM_IDS

const term = (name: Name): Term => ({ reference: { name }, transform: { kind: 'identity' } })
const HALVES = fc
  .integer({ min: -8, max: 8 })
  .map((n): JsonValue => (n % 2 === 0 ? BigInt(n / 2) : n / 2))
const TEXTS = fc.string({
  unit: fc.constantFrom('a', 'b', 'é', '\u{1f600}', '\uffff'),
  maxLength: 2,
})
const LITERALS: Record<Name, fc.Arbitrary<JsonValue>> = {
  i: HALVES,
  d: HALVES,
  dec: fc.integer({ min: -3000, max: 3000 }).map((thousandths) => (thousandths / 1000).toFixed(3)),
  s: TEXTS,
}
const ORDERED = ['lt', 'lt-eq', 'gt', 'gt-eq', 'eq', 'not-eq'] as const
const NAMES = fc.constantFrom<Name>('i', 'd', 'dec', 's')

const leaf: fc.Arbitrary<Expression> = fc.oneof(
  fc.record({
    kind: fc.constant('unary' as const),
    operator: fc.constantFrom('is-null' as const, 'not-null' as const),
    term: NAMES.map(term),
  }),
  fc
    .constantFrom('is-nan' as const, 'not-nan' as const)
    .map((operator) => ({ kind: 'unary' as const, operator, term: term('d') })),
  NAMES.chain((name) =>
    fc.record({
      kind: fc.constant('compare' as const),
      operator: fc.constantFrom<CompareOperator>(
        ...ORDERED,
        ...(name === 's' ? (['starts-with', 'not-starts-with'] as const) : []),
      ),
      term: fc.constant(term(name)),
      literal: LITERALS[name].map((json) => ({ json })),
    }),
  ),
  NAMES.chain((name) =>
    fc.record({
      kind: fc.constant('set' as const),
      operator: fc.constantFrom('in' as const, 'not-in' as const),
      term: fc.constant(term(name)),
      literals: fc.array(
        LITERALS[name].map((json) => ({ json })),
        { maxLength: 4 },
      ),
    }),
  ),
)
const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.constantFrom<Expression>({ kind: 'true' }, { kind: 'false' }),
    tie('expression').map((child) => ({ kind: 'not' as const, child })),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      children: fc.array(tie('expression'), { minLength: 2, maxLength: 3 }),
    }),
  ),
}))

/** What the row says of the expression, by arithmetic on what is written in it. A negated `<` is `>=`. */
function says(expr: Expression, row: Row, isNegated: boolean): boolean {
  switch (expr.kind) {
    case 'true':
      return !isNegated
    case 'false':
      return isNegated
    case 'not':
      return says(expr.child, row, !isNegated)
    case 'and':
    case 'or':
      return (expr.kind === 'and') !== isNegated
        ? expr.children.every((child) => says(child, row, isNegated))
        : expr.children.some((child) => says(child, row, isNegated))
    default:
      return saysLeaf(expr, row, isNegated)
  }
}

const OPPOSITES: Record<string, string> = { lt: 'gt-eq', 'lt-eq': 'gt', gt: 'lt-eq', 'gt-eq': 'lt' }

function saysLeaf(
  expr: Extract<Expression, { kind: 'unary' | 'compare' | 'set' }>,
  row: Row,
  isNegated: boolean,
): boolean {
  const name = ('name' in expr.term.reference ? expr.term.reference.name : '') as Name // `as`: reason: the generator's names
  const value = row[name]
  const number = name === 'dec' && value !== null ? Number(value) / 100 : value
  const literalOf = (json: JsonValue): number | string =>
    name === 's' ? String(json) : Number(json)
  if (expr.kind === 'unary') {
    const isSo = expr.operator.endsWith('null') ? value === null : Number.isNaN(value)
    return (isSo === expr.operator.startsWith('is')) !== isNegated
  }
  if (expr.kind === 'set') {
    const isAmong = expr.literals.some(({ json }) => number === literalOf(json))
    return (isAmong === (expr.operator === 'in')) !== isNegated
  }
  const literal = literalOf(expr.literal.json)
  switch (expr.operator) {
    case 'eq':
    case 'not-eq':
      return ((number === literal) === (expr.operator === 'eq')) !== isNegated
    case 'starts-with':
    case 'not-starts-with':
      return (
        ((typeof number === 'string' && number.startsWith(String(literal))) ===
          (expr.operator === 'starts-with')) !==
        isNegated
      )
    default: {
      if (number === null) return false
      const operator = isNegated ? String(OPPOSITES[expr.operator]) : expr.operator
      if (typeof number === 'string')
        return compares(
          operator,
          Buffer.compare(Buffer.from(number), Buffer.from(String(literal))),
          0,
        )
      return compares(operator, number, Number(literal))
    }
  }
}

function isNormal(predicate: Predicate): boolean {
  if (predicate.kind === 'set') return predicate.literals.length > 1
  if (predicate.kind !== 'and' && predicate.kind !== 'or') return true
  const { kind, children } = predicate
  return (
    children.length > 1 &&
    children.every(
      (child) =>
        child.kind !== kind && child.kind !== 'true' && child.kind !== 'false' && isNormal(child),
    )
  )
}

const valueIn = (row: Row): ((term: { name: string }) => PartitionValue) => {
  return ({ name }) => {
    const value = row[name as Name] // `as`: reason: the generator's names
    return name === 'dec' && value !== null ? BigInt(Number(value)) : value
  }
}

describe('properties of bound filters', () => {
  it('I46: a row matches the bound filter exactly when it matches the one that was sent', () => {
    fc.assert(
      fc.property(expression, fc.array(ROW, { minLength: 5, maxLength: 5 }), (expr, rows) => {
        const predicate = bindExpression(expr, SCHEMA, { caseSensitive: true })
        for (const row of rows)
          expect(evaluate(predicate, valueIn(row))).toBe(says(expr, row, false))
      }),
      { numRuns: 1000 },
    )
  })

  it('I46: the bound filter is in normal form, and reading back what is written gives it again', () => {
    fc.assert(
      fc.property(expression, (expr) => {
        const predicate = bindExpression(expr, SCHEMA, { caseSensitive: true })
        expect(isNormal(predicate)).toBe(true)
        const json = parseJson(printJson(encodePredicate(predicate)))
        const again = bindExpression(decodeExpression(json, 'filter'), SCHEMA, {
          caseSensitive: true,
        })
        expect(again).toEqual(predicate)
      }),
      { numRuns: 1000 },
    )
  })
})

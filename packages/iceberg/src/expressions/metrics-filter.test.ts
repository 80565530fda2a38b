import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BoundsColumn, CountColumn, MetricsTable } from '../scan/metrics-table.ts'
import type { SingleValue } from '../spec/single-value.ts'
import { compareValues } from '../spec/single-value.ts'
import type { PrimitiveType } from '../spec/type.ts'
import type { BoundTerm, CompareOperator, LeafPredicate, Predicate } from './expression.ts'
import { compileMetricsFilter } from './metrics-filter.ts'
import type { SampleRow } from './sample-rows.ts'
import { ORDERS, rowMatches, SAMPLE_TYPES, samplePredicate, sampleValue } from './sample-rows.ts'

/** What a file tells of one column; counts −1 where it does not. */
interface Metrics {
  readonly valueCount: number
  readonly nullCount: number
  readonly nanCount: number
  readonly lower?: SingleValue
  readonly upper?: SingleValue
}

const UNKNOWN: Metrics = { valueCount: -1, nullCount: -1, nanCount: -1 }

/** Files with metrics by field id. */
function tableOf(
  files: readonly ReadonlyMap<number, Metrics>[],
  recordCount = 3,
  isDense = false,
): MetricsTable {
  const of = (fieldId: number, row: number): Metrics => files[row]?.get(fieldId) ?? UNKNOWN
  return {
    rowCount: files.length,
    recordCount: () => recordCount,
    counts: (fieldId): CountColumn | undefined =>
      files.some((file) => (file.get(fieldId)?.valueCount ?? -1) >= 0)
        ? {
            valueCount: (row) => of(fieldId, row).valueCount,
            nullCount: (row) => of(fieldId, row).nullCount,
            nanCount: (row) => of(fieldId, row).nanCount,
          }
        : undefined,
    bounds: (fieldId): BoundsColumn => {
      const lowers = files.map((_, row) => of(fieldId, row).lower)
      const uppers = files.map((_, row) => of(fieldId, row).upper)
      const dense = isDense ? denseOf(lowers, uppers) : undefined
      return {
        lower: (row) => lowers[row],
        upper: (row) => uppers[row],
        ...(dense === undefined ? {} : { dense }),
      }
    },
  }
}

function denseOf(
  lowers: readonly (SingleValue | undefined)[],
  uppers: readonly (SingleValue | undefined)[],
): BoundsColumn['dense'] {
  const all = [...lowers, ...uppers]
  if (all.every((value) => typeof value === 'bigint' && BigInt.asIntN(64, value) === value)) {
    const array = (values: readonly unknown[]) => BigInt64Array.from(values as bigint[])
    return { lower: array(lowers), upper: array(uppers) }
  }
  if (all.every((value) => typeof value === 'number' && Number.isFinite(value))) {
    const isInt = all.every((value) => Object.is(Int32Array.of(Number(value))[0], value))
    const array = (values: readonly unknown[]) =>
      isInt ? Int32Array.from(values as number[]) : Float64Array.from(values as number[])
    return { lower: array(lowers), upper: array(uppers) }
  }
  return undefined
}

type Detail = 'full' | 'cut' | 'no-nan-counts' | 'no-null-counts' | 'counts-only' | 'bounds-only'

function metricsOf(type: PrimitiveType, values: SampleRow, detail: Detail): Metrics {
  const singles = values.filter((value) => value !== null)
  const sorted = singles.filter((value) => !Number.isNaN(value))
  sorted.sort((a, b) => compareValues(type, a, b))
  const nanCount = singles.length - sorted.length
  const isFloating = type.kind === 'float' || type.kind === 'double'
  const counts =
    detail === 'bounds-only'
      ? UNKNOWN
      : {
          valueCount: values.length,
          nullCount: detail === 'no-null-counts' ? -1 : values.length - singles.length,
          nanCount: isFloating && detail !== 'no-nan-counts' ? nanCount : -1,
        }
  const lower = sorted[0]
  const upper = sorted.at(-1)
  if (lower === undefined || upper === undefined || detail === 'counts-only') return counts
  if (detail !== 'cut') return { ...counts, lower, upper }
  const cutUpper = cutAbove(upper)
  return {
    ...counts,
    lower: cutBelow(lower),
    ...(cutUpper === undefined ? {} : { upper: cutUpper }),
  }
}

const cutBelow = (value: SingleValue): SingleValue =>
  typeof value === 'string'
    ? ([...value][0] ?? '')
    : value instanceof Uint8Array
      ? value.subarray(0, 1)
      : value

/** The first code point or byte, one further; undefined where there is none further. */
function cutAbove(value: SingleValue): SingleValue | undefined {
  if (typeof value === 'string') {
    const [first, second] = value
    if (first === undefined || second === undefined) return value
    return first === '\uffff' ? '\u{10000}' : String.fromCodePoint(Number(first.codePointAt(0)) + 1)
  }
  if (!(value instanceof Uint8Array) || value.length < 2) return value
  return value[0] === 0xff ? undefined : Uint8Array.of(Number(value[0]) + 1)
}

function leafOf(
  type: PrimitiveType,
  operator: CompareOperator,
  literal: SingleValue,
): LeafPredicate {
  return { kind: 'compare', operator, term: termOf(type), literal }
}

function termOf(type: PrimitiveType): BoundTerm {
  return {
    fieldId: 1,
    name: 'c',
    type,
    isRequired: false,
    transform: { kind: 'identity' },
    resultType: type,
  }
}

function keeps(predicate: Predicate, metrics: Metrics, isDense = false): boolean {
  return compileMetricsFilter(predicate)(tableOf([new Map([[1, metrics]])], 3, isDense))(0)
}

describe('compileMetricsFilter', () => {
  it('I47: keeps every file with a row that matches, in whatever order the engine compares', () => {
    const detail = fc.constantFrom<Detail>(
      'full',
      'cut',
      'no-nan-counts',
      'no-null-counts',
      'counts-only',
      'bounds-only',
    )
    let pruned = 0
    const scenario = fc
      .array(fc.constantFrom(...SAMPLE_TYPES), { minLength: 1, maxLength: 2 })
      .chain((types) =>
        fc.record({
          types: fc.constant(types),
          predicate: samplePredicate(types),
          detail,
          isDense: fc.boolean(),
          files: fc.array(
            fc.array(fc.tuple(...types.map(sampleValue)), { minLength: 1, maxLength: 3 }),
            { minLength: 1, maxLength: 6 },
          ),
        }),
      )
    fc.assert(
      fc.property(scenario, ({ types, predicate, detail, isDense, files }) => {
        const metrics = files.map(
          (rows) =>
            new Map(
              types.map((type, index) => [
                index + 1,
                metricsOf(
                  type,
                  rows.map((row) => row[index] ?? null),
                  detail,
                ),
              ]),
            ),
        )
        const mightMatch = compileMetricsFilter(predicate)(tableOf(metrics, 3, isDense))
        files.forEach((rows, file) => {
          if (mightMatch(file)) return
          pruned++
          for (const order of ORDERS) {
            expect(rows.filter((row) => rowMatches(predicate, row, order))).toEqual([])
          }
        })
      }),
      { numRuns: 4000 },
    )
    expect(pruned).toBeGreaterThan(1000)
  })

  it('answers from dense bounds as from the bounds of each row', () => {
    const types: PrimitiveType[] = [
      { kind: 'int' },
      { kind: 'long' },
      { kind: 'double' },
      { kind: 'date' },
      { kind: 'timestamp' },
      { kind: 'timestamptz_ns' },
    ]
    const scenario = fc.constantFrom(...types).chain((type) =>
      fc.tuple(
        fc.constant(type),
        samplePredicate([type]),
        fc.array(
          sampleValue(type).filter((value) => value !== null && Number.isFinite(Number(value))),
          { minLength: 1 },
        ),
      ),
    )
    fc.assert(
      fc.property(scenario, ([type, predicate, values]) => {
        const files = values.map((value) => new Map([[1, metricsOf(type, [value], 'full')]]))
        const slow = compileMetricsFilter(predicate)(tableOf(files))
        const fast = compileMetricsFilter(predicate)(tableOf(files, 3, true))
        expect(values.map((_, row) => fast(row))).toEqual(values.map((_, row) => slow(row)))
      }),
      { numRuns: 2000 },
    )
  })

  const double: PrimitiveType = { kind: 'double' }
  const nanOnly: Metrics = { valueCount: 3, nullCount: 0, nanCount: 3 }
  const oneAndNan: Metrics = { valueCount: 2, nullCount: 0, nanCount: 1, lower: 1, upper: 1 }
  const uncounted: Metrics = { valueCount: 2, nullCount: 0, nanCount: -1, lower: 1, upper: 1 }
  const isNan: Predicate = { kind: 'unary', operator: 'is-nan', term: termOf(double) }
  const notNan: Predicate = { kind: 'unary', operator: 'not-nan', term: termOf(double) }
  const among = (operator: 'in' | 'not-in'): Predicate => ({
    kind: 'set',
    operator,
    term: termOf(double),
    literals: [1, 2],
  })
  it.each<[string, Predicate, Metrics, boolean]>([
    ['d > 5 of a file of NaN', leafOf(double, 'gt', 5), nanOnly, true],
    ['d >= 0 of a file of NaN', leafOf(double, 'gt-eq', 0), nanOnly, true],
    ['d < 5 of a file of NaN', leafOf(double, 'lt', 5), nanOnly, false],
    ['d = 1 of a file of NaN', leafOf(double, 'eq', 1), nanOnly, false],
    ['is-nan of a file of NaN', isNan, nanOnly, true],
    ['not-nan of a file of NaN', notNan, nanOnly, false],
    ['d > 5 beside a NaN', leafOf(double, 'gt', 5), oneAndNan, true],
    ['d < 1 beside a NaN', leafOf(double, 'lt', 1), oneAndNan, false],
    ['d != 1 beside a NaN', leafOf(double, 'not-eq', 1), oneAndNan, true],
    ['not-in beside a NaN', among('not-in'), oneAndNan, true],
    ['is-nan beside a NaN', isNan, oneAndNan, true],
    ['d > 5 without a count of NaN', leafOf(double, 'gt', 5), uncounted, true],
    ['d < 1 without a count of NaN', leafOf(double, 'lt', 1), uncounted, false],
    ['d != 1 without a count of NaN', leafOf(double, 'not-eq', 1), uncounted, true],
    ['is-nan without a count of NaN', isNan, uncounted, true],
    ['not-nan without a count of NaN', notNan, uncounted, true],
    ['d > 5 where no value is NaN', leafOf(double, 'gt', 5), { ...oneAndNan, nanCount: 0 }, false],
    [
      'd != 1 where no value is NaN',
      leafOf(double, 'not-eq', 1),
      { ...oneAndNan, nanCount: 0 },
      false,
    ],
    ['is-nan where no value is NaN', isNan, { ...oneAndNan, nanCount: 0 }, false],
    ['not-in where no value is NaN', among('not-in'), { ...oneAndNan, nanCount: 0 }, false],
  ])('B099: %s', (_, predicate, metrics, isKept) => {
    expect(keeps(predicate, metrics)).toBe(isKept)
    expect(keeps(predicate, metrics, true)).toBe(isKept)
  })

  const zeros = (lower: number, upper: number): Metrics => ({
    valueCount: 1,
    nullCount: 0,
    nanCount: 0,
    lower,
    upper,
  })
  it.each<[CompareOperator, number, Metrics, boolean]>([
    ['eq', 0, zeros(-0, -0), true],
    ['eq', -0, zeros(0, 0), true],
    ['gt-eq', 0, zeros(-0, -0), true],
    ['lt-eq', -0, zeros(0, 0), true],
    // Bounds order −0 below +0, and an engine may do so as well.
    ['lt', 0, zeros(-0, -0), true],
    ['lt', 0, zeros(0, 0), false],
    ['lt', -0, zeros(-0, -0), false],
    ['gt', -0, zeros(0, 0), true],
    ['gt', 0, zeros(-0, -0), false],
    ['not-eq', 0, zeros(0, 0), false],
    ['not-eq', 0, zeros(-0, 0), true],
  ])('%s %d of a file of zeros', (operator, literal, metrics, isKept) => {
    expect(keeps(leafOf(double, operator, literal), metrics)).toBe(isKept)
    expect(keeps(leafOf(double, operator, literal), metrics, true)).toBe(isKept)
  })

  it.each<[Predicate, boolean]>([
    [leafOf({ kind: 'string' }, 'eq', '{"name":"Item A\u2019s"}'), true],
    [leafOf({ kind: 'string' }, 'starts-with', '{"name":"Item A'), true],
    [leafOf({ kind: 'string' }, 'gt', '~~'), false],
  ])('B096: keeps a file whose lower bound is not UTF-8 and so absent: %#', (predicate, isKept) => {
    expect(keeps(predicate, { valueCount: 1, nullCount: 0, nanCount: -1, upper: '{~' })).toBe(
      isKept,
    )
  })

  it.each<[CompareOperator, bigint, boolean]>([
    ['lt', 0n, true],
    ['eq', -500n, true],
    ['eq', -996953n, true],
    ['lt-eq', -996954n, false],
    ['gt', 1250n, false],
    ['gt-eq', 1250n, true],
  ])('B101: decimals %s %d between -9969.53 and 12.50', (operator, literal, isKept) => {
    const metrics = { valueCount: 9, nullCount: 0, nanCount: -1, lower: -996953n, upper: 1250n }
    expect(
      keeps(leafOf({ kind: 'decimal', precision: 7, scale: 2 }, operator, literal), metrics),
    ).toBe(isKept)
  })

  const nullOnly: Metrics = { valueCount: 3, nullCount: 3, nanCount: -1 }
  const int: PrimitiveType = { kind: 'int' }
  it.each<[string, Predicate, boolean]>([
    ['is-null', { kind: 'unary', operator: 'is-null', term: termOf(int) }, true],
    ['not-null', { kind: 'unary', operator: 'not-null', term: termOf(int) }, false],
    ['lt', leafOf(int, 'lt', 5), false],
    ['gt', leafOf(int, 'gt', 5), false],
    ['not-eq', leafOf(int, 'not-eq', 5), true],
    ['not-starts-with', leafOf({ kind: 'string' }, 'not-starts-with', 'a'), true],
  ])('knows a column of nulls under %s', (_, predicate, isKept) => {
    expect(keeps(predicate, nullOnly)).toBe(isKept)
  })

  it('knows nothing of a column that the file was written without', () => {
    for (const operator of ['lt', 'eq', 'gt', 'not-eq'] as const) {
      expect(keeps(leafOf(int, operator, 5), UNKNOWN)).toBe(true)
    }
    expect(keeps({ kind: 'unary', operator: 'not-null', term: termOf(int) }, UNKNOWN)).toBe(true)
  })

  it('keeps an empty file under no filter only', () => {
    const table = tableOf([new Map()], 0)
    expect(compileMetricsFilter({ kind: 'true' })(table)(0)).toBe(true)
    expect(compileMetricsFilter(leafOf(int, 'not-eq', 5))(table)(0)).toBe(false)
  })

  it('finds thousands of literals by their place between the bounds', () => {
    const literals = Array.from({ length: 20_000 }, (_, index) => BigInt(index) * 10n)
    const predicate: Predicate = {
      kind: 'set',
      operator: 'in',
      term: termOf({ kind: 'long' }),
      literals,
    }
    const bounds = (lower: bigint, upper: bigint): Metrics => ({ ...UNKNOWN, lower, upper })
    expect(keeps(predicate, bounds(11n, 19n))).toBe(false)
    expect(keeps(predicate, bounds(11n, 20n))).toBe(true)
    expect(keeps(predicate, bounds(199_991n, 300_000n))).toBe(false)
  })

  it.each<[CompareOperator, string, boolean]>([
    ['gt', '8f', true],
    ['gt', 'e0', false],
    ['lt', '7f', true],
    ['lt', '80', false],
    ['eq', '7f', false],
    ['eq', '9f', true],
  ])('orders UUIDs as bytes and as Java does: %s %s', (operator, byte, isKept) => {
    const uuid = (first: string): string => `${first}000000-0000-0000-0000-000000000000`
    const metrics = { ...UNKNOWN, lower: uuid('80'), upper: uuid('9f') }
    expect(keeps(leafOf({ kind: 'uuid' }, operator, uuid(byte)), metrics)).toBe(isKept)
  })

  it('takes bounds in the wrong order for none', () => {
    const predicate = leafOf({ kind: 'uuid' }, 'eq', '7f000000-0000-0000-0000-000000000000')
    const lower = 'ff000000-0000-0000-0000-000000000000'
    const upper = '01000000-0000-0000-0000-000000000000'
    expect(keeps(predicate, { ...UNKNOWN, lower, upper })).toBe(true)
  })
})

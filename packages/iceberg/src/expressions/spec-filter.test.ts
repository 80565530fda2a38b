import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ManifestEntry } from '../manifest/data-file.ts'
import type { PartitionFieldSummary } from '../manifest/manifest-file.ts'
import { summarizePartitionType } from '../manifest/partition-summary.ts'
import { partitionType } from '../manifest/partition-type.ts'
import { applyTransform, canTransform } from '../spec/apply-transform.ts'
import type { PartitionSpec, PartitionValue } from '../spec/partition-spec.ts'
import type { Schema } from '../spec/schema.ts'
import { encodeSingleValue } from '../spec/single-value.ts'
import type { Transform } from '../spec/transform.ts'
import type { PrimitiveType } from '../spec/type.ts'
import { bindExpression } from './bind-expression.ts'
import { decodeExpression } from './expression-json.ts'
import type { CompareOperator, Predicate, UnaryOperator } from './expression.ts'
import type { SampleRow } from './sample-rows.ts'
import {
  ORDERS,
  rowMatches,
  SAMPLE_TYPES,
  samplePredicate,
  sampleTransform,
  sampleValue,
} from './sample-rows.ts'
import type { SpecFilter } from './spec-filter.ts'
import { compileSpecFilter } from './spec-filter.ts'
import { readSummary } from './summary-range.ts'

const schemaOf = (types: readonly PrimitiveType[]): Schema => ({
  schemaId: 0,
  identifierFieldIds: [],
  fields: types.map((type, index) => ({
    id: index + 1,
    name: `c${index + 1}`,
    required: false,
    type,
  })),
})

interface SourcedTransform {
  readonly fieldId: number
  readonly transform: Transform
}

const specOf = (fields: readonly SourcedTransform[]): PartitionSpec => ({
  specId: 0,
  fields: fields.map(({ fieldId, transform }, index) => ({
    sourceIds: [fieldId],
    fieldId: 1000 + index,
    name: `p${index}`,
    transform,
  })),
})

function filterOf(
  predicate: Predicate,
  types: readonly PrimitiveType[],
  fields: readonly SourcedTransform[],
): SpecFilter {
  const schemas = [schemaOf(types)]
  const spec = specOf(fields)
  return compileSpecFilter(predicate, spec, { partition: partitionType(spec, schemas), schemas })
}

const entryOf = (partition: readonly PartitionValue[]): ManifestEntry => ({
  status: 'added',
  dataFile: {
    content: 'data',
    filePath: 'f',
    fileFormat: 'PARQUET',
    partition: [...partition],
    recordCount: 1n,
    fileSizeBytes: 1n,
  },
})

const TIMES = new Set(['year', 'month', 'day', 'hour'])

/** The value that writers before Iceberg 0.11 gave to times before 1970 that are not the start of a unit. */
function oldPartitionValue(
  transform: Transform,
  type: PrimitiveType,
  value: PartitionValue,
): PartitionValue {
  const right = applyTransform(transform, type, value)
  if (!TIMES.has(transform.kind) || typeof right !== 'number' || right >= 0) return right
  return type.kind === 'date' && transform.kind === 'day' ? right : right + 1
}

describe('compileSpecFilter', () => {
  it('I47, I48: keeps partitions and manifests with rows that match, and leaves what they do not prove', () => {
    const counts = { prunedPartitions: 0, prunedManifests: 0, trueResiduals: 0 }
    const scenario = fc
      .array(fc.constantFrom(...SAMPLE_TYPES), { minLength: 1, maxLength: 2 })
      .chain((types) =>
        fc.record({
          types: fc.constant(types),
          predicate: samplePredicate(types),
          fields: fc.array(
            fc.nat({ max: types.length - 1 }).chain((index) =>
              sampleTransform(types[index] as PrimitiveType).map((transform) => ({
                fieldId: index + 1,
                transform,
              })),
            ),
            { minLength: 1, maxLength: 3 },
          ),
          rows: fc.array(fc.tuple(...types.map(sampleValue)), { minLength: 1, maxLength: 6 }),
          isOldWriter: fc.boolean(),
        }),
      )
    fc.assert(
      fc.property(scenario, ({ types, predicate, fields, rows, isOldWriter }) => {
        const filter = filterOf(predicate, types, fields)
        const partitionOf = (row: SampleRow): PartitionValue[] =>
          fields.map(({ fieldId, transform }) => {
            const of = isOldWriter ? oldPartitionValue : applyTransform
            return of(transform, types[fieldId - 1] as PrimitiveType, row[fieldId - 1] ?? null)
          })
        const partitions = rows.map(partitionOf)
        const type = partitionType(specOf(fields), [schemaOf(types)])
        const summaries = summarizePartitionType(type, partitions.map(entryOf))
        const isKept = filter.mightMatchManifest(summaries)
        if (!isKept) counts.prunedManifests++
        rows.forEach((row, index) => {
          const partition = partitions[index] ?? []
          const mightMatch = filter.mightMatchPartition(partition)
          const residual = filter.residual(partition)
          if (!mightMatch) counts.prunedPartitions++
          if (residual.kind === 'true' && predicate.kind !== 'true') counts.trueResiduals++
          for (const order of ORDERS) {
            const isMatch = rowMatches(predicate, row, order)
            expect(isMatch && !mightMatch).toBe(false)
            expect(isMatch && !isKept).toBe(false)
            expect(rowMatches(residual, row, order)).toBe(isMatch)
          }
        })
      }),
      { numRuns: 3000 },
    )
    expect(counts.prunedPartitions).toBeGreaterThan(500)
    expect(counts.prunedManifests).toBeGreaterThan(200)
    expect(counts.trueResiduals).toBeGreaterThan(500)
  })

  const compare = (
    type: PrimitiveType,
    operator: CompareOperator,
    text: unknown,
    name: unknown = 'c1',
  ): Predicate =>
    bindExpression(
      decodeExpression({ type: operator, term: name, value: text } as never, 'filter'),
      schemaOf([type]),
      { caseSensitive: true },
    )

  const TIMESTAMPS: readonly [PrimitiveType, bigint][] = [
    [{ kind: 'timestamp' }, 1n],
    [{ kind: 'timestamp_ns' }, 1000n],
  ]
  describe.each(TIMESTAMPS)('B106: %o', (type, unitsPerMicro) => {
    const texts = [
      '0001-01-01T00:00:00',
      '1969-11-15T00:00:00',
      '1969-12-31T00:00:00',
      '1969-12-31T23:59:59.999999',
      '1970-01-01T00:00:00',
      '9999-12-31T23:59:59.999999',
    ].filter((text) => unitsPerMicro === 1n || /^19/.test(text))
    it.each(texts)('finds %s in its year, month, day and hour', (text) => {
      const at = compare(type, 'eq', text)
      if (at.kind !== 'compare') throw new Error('expected a comparison')
      for (const kind of ['year', 'month', 'day', 'hour'] as const) {
        for (const of of [applyTransform, oldPartitionValue]) {
          const partition = [of({ kind }, type, at.literal)]
          for (const operator of ['eq', 'lt-eq', 'gt-eq'] as const) {
            const filter = filterOf(
              compare(type, operator, text),
              [type],
              [{ fieldId: 1, transform: { kind } }],
            )
            expect(filter.mightMatchPartition(partition)).toBe(true)
          }
        }
      }
    })

    it('does not trust a day before 1970 to be the right one', () => {
      const day: SourcedTransform[] = [{ fieldId: 1, transform: { kind: 'day' } }]
      const later = filterOf(compare(type, 'gt-eq', '1970-01-01T00:00:00'), [type], day)
      // 0 is also the day that old writers gave to the last one of 1969.
      expect(later.residual([0]).kind).toBe('compare')
      expect(later.residual([1]).kind).toBe('true')
      expect(later.residual([-1]).kind).toBe('false')
      const earlier = filterOf(compare(type, 'lt', '1970-01-01T00:00:00'), [type], day)
      expect(earlier.mightMatchPartition([0])).toBe(true)
      expect(earlier.mightMatchPartition([1])).toBe(false)
      expect(earlier.residual([-1]).kind).toBe('true')
    })
  })

  it('trusts the day of a date', () => {
    const date: PrimitiveType = { kind: 'date' }
    const filter = filterOf(
      compare(date, 'eq', '1969-12-31'),
      [date],
      [{ fieldId: 1, transform: { kind: 'day' } }],
    )
    expect(filter.mightMatchPartition([-1])).toBe(true)
    expect(filter.mightMatchPartition([0])).toBe(false)
  })

  const float: PrimitiveType = { kind: 'float' }
  const bound = (value: number): Uint8Array => encodeSingleValue(float, value)
  it.each<[string, CompareOperator, number, PartitionFieldSummary, boolean]>([
    [
      'NaN as both bounds',
      'eq',
      1,
      { containsNull: false, containsNan: true, lowerBound: bound(NaN), upperBound: bound(NaN) },
      true,
    ],
    [
      'NaN as both bounds',
      'gt',
      3,
      { containsNull: false, lowerBound: bound(NaN), upperBound: bound(NaN) },
      true,
    ],
    [
      'NaN as the upper bound',
      'gt',
      3,
      { containsNull: false, containsNan: false, lowerBound: bound(1), upperBound: bound(NaN) },
      true,
    ],
    [
      'NaN as the upper bound',
      'lt',
      1,
      { containsNull: false, lowerBound: bound(1), upperBound: bound(NaN) },
      false,
    ],
    [
      'NaN beside 1',
      'gt',
      3,
      { containsNull: false, containsNan: true, lowerBound: bound(1), upperBound: bound(1) },
      true,
    ],
    [
      'no word about NaN',
      'gt',
      3,
      { containsNull: false, lowerBound: bound(1), upperBound: bound(1) },
      true,
    ],
    [
      'no NaN',
      'gt',
      3,
      { containsNull: false, containsNan: false, lowerBound: bound(1), upperBound: bound(1) },
      false,
    ],
    ['nothing but NaN', 'lt', 3, { containsNull: false, containsNan: true }, false],
    ['nothing but NaN', 'gt', 3, { containsNull: false, containsNan: true }, true],
    ['nothing but nulls', 'gt', 3, { containsNull: true, containsNan: false }, false],
    ['nothing but nulls', 'not-eq', 3, { containsNull: true, containsNan: false }, true],
    // No null, no NaN and no bounds is no answer.
    ['nothing at all', 'eq', 3, { containsNull: false, containsNan: false }, true],
    [
      'bounds that are cut off',
      'eq',
      3,
      { containsNull: false, lowerBound: Uint8Array.of(1), upperBound: Uint8Array.of(1) },
      true,
    ],
    [
      'bounds in the wrong order',
      'eq',
      3,
      { containsNull: false, lowerBound: bound(9), upperBound: bound(1) },
      true,
    ],
  ])('B105: a summary with %s under %s %d', (_, operator, literal, summary, isKept) => {
    const filter = filterOf(
      compare(float, operator, literal),
      [float],
      [{ fieldId: 1, transform: { kind: 'identity' } }],
    )
    expect(filter.mightMatchManifest([summary])).toBe(isKept)
  })

  it('keeps manifests without summaries, or with too few', () => {
    const filter = filterOf(
      compare(float, 'eq', 1),
      [float],
      [{ fieldId: 1, transform: { kind: 'identity' } }],
    )
    expect(filter.mightMatchManifest(undefined)).toBe(true)
    expect(filter.mightMatchManifest([])).toBe(true)
    expect(filter.mightMatchPartition([])).toBe(true)
    expect(filter.residual([]).kind).toBe('compare')
  })

  it('B119: leaves the parts of a filter that the partition does not prove', () => {
    const schema: Schema = schemaOf([{ kind: 'timestamp' }, { kind: 'double' }, { kind: 'string' }])
    const predicate = bindExpression(
      decodeExpression(
        {
          type: 'and',
          left: { type: 'gt-eq', term: 'c1', value: '2026-01-03T12:00:00' },
          right: {
            type: 'and',
            left: { type: 'gt', term: 'c2', value: 3 },
            right: { type: 'starts-with', term: 'c3', value: 'a' },
          },
        },
        'filter',
      ),
      schema,
      { caseSensitive: true },
    )
    const spec = specOf([{ fieldId: 1, transform: { kind: 'day' } }])
    const partition = partitionType(spec, [schema])
    const filter = compileSpecFilter(predicate, spec, { partition, schemas: [schema] })
    const columns = (residual: Predicate): unknown =>
      residual.kind === 'and'
        ? residual.children.map((child) => 'term' in child && child.term.name)
        : residual.kind
    expect(columns(filter.residual([20_455]))).toBe('false')
    expect(columns(filter.residual([20_456]))).toEqual(['c1', 'c2', 'c3'])
    expect(columns(filter.residual([20_457]))).toEqual(['c2', 'c3'])
  })

  const unary = (operator: UnaryOperator, type: PrimitiveType): Predicate => ({
    kind: 'unary',
    operator,
    term: {
      fieldId: 1,
      name: 'c1',
      type,
      isRequired: false,
      transform: { kind: 'identity' },
      resultType: type,
    },
  })
  it.each<[string, Predicate, PartitionValue, string]>([
    ['is-null', unary('is-null', float), null, 'true'],
    ['is-null', unary('is-null', float), NaN, 'false'],
    ['not-null', unary('not-null', float), NaN, 'true'],
    ['is-nan', unary('is-nan', float), NaN, 'true'],
    ['is-nan', unary('is-nan', float), null, 'false'],
    ['not-nan', unary('not-nan', float), null, 'true'],
    ['lt', compare(float, 'lt', 5), null, 'false'],
    ['gt', compare(float, 'gt', 5), null, 'false'],
    ['not-eq', compare(float, 'not-eq', 5), null, 'true'],
    ['lt', compare(float, 'lt', 5), NaN, 'false'],
    // Engines do not agree whether NaN is above 5.
    ['gt', compare(float, 'gt', 5), NaN, 'compare'],
    ['not-eq', compare(float, 'not-eq', 5), NaN, 'true'],
    ['eq', compare(float, 'eq', 0), -0, 'compare'],
    ['eq', compare(float, 'eq', 0), 0, 'true'],
  ])('residual of %s for the partition %#', (_, predicate, value, kind) => {
    const filter = filterOf(predicate, [float], [{ fieldId: 1, transform: { kind: 'identity' } }])
    expect(filter.residual([value]).kind).toBe(kind)
  })

  const string: PrimitiveType = { kind: 'string' }
  it.each<[CompareOperator, string, string, boolean, string]>([
    ['starts-with', 'é', '🚀🚀', false, 'false'],
    ['starts-with', '🚀', '🚀🚀', true, 'true'],
    ['starts-with', '🚀🚀', '🚀🚀', true, 'true'],
    ['starts-with', '🚀🚀🚀', '🚀🚀', true, 'compare'],
    ['starts-with', '🚀🚀', '🚀', false, 'false'],
    ['not-starts-with', '🚀', '🚀🚀', false, 'false'],
    ['not-starts-with', '🚀🚀🚀', '🚀🚀', true, 'compare'],
    ['not-starts-with', '🚀🚀🚀', '🚀', true, 'true'],
    ['lt', '🚀🚀a', '🚀🚀', true, 'compare'],
    ['lt', '🚀🚀a', '\uffff', true, 'true'],
    ['gt', '🚀🚀a', '\uffff', false, 'false'],
  ])('counts code points: %s %s in the partition %s', (operator, literal, value, isKept, kind) => {
    const filter = filterOf(
      compare(string, operator, literal),
      [string],
      [{ fieldId: 1, transform: { kind: 'truncate', width: 2 } }],
    )
    expect(filter.mightMatchPartition([value])).toBe(isKept)
    expect(filter.residual([value]).kind).toBe(kind)
  })

  it.each<[PrimitiveType, bigint, PartitionValue]>([
    [{ kind: 'int' }, -(2n ** 31n), 2_147_483_646],
    [{ kind: 'long' }, -(2n ** 63n), 2n ** 63n - 2n],
  ])('finds the smallest %o, which wraps when it is cut', (type, smallest, wrapped) => {
    const byTen: SourcedTransform[] = [{ fieldId: 1, transform: { kind: 'truncate', width: 10 } }]
    const bytes = encodeSingleValue(type, wrapped as bigint)
    for (const operator of ['eq', 'lt', 'lt-eq'] as const) {
      const literal = operator === 'eq' ? smallest : -5n
      const filter = filterOf(compare(type, operator, literal), [type], byTen)
      expect(filter.mightMatchPartition([wrapped])).toBe(true)
      const summary = { containsNull: false, lowerBound: bytes, upperBound: bytes }
      expect(filter.mightMatchManifest([summary])).toBe(true)
    }
    const above = filterOf(compare(type, 'gt', 5), [type], byTen)
    expect(above.residual([wrapped]).kind).toBe('compare')
  })

  describe('evolution', () => {
    const compileFor = (
      predicate: Predicate,
      transform: Transform,
      schemas: readonly Schema[],
    ): SpecFilter => {
      const spec = specOf([{ fieldId: 1, transform }])
      return compileSpecFilter(predicate, spec, {
        partition: partitionType(spec, schemas),
        schemas,
      })
    }
    const int = schemaOf([{ kind: 'int' }])
    const long = schemaOf([{ kind: 'long' }])
    const date = schemaOf([{ kind: 'date' }])
    const timestamp = schemaOf([{ kind: 'timestamp' }])

    it.each<[string, Schema]>([
      ['the schema of today', long],
      ['a schema of before', int],
    ])('compares an int that became a long in %s', (_, scanned) => {
      const type = scanned.fields[0]?.type as PrimitiveType
      for (const kind of ['identity', 'truncate', 'bucket'] as const) {
        const transform: Transform =
          kind === 'truncate'
            ? { kind, width: 10 }
            : kind === 'bucket'
              ? { kind, bucketCount: 3 }
              : { kind }
        const filter = compileFor(compare(type, 'eq', 15), transform, [long, int])
        const value = applyTransform(transform, { kind: 'long' }, 15n)
        expect(filter.mightMatchPartition([value])).toBe(true)
        expect(filter.mightMatchPartition([BigInt(value as bigint) + 1n])).toBe(false)
        const lowerBound = Uint8Array.of(Number(value), 0, 0, 0)
        const summary = { containsNull: false, lowerBound, upperBound: lowerBound }
        expect(filter.mightMatchManifest([summary])).toBe(true)
      }
    })

    it('does not compare days with the micros that a date became', () => {
      const predicate = compare({ kind: 'timestamp' }, 'eq', '2020-01-01T00:00:00')
      const filter = compileFor(predicate, { kind: 'identity' }, [timestamp, date])
      expect(filter.mightMatchPartition([18_262n])).toBe(true)
      expect(filter.residual([18_262n])).toEqual(predicate)
      const byMonth = compileFor(predicate, { kind: 'month' }, [timestamp, date])
      expect(byMonth.mightMatchPartition([600])).toBe(true)
      expect(byMonth.mightMatchPartition([601])).toBe(false)
    })

    it('keeps partitions of a column that was dropped, and of transforms that it does not know', () => {
      const predicate = compare({ kind: 'int' }, 'eq', 5)
      const void_ = compileFor(predicate, { kind: 'void' }, [int])
      const zorder = compileFor(predicate, { kind: 'unknown-transform', text: 'zorder[4]' }, [int])
      const other = compileFor(
        {
          ...predicate,
          term: { ...('term' in predicate && predicate.term), fieldId: 7 },
        } as Predicate,
        { kind: 'identity' },
        [int],
      )
      for (const filter of [void_, zorder, other]) {
        expect(filter.mightMatchPartition([null])).toBe(true)
        expect(filter.mightMatchManifest([{ containsNull: true }])).toBe(true)
        expect(filter.residual([null]).kind).toBe('compare')
      }
    })

    it('keeps a partition whose value is not of the type', () => {
      const filter = compileFor(compare({ kind: 'int' }, 'eq', 5), { kind: 'identity' }, [int])
      expect(filter.mightMatchPartition(['five'])).toBe(true)
      expect(filter.residual(['five']).kind).toBe('compare')
    })
  })

  it('asks a transform of a column that is a partition field itself', () => {
    const term = { type: 'transform', transform: 'truncate[2]', term: 'c1' }
    const filter = filterOf(
      compare(string, 'eq', 'ze', term),
      [string],
      [{ fieldId: 1, transform: { kind: 'identity' } }],
    )
    expect(filter.residual(['zebra']).kind).toBe('true')
    expect(filter.residual(['zoo']).kind).toBe('false')
  })
})

describe('readSummary', () => {
  it('reads bounds of every type', () => {
    for (const type of SAMPLE_TYPES) {
      const [value] = fc.sample(
        sampleValue(type).filter((value) => value !== null && !Number.isNaN(value)),
        { numRuns: 1, seed: 1 },
      )
      if (value === undefined || value === null) throw new Error('no sample')
      const bytes = encodeSingleValue(type, value)
      const range = readSummary(type, { containsNull: false, lowerBound: bytes, upperBound: bytes })
      expect(range).toMatchObject({ mayHaveOthers: true, lower: value, upper: value })
      expect(canTransform({ kind: 'identity' }, type)).toBe(true)
    }
  })
})

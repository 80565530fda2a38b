import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newTableMetadata } from '../commit/new-table-metadata.ts'
import { applyTransform } from '../spec/apply-transform.ts'
import { invariant } from '../spec/invariant.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import { compareValues, encodeSingleValue, type SingleValue } from '../spec/single-value.ts'
import type { Transform } from '../spec/transform.ts'
import type { IcebergType } from '../spec/type.ts'
import { derivePartition, type FileEvidence, partitionProblem } from './partition-evidence.ts'
import { type ShapedSpec, tableShape, type TableShape } from './table-shape.ts'

interface Partitioned {
  readonly spec: ShapedSpec
  readonly shape: TableShape
}

function partitioned(type: IcebergType, transform: Transform, required = false): Partitioned {
  const schema = {
    schemaId: 0,
    identifierFieldIds: [],
    fields: [{ id: 1, name: 'c', required, type }],
  }
  const metadata = newTableMetadata(
    {
      schema,
      partitionSpec: { fields: [{ sourceIds: [1], name: 'p', transform: { kind: 'void' } }] },
      properties: {},
    },
    { tableUuid: 'c5a3bd2c-7d77-4c11-9c4e-1d6a3e2b0f10', location: 'file:///t', nowMs: 1 },
  )
  const shape = tableShape(metadata)
  const made = shape.specs.get(0)
  invariant(made !== undefined, 'a new table has spec 0')
  // A transform that nobody knows comes with a registered table and not with a new one.
  const fields = made.spec.fields.map((field) => ({ ...field, transform }))
  return { spec: { ...made, spec: { ...made.spec, fields } }, shape }
}

interface Values {
  readonly rows?: bigint
  readonly nulls?: bigint
  readonly lower?: SingleValue
  readonly upper?: SingleValue
}

function evidence(type: IcebergType, { rows = 10n, nulls, lower, upper }: Values): FileEvidence {
  return {
    recordCount: rows,
    ...(nulls === undefined ? {} : { nullValueCounts: new Map([[1, nulls]]) }),
    ...(lower === undefined ? {} : { lowerBounds: new Map([[1, encodeSingleValue(type, lower)]]) }),
    ...(upper === undefined ? {} : { upperBounds: new Map([[1, encodeSingleValue(type, upper)]]) }),
  }
}

const DAY_MICROS = 86_400_000_000n
const timestamp: IcebergType = { kind: 'timestamptz' }
const text: IcebergType = { kind: 'string' }
const int: IcebergType = { kind: 'int' }
const day: Transform = { kind: 'day' }
const identity: Transform = { kind: 'identity' }
const bucket: Transform = { kind: 'bucket', bucketCount: 16 }
const truncate: Transform = { kind: 'truncate', width: 10 }

describe('partitionProblem', () => {
  it.each<[string, IcebergType, Transform, PartitionValue, Values]>([
    [
      'a day around its bounds',
      timestamp,
      day,
      3,
      { nulls: 0n, lower: 3n * DAY_MICROS, upper: 4n * DAY_MICROS - 1n },
    ],
    ['a day before 1970', timestamp, day, -1, { lower: -1n, upper: -1n }],
    ['a value that nothing is known of', timestamp, day, 3, {}],
    ['null where all rows are', int, identity, null, { nulls: 10n }],
    ['null in a file without rows', int, identity, null, { rows: 0n, nulls: 0n }],
    [
      'a text between cut bounds',
      text,
      identity,
      'abcdef',
      { nulls: 0n, lower: 'abc', upper: 'abd' },
    ],
    ['a bucket of several values', int, bucket, 3, { nulls: 0n, lower: 1, upper: 9 }],
    ['the bucket of one value', text, bucket, 9, { nulls: 0n, lower: 'iceberg', upper: 'iceberg' }],
    ['a truncated value', int, truncate, 10, { nulls: 0n, lower: 10, upper: 19 }],
    [
      'a float, whatever its bounds',
      { kind: 'float' },
      identity,
      Number.NaN,
      { lower: 1, upper: 2 },
    ],
    [
      'null of a transform without values',
      int,
      { kind: 'void' },
      null,
      { nulls: 0n, lower: 1, upper: 1 },
    ],
    [
      'anything of an unknown transform',
      int,
      { kind: 'unknown-transform', text: 'zorder' },
      'x',
      { nulls: 0n, lower: 1, upper: 1 },
    ],
  ])('lets pass %s', (_, type, transform, value, values) => {
    const { spec, shape } = partitioned(type, transform)
    const file = { ...evidence(type, values), partition: [value] }
    expect(partitionProblem(spec, shape, file)).toBeUndefined()
  })

  it.each<[string, IcebergType, Transform, PartitionValue, Values, string]>([
    [
      'another day',
      timestamp,
      day,
      4,
      { nulls: 0n, lower: 3n * DAY_MICROS, upper: 3n * DAY_MICROS },
      'the bounds of column c exclude this value',
    ],
    [
      'two days in one file',
      timestamp,
      day,
      3,
      { lower: 3n * DAY_MICROS, upper: 4n * DAY_MICROS },
      'the bounds of column c span several partitions',
    ],
    [
      'null beside bounds',
      int,
      identity,
      null,
      { lower: 1, upper: 1 },
      'expected a value, got null',
    ],
    ['null without nulls', int, identity, null, { nulls: 0n }, 'expected a value, got null'],
    [
      'a value where all rows are null',
      int,
      identity,
      1,
      { nulls: 10n },
      'expected null, as column c holds nothing else',
    ],
    ['nulls beside values', int, identity, 1, { nulls: 3n }, 'column c holds nulls beside values'],
    [
      'a text outside cut bounds',
      text,
      identity,
      'abe',
      { lower: 'abc', upper: 'abd' },
      'the bounds of column c exclude this value',
    ],
    [
      'another bucket of one value',
      int,
      bucket,
      4,
      { lower: 34, upper: 34 },
      'the bounds of column c exclude this value',
    ],
    ['a value of a transform without values', int, { kind: 'void' }, 1, {}, 'expected null'],
  ])('refuses %s', (_, type, transform, value, values, problem) => {
    const { spec, shape } = partitioned(type, transform)
    const file = { ...evidence(type, values), partition: [value] }
    expect(partitionProblem(spec, shape, file)).toBe(`partition p: ${problem}`)
  })

  it('refuses null of a required column that counts no nulls', () => {
    const { spec, shape } = partitioned(int, identity, true)
    expect(partitionProblem(spec, shape, { recordCount: 1n, partition: [null] })).toBe(
      'partition p: expected a value, got null',
    )
  })
})

describe('derivePartition', () => {
  it.each<[string, IcebergType, Transform, PartitionValue, Values]>([
    [
      'the day of all rows',
      timestamp,
      day,
      3,
      { nulls: 0n, lower: 3n * DAY_MICROS, upper: 4n * DAY_MICROS - 1n },
    ],
    ['the only value', text, identity, 'a', { nulls: 0n, lower: 'a', upper: 'a' }],
    [
      'the bucket of the only value',
      text,
      bucket,
      9,
      { nulls: 0n, lower: 'iceberg', upper: 'iceberg' },
    ],
    ['null', int, identity, null, { nulls: 10n }],
    ['null of a transform without values', int, { kind: 'void' }, null, {}],
  ])('finds %s', (_, type, transform, value, values) => {
    const { spec, shape } = partitioned(type, transform)
    const derived = derivePartition(spec, shape, evidence(type, values))
    expect(derived).toEqual({ outcome: 'derived', partition: [value] })
  })

  it.each<[string, IcebergType, Transform, Values, string]>([
    [
      'nulls are not counted',
      int,
      identity,
      { lower: 1, upper: 1 },
      'nulls of column c are not counted',
    ],
    [
      'there are nulls and values',
      int,
      identity,
      { nulls: 1n, lower: 1, upper: 1 },
      'column c holds nulls beside values',
    ],
    ['bounds are missing', int, identity, { nulls: 0n, lower: 1 }, 'column c has no exact bounds'],
    [
      'it would be a float',
      { kind: 'double' },
      identity,
      { nulls: 0n, lower: 1, upper: 1 },
      'column c has no exact bounds',
    ],
    [
      'values differ',
      int,
      bucket,
      { nulls: 0n, lower: 1, upper: 2 },
      'the bounds of column c span several partitions',
    ],
    [
      'the transform is unknown',
      int,
      { kind: 'unknown-transform', text: 'z' },
      { nulls: 0n, lower: 1, upper: 1 },
      'its transform cannot be applied here',
    ],
  ])('finds none when %s', (_, type, transform, values, reason) => {
    const { spec, shape } = partitioned(type, transform)
    const derived = derivePartition(spec, shape, evidence(type, values))
    expect(derived).toEqual({ outcome: 'unknown', reason: `partition p: ${reason}` })
  })

  const transforms: Transform[] = [identity, truncate, bucket]
  it('agrees with the partition of every value, and passes its own check', () => {
    const values = fc.array(fc.integer({ min: -40, max: 40 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(values, fc.constantFrom(...transforms), (rows, transform) => {
        const { spec, shape } = partitioned(int, transform)
        const sorted = [...rows].sort((a, b) => compareValues(int, a, b))
        const file = evidence(int, {
          rows: BigInt(rows.length),
          nulls: 0n,
          lower: sorted[0] ?? 0,
          upper: sorted.at(-1) ?? 0,
        })
        const partitions = new Set(rows.map((row) => applyTransform(transform, int, row)))
        const derived = derivePartition(spec, shape, file)
        if (derived.outcome === 'derived') {
          expect([...partitions]).toEqual(derived.partition)
          expect(partitionProblem(spec, shape, { ...file, ...derived })).toBeUndefined()
        } else if (transform.kind !== 'bucket') expect(partitions.size).toBeGreaterThan(1)
      }),
    )
  })
})

import { readdirSync, readFileSync } from 'node:fs'
import { tableShape } from '@timelake/iceberg/append/table-shape'
import { newTableMetadata } from '@timelake/iceberg/commit/new-table-metadata'
import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { invariant } from '@timelake/iceberg/spec/invariant'
import type { UnboundPartitionSpec } from '@timelake/iceberg/spec/partition-spec'
import type { Schema } from '@timelake/iceberg/spec/schema'
import type { IcebergType, NestedField } from '@timelake/iceberg/spec/type'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { metricsModes } from '../contract/metrics-mode.ts'
import { describeParquetFile, type FoundFile } from './describe-parquet-file.ts'
import { readNameMapping } from './name-mapping.ts'
import {
  decodeParquetFooter,
  type ParquetColumnChunk,
  type ParquetFooter,
} from './parquet-footer.ts'

const PARQUET_FILES = new URL('../data/fixtures/', import.meta.url)
const JUDGED = new URL('./fixtures/', import.meta.url)
const names = readdirSync(JUDGED).flatMap((name) =>
  name.endsWith('.json') ? [name.slice(0, -5)] : [],
)

const col = (id: number, name: string, type: IcebergType, required = false): NestedField => ({
  id,
  name,
  type,
  required,
})
const schemaOf = (...fields: NestedField[]): Schema => ({
  schemaId: 0,
  fields,
  identifierFieldIds: [],
})

const SCHEMAS: Readonly<Record<string, Schema>> = {
  types: schemaOf(
    col(1, 'flag', { kind: 'boolean' }),
    col(2, 'i', { kind: 'int' }),
    col(3, 'l', { kind: 'long' }, true),
    col(4, 'f', { kind: 'float' }),
    col(5, 'd', { kind: 'double' }),
    col(6, 'day', { kind: 'date' }),
    col(7, 't', { kind: 'time' }),
    col(8, 'ts', { kind: 'timestamp' }),
    col(9, 'tz', { kind: 'timestamptz' }),
    col(10, 's', { kind: 'string' }),
    col(11, 'bin', { kind: 'binary' }),
    col(12, 'u', { kind: 'uuid' }),
    col(13, 'd9', { kind: 'decimal', precision: 9, scale: 2 }),
    col(14, 'd18', { kind: 'decimal', precision: 18, scale: 2 }),
    col(15, 'd38', { kind: 'decimal', precision: 38, scale: 10 }),
  ),
  'evolved-0': schemaOf(
    col(1, 'id', { kind: 'int' }),
    col(2, 'old', { kind: 'string' }),
    col(3, 'gone', { kind: 'string' }),
  ),
  'evolved-1': schemaOf(
    col(1, 'id', { kind: 'long' }),
    col(2, 'new name', { kind: 'string' }),
    col(4, 'gone', { kind: 'int' }),
  ),
}

function footerOf(name: string): ParquetFooter {
  return decodeParquetFooter(
    new Uint8Array(readFileSync(new URL(`${name}.parquet`, PARQUET_FILES))),
  )
}

function schemaOfFile(name: string): Schema {
  const schema = SCHEMAS[name] ?? SCHEMAS[name.replace(/-\d+$/, '')]
  invariant(schema !== undefined, `there is a schema for ${name}`)
  return schema
}

/** The footer of a file of one row group, its chunks changed. */
function withChunks(
  footer: ParquetFooter,
  change: (chunk: ParquetColumnChunk) => ParquetColumnChunk,
): ParquetFooter {
  const rowGroups = footer.rowGroups.map((group) => ({
    ...group,
    columns: group.columns.map(change),
  }))
  return { ...footer, rowGroups }
}

const reasonOf = (description: ReturnType<typeof describeIn>): string =>
  description.outcome === 'refused' ? description.reason : 'described'

interface TestTable {
  readonly partitionSpec?: UnboundPartitionSpec
  readonly properties?: Readonly<Record<string, string>>
}

function describeIn(
  footer: ParquetFooter,
  schema: Schema,
  { partitionSpec, properties = {}, ...found }: TestTable & Partial<FoundFile> = {},
) {
  const metadata = newTableMetadata(
    { schema, properties: {}, ...(partitionSpec === undefined ? {} : { partitionSpec }) },
    { tableUuid: 'c5a3bd2c-7d77-4c11-9c4e-1d6a3e2b0f10', location: 'file:///t', nowMs: 1 },
  )
  const shape = { ...tableShape(metadata), schema }
  const spec = shape.specs.get(0)
  invariant(spec !== undefined, 'a new table has spec 0')
  return describeParquetFile(
    { footer, fileSizeBytes: 1_000n, partition: undefined, ...found },
    {
      shape: { ...shape, columns: new Map(schema.fields.map((field) => [field.id, field])) },
      spec,
      modes: metricsModes(schema, undefined, properties),
      nameMapping: readNameMapping(properties),
    },
  )
}

function fileOf(description: ReturnType<typeof describeIn>): Omit<DataFile, 'filePath'> {
  if (description.outcome === 'refused') throw new Error(description.reason)
  return description.file
}

const hex = (bounds: ReadonlyMap<number, Uint8Array> | undefined): Record<string, string> =>
  Object.fromEntries(
    [...(bounds ?? [])].map(([id, bytes]) => [String(id), Buffer.from(bytes).toString('hex')]),
  )
const numbers = (counts: ReadonlyMap<number, bigint> | undefined): Record<string, string> =>
  Object.fromEntries([...(counts ?? [])].map(([id, count]) => [String(id), String(count)]))

interface Judged {
  readonly 'record-count': string
  readonly 'column-sizes': Record<string, string>
  readonly 'value-counts': Record<string, string>
  readonly 'null-value-counts': Record<string, string>
  readonly 'lower-bounds': Record<string, string>
  readonly 'upper-bounds': Record<string, string>
  readonly 'split-offsets': string[]
}

const daysOfTs: UnboundPartitionSpec = {
  fields: [{ sourceIds: [8], name: 'ts_day', transform: { kind: 'day' } }],
}

describe('describeParquetFile', () => {
  it.each(names)('says of %s what PyIceberg says', (name) => {
    const judged = JSON.parse(readFileSync(new URL(`${name}.json`, JUDGED), 'utf8')) as Judged
    const file = fileOf(describeIn(footerOf(name), schemaOfFile(name)))
    expect(String(file.recordCount)).toBe(judged['record-count'])
    expect(numbers(file.columnSizesBytes)).toEqual(judged['column-sizes'])
    expect(numbers(file.valueCounts)).toEqual(judged['value-counts'])
    expect(numbers(file.nullValueCounts)).toEqual(judged['null-value-counts'])
    expect(file.splitOffsets?.map(String)).toEqual(judged['split-offsets'])
    expect(hex(file.lowerBounds)).toEqual(judged['lower-bounds'])
    expect(hex(file.upperBounds)).toEqual(judged['upper-bounds'])
  })

  it('widens the bounds of an int that the table has made a long', () => {
    const schema = schemaOf(col(1, 'id', { kind: 'long' }))
    const file = fileOf(describeIn(footerOf('evolved-0'), schema))
    expect(hex(file.lowerBounds)).toEqual({ '1': '0100000000000000' })
  })

  it('leaves out what the footer does not tell, and NaN bounds', () => {
    const nan = new Uint8Array(new Float64Array([Number.NaN]).buffer)
    const footer = withChunks(footerOf('types-1'), ({ nullCount: _, min: _min, ...chunk }) =>
      chunk.path[0] === 'd' ? { ...chunk, min: nan, max: nan } : { ...chunk, nullCount: 0n },
    )
    const file = fileOf(describeIn(footer, schemaOfFile('types-1')))
    expect(file.nullValueCounts?.has(5)).toBe(false)
    expect(file.lowerBounds?.size).toBe(0)
    expect(file.upperBounds?.has(5)).toBe(false)
    expect(file.upperBounds?.has(2)).toBe(true)
    expect(file.nanValueCounts?.size).toBe(0)
  })

  it('keeps the metrics that the table asks for', () => {
    const properties = {
      'write.metadata.metrics.default': 'none',
      'write.metadata.metrics.column.s': 'truncate(2)',
      'write.metadata.metrics.column.i': 'counts',
    }
    const file = fileOf(describeIn(footerOf('types-0'), schemaOfFile('types-0'), { properties }))
    expect(hex(file.lowerBounds)).toEqual({ '10': Buffer.from('éß').toString('hex') })
    expect([...(file.valueCounts ?? [])].map(([id]) => id)).toEqual([2, 10])
  })

  it.each<[string, IcebergType]>([
    ['a decimal in an integer', { kind: 'decimal', precision: 9, scale: 2 }],
    ['a decimal in bytes', { kind: 'decimal', precision: 9, scale: 2 }],
  ])('reads the bounds of %s', (form, type) => {
    const isInteger = form.endsWith('integer')
    const base = footerOf('types-0')
    const bytes = Uint8Array.from(isInteger ? [0x85, 0xff, 0xff, 0xff] : [0xff, 0xff, 0x85])
    const columns = base.columns
      .filter(({ name }) => name === 'd9')
      .map((element) => ({
        ...element,
        physicalType: isInteger ? ('INT32' as const) : ('FIXED_LEN_BYTE_ARRAY' as const),
      }))
    const footer = withChunks({ ...base, columns }, (chunk) => ({
      ...chunk,
      min: bytes,
      max: bytes,
    }))
    const file = fileOf(describeIn(footer, schemaOf(col(13, 'd9', type))))
    expect(hex(file.lowerBounds)).toEqual({ '13': '85' })
  })

  it('proves the partition of a file by its bounds', () => {
    const schema = schemaOfFile('types-1')
    const onlyDay = withChunks(footerOf('types-1'), (chunk) => ({ ...chunk, nullCount: 0n }))
    const file = fileOf(describeIn(onlyDay, schema, { partitionSpec: daysOfTs }))
    expect(file.partition).toEqual([-1])
  })

  it('proves it even where the table keeps no bounds', () => {
    const footer = withChunks(footerOf('types-1'), (chunk) => ({ ...chunk, nullCount: 0n }))
    const properties = { 'write.metadata.metrics.default': 'none' }
    const options = { partitionSpec: daysOfTs, properties }
    expect(fileOf(describeIn(footer, schemaOfFile('types-1'), options)).partition).toEqual([-1])
  })

  it('takes the partition that the writer names', () => {
    const options = { partitionSpec: daysOfTs, partition: [7] }
    const file = fileOf(describeIn(footerOf('types-1'), schemaOfFile('types-1'), options))
    expect(file.partition).toEqual([7])
  })

  it('refuses a file whose partition nothing proves', () => {
    const options = { partitionSpec: daysOfTs }
    expect(reasonOf(describeIn(footerOf('types-1'), schemaOfFile('types-1'), options))).toBe(
      'has no provable partition (partition ts_day: column ts holds nulls beside values): name it',
    )
  })

  it('refuses a file without field ids', () => {
    const base = footerOf('evolved-1')
    const footer = { ...base, columns: base.columns.map(({ fieldId: _, ...element }) => element) }
    expect(reasonOf(describeIn(footer, schemaOfFile('evolved-1')))).toBe(
      'stores no field ids, and the table has no name mapping',
    )
  })

  it('takes the ids of a file without them from the name mapping of the table', () => {
    const base = footerOf('evolved-1')
    const footer = { ...base, columns: base.columns.map(({ fieldId: _, ...element }) => element) }
    const properties = {
      'schema.name-mapping.default':
        '[{"field-id": 1, "names": ["id"]}, {"field-id": 4, "names": ["old", "gone"]}, {"names": ["x"]}]',
    }
    const file = fileOf(describeIn(footer, schemaOfFile('evolved-1'), { properties }))
    expect(hex(file.lowerBounds)).toEqual({ '1': '0000000000010000', '4': '07000000' })
  })

  it('refuses a table whose name mapping is none', () => {
    const properties = { 'schema.name-mapping.default': '{"field-id": 1}' }
    const describing = () =>
      describeIn(footerOf('evolved-1'), schemaOfFile('evolved-1'), { properties })
    expect(describing).toThrow('schema.name-mapping.default: expected list, got object')
  })

  it.each<[string, Schema, string]>([
    [
      'a column of another type',
      schemaOf(col(2, 'i', { kind: 'string' })),
      'stores column "i" (string) as optional INT32 (unannotated)',
    ],
    [
      'no required column',
      schemaOf(col(99, 'r', { kind: 'int' }, true)),
      'lacks required column "r"',
    ],
    [
      'a leaf for a nested column',
      schemaOf(col(2, 'i', { kind: 'struct', fields: [col(50, 'x', { kind: 'int' })] })),
      'stores column "i" (struct) as optional INT32 (unannotated)',
    ],
  ])('refuses a file with %s', (_, schema, reason) => {
    expect(reasonOf(describeIn(footerOf('types-0'), schema))).toBe(reason)
  })

  it('refuses a file that stores a field id twice', () => {
    const base = footerOf('evolved-1')
    const columns = base.columns.map((element) => ({ ...element, fieldId: 1 }))
    expect(reasonOf(describeIn({ ...base, columns }, schemaOfFile('evolved-1')))).toBe(
      'stores field id 1 twice',
    )
  })

  it('takes no harm from statistics that are none', () => {
    const bytes = fc.uint8Array({ maxLength: 20 })
    fc.assert(
      fc.property(bytes, bytes, fc.bigInt({ min: -9n, max: 9n }), (min, max, nullCount) => {
        const footer = withChunks(footerOf('types-1'), (chunk) => ({
          ...chunk,
          min,
          max,
          nullCount,
        }))
        expect(describeIn(footer, schemaOfFile('types-1')).outcome).toBe('described')
        const days = describeIn(footer, schemaOfFile('types-1'), { partitionSpec: daysOfTs })
        expect(['described', 'refused']).toContain(days.outcome)
      }),
    )
  })
})

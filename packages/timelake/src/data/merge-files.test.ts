import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import type { Schema } from '@timelake/iceberg/spec/schema'
import { decodeSingleValue } from '@timelake/iceberg/spec/single-value'
import type { SortField } from '@timelake/iceberg/spec/sort-order'
import type { IcebergType, NestedField } from '@timelake/iceberg/spec/type'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mergeOrderOf } from '../contract/merge-order.ts'
import { metricsModes } from '../contract/metrics-mode.ts'
import { columnFacts, measureSql } from './column-facts.ts'
import { columnMetrics } from '../footer/column-metrics.ts'
import { isStoredAs } from '../footer/stored-column.ts'
import { mergeFiles, type MergeFilesOutcome, type MergeFilesRequest } from './merge-files.ts'
import { createMergeProcess, type MergeProcess } from './merge-process.ts'
import { readFooter } from './read-footer.ts'

const fixture = (name: string): string =>
  fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))
const col = (id: number, name: string, type: IcebergType, required = false): NestedField => ({
  id,
  name,
  required,
  type,
})
const schemaOf = (...fields: NestedField[]): Schema => ({
  schemaId: 0,
  identifierFieldIds: [],
  fields,
})

const TYPES = schemaOf(
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
)

let directory: string
let engine: MergeProcess
let serial = 0

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'merge-'))
  engine = createMergeProcess({
    jobsDirectory: directory,
    memoryBytesMax: 256_000_000,
    threadCount: 2,
    spillBytesMax: 1_000_000_000,
    idleMsMax: 60_000,
  })
})

afterAll(async () => {
  await engine.stop()
  rmSync(directory, { recursive: true })
})

/** A manifest entry as a careful writer would have made it of the file. */
async function described(localPath: string, schema: Schema): Promise<DataFile> {
  const { footer, fileSizeBytes } = await readFooter(localPath)
  const stored = schemaOf(
    ...schema.fields.filter(({ id, type }) =>
      footer.columns.some((element) => element.fieldId === id && isStoredAs(element, type)),
    ),
  )
  const modes = metricsModes(stored, undefined, {})
  const sql = measureSql(localPath, stored, modes)
  const [measured] = sql === undefined ? [{}] : await engine.query(sql)
  const metrics = columnMetrics(columnFacts(footer, stored, measured ?? {}), stored, modes)
  return {
    content: 'data',
    filePath: localPath,
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: footer.rowCount,
    fileSizeBytes,
    ...metrics,
  }
}

async function merge(
  localPaths: readonly string[],
  schema: Schema,
  changes: Partial<MergeFilesRequest> & {
    sort?: readonly SortField[]
    entry?: (file: DataFile) => DataFile
  } = {},
): Promise<{ outcome: MergeFilesOutcome; outputPath: string }> {
  const { sort = [], entry = (file: DataFile) => file, ...rest } = changes
  const outputPath = join(directory, `out-${serial++}.parquet`)
  const inputs = []
  for (const localPath of localPaths) {
    inputs.push({ localPath, dataFile: entry(await described(localPath, schema)) })
  }
  const order = mergeOrderOf(schema, { orderId: sort.length === 0 ? 0 : 7, fields: sort })
  const modes = metricsModes(schema, undefined, {})
  const request = { inputs, schema, spec: undefined, order, modes, directory, outputPath, ...rest }
  return { outcome: await mergeFiles(engine, request), outputPath }
}

/** A file that the engine writes from a query, with field ids. */
async function written(
  query: string,
  ids: Readonly<Record<string, number>>,
  more = '',
): Promise<string> {
  const path = join(directory, `in-${serial++}.parquet`)
  const fields = Object.entries(ids).map(([name, id]) => `"${name}": ${id}`)
  const idOption = fields.length === 0 ? '' : `, FIELD_IDS {${fields.join(', ')}}`
  await engine.query(`COPY (${query}) TO '${path}' (FORMAT parquet${more}${idOption})`)
  return path
}

const rowsOf = (path: string, columns: string) =>
  engine.query(
    `SELECT ${columns} FROM read_parquet('${path}', file_row_number = true) ORDER BY file_row_number`,
  )

describe('mergeFiles on files written by PyIceberg', () => {
  it('keeps extremes, NaN, −0, nulls, unicode, decimals and old dates of every type', async () => {
    const paths = [fixture('types-0.parquet'), fixture('types-1.parquet')]
    const { outcome, outputPath } = await merge(paths, TYPES)
    expect(outcome).toMatchObject({ outcome: 'merged', file: { recordCount: 3n } })
    const exact = TYPES.fields.map(({ name, type }) => {
      if (type.kind === 'binary') return `hex("${name}") AS "${name}"`
      if (type.kind === 'float' || type.kind === 'double')
        return `concat("${name}"::VARCHAR, signbit("${name}")) AS "${name}"`
      return `"${name}"::VARCHAR AS "${name}"`
    })
    const before = [
      ...(await rowsOf(paths[0]!, exact.join(', '))),
      ...(await rowsOf(paths[1]!, exact.join(', '))),
    ]
    expect(await rowsOf(outputPath, exact.join(', '))).toEqual(before)
  })

  it('writes metrics that say exactly what is in the file (B095, B099, B102)', async () => {
    const { outcome } = await merge([fixture('types-0.parquet'), fixture('types-1.parquet')], TYPES)
    if (outcome.outcome !== 'merged') throw new Error(outcome.reason)
    const { file } = outcome
    const bounds = (which: 'lowerBounds' | 'upperBounds') =>
      Object.fromEntries(
        TYPES.fields.map(({ id, name, type }) => {
          const bytes = file[which]?.get(id)
          return [name, bytes === undefined ? undefined : decodeSingleValue(type, bytes)]
        }),
      )
    expect(bounds('lowerBounds')).toEqual({
      flag: false,
      i: -(2 ** 31),
      l: -(2n ** 63n),
      f: -0,
      d: Number.NEGATIVE_INFINITY,
      day: -719_162,
      t: 0n,
      ts: -62_135_596_799_999_999n,
      tz: -2_208_988_800_000_000n,
      s: '',
      bin: new Uint8Array(),
      u: '00000000-0000-0000-0000-000000000001',
      d9: -999_999_999n,
      d18: -1n,
      d38: -99_999_999_999_999_999_999_999_999_999_999_999_999n,
    })
    expect(bounds('upperBounds')).toEqual({
      flag: true,
      i: 2 ** 31 - 1,
      l: 2n ** 63n - 1n,
      f: 0,
      d: Number.NEGATIVE_INFINITY,
      day: -1,
      t: 86_399_999_999n,
      ts: -1n,
      tz: 253_402_300_799_999_999n,
      s: 'éßé\u{1F600}éßé\u{1F600}éßé\u{1F600}éßé\u{1F601}',
      bin: Uint8Array.from({ length: 16 }, (_, index) =>
        index % 2 === 0 ? 255 : index === 15 ? 1 : 0,
      ),
      u: 'f79c3e09-677c-4bbd-a479-3f349cb785e7',
      d9: 0n,
      d18: 999_999_999_999_999_999n,
      d38: 1n,
    })
    expect(file.nanValueCounts).toEqual(
      new Map([
        [4, 1n],
        [5, 1n],
      ]),
    )
    expect(file.nullValueCounts?.get(10)).toBe(1n)
    expect(file.nullValueCounts?.get(3)).toBe(0n)
    expect(file.valueCounts?.get(10)).toBe(3n)
    expect(file.splitOffsets).toEqual([4n])
    expect(file.sortOrderId).toBeUndefined()
  })

  it('reads by field id: a renamed, a promoted, a dropped and a re-added column', async () => {
    const schema = schemaOf(
      col(1, 'id', { kind: 'long' }),
      col(2, 'new name', { kind: 'string' }),
      col(4, 'gone', { kind: 'int' }),
    )
    const { outputPath } = await merge(
      [fixture('evolved-0.parquet'), fixture('evolved-1.parquet')],
      schema,
    )
    expect(await rowsOf(outputPath, 'id, "new name", gone')).toEqual([
      { id: 1n, 'new name': 'a', gone: null },
      { id: 2n ** 40n, 'new name': 'b', gone: 7 },
    ])
    const { footer } = await readFooter(outputPath)
    expect(footer.columns.map(({ name, fieldId }) => [name, fieldId])).toEqual([
      ['id', 1],
      ['new name', 2],
      ['gone', 4],
    ])
  })
})

describe('mergeFiles', () => {
  it('fills a missing column with its initial default, never with null or the write default (B037)', async () => {
    const old = await written('SELECT 1 AS id', { id: 1 })
    const young = await written(`SELECT 2 AS id, 'own' AS c, 5 AS n`, { id: 1, c: 2, n: 3 })
    const schema = schemaOf(
      col(1, 'id', { kind: 'int' }),
      { ...col(2, 'c', { kind: 'string' }), initialDefault: "o'ld", writeDefault: 'new' },
      { ...col(3, 'n', { kind: 'int' }, true), initialDefault: -3n },
    )
    const { outputPath } = await merge([old, young], schema)
    expect(await rowsOf(outputPath, 'id, c, n')).toEqual([
      { id: 1, c: "o'ld", n: -3 },
      { id: 2, c: 'own', n: 5 },
    ])
  })

  it('orders rows by the sort order, stamps its id, and keeps zeros and NaN in Iceberg order (B045)', async () => {
    const values = [
      `'NaN'::DOUBLE`,
      '0.0::DOUBLE',
      `'-0.0'::DOUBLE`,
      `'-inf'::DOUBLE`,
      'NULL',
      '2::DOUBLE',
    ]
    const paths = []
    for (const value of values)
      paths.push(await written(`SELECT ${value}::DOUBLE AS d, 'x' AS s`, { d: 1, s: 2 }))
    const schema = schemaOf(col(1, 'd', { kind: 'double' }), col(2, 's', { kind: 'string' }))
    const identity = { transform: { kind: 'identity' as const }, sourceIds: [1] }
    const up = await merge(paths, schema, {
      sort: [{ ...identity, direction: 'asc', nullOrder: 'nulls-last' }],
    })
    expect(up.outcome).toMatchObject({ file: { sortOrderId: 7 } })
    const signed = `concat(signbit(d), abs(d)) AS d`
    const texts = async (path: string) => (await rowsOf(path, signed)).map(({ d }) => d)
    expect(await texts(up.outputPath)).toEqual([
      'trueinf',
      'true0.0',
      'false0.0',
      'false2.0',
      'falsenan',
      '',
    ])
    const down = await merge(paths, schema, {
      sort: [{ ...identity, direction: 'desc', nullOrder: 'nulls-first' }],
    })
    expect(await texts(down.outputPath)).toEqual([
      '',
      'falsenan',
      'false2.0',
      'false0.0',
      'true0.0',
      'trueinf',
    ])
  })

  it('orders text by code point and times before 1970 by floored hours', async () => {
    const path = await written(
      `SELECT * FROM (VALUES ('\u{1F600}', TIMESTAMP '1970-01-01 00:30'), ('\uFFFD', TIMESTAMP '1969-12-31 23:59'), ('z', TIMESTAMP '1969-12-31 23:01'), ('é', TIMESTAMP '0001-01-01')) v(s, ts)`,
      { s: 1, ts: 2 },
    )
    const schema = schemaOf(col(1, 's', { kind: 'string' }), col(2, 'ts', { kind: 'timestamp' }))
    const sort: SortField[] = [
      { transform: { kind: 'hour' }, sourceIds: [2], direction: 'desc', nullOrder: 'nulls-last' },
      {
        transform: { kind: 'identity' },
        sourceIds: [1],
        direction: 'asc',
        nullOrder: 'nulls-last',
      },
    ]
    const { outputPath } = await merge([path], schema, { sort })
    expect((await rowsOf(outputPath, 's')).map(({ s }) => s)).toEqual([
      '\u{1F600}',
      'z',
      '\uFFFD',
      'é',
    ])
  })

  it('does not claim a sort order that it cannot follow (B045)', async () => {
    const path = await written('SELECT 1 AS id', { id: 1 })
    const schema = schemaOf(col(1, 'id', { kind: 'int' }))
    const bucket: SortField = {
      transform: { kind: 'bucket', bucketCount: 4 },
      sourceIds: [1],
      direction: 'asc',
      nullOrder: 'nulls-first',
    }
    const { outcome } = await merge([path, path], schema, { sort: [bucket] })
    expect(outcome).toMatchObject({ outcome: 'merged', file: { recordCount: 2n } })
    expect(outcome.outcome === 'merged' && outcome.file.sortOrderId).toBeUndefined()
  })

  it.each([
    [
      'a sort order',
      [
        {
          transform: { kind: 'identity' as const },
          sourceIds: [1],
          direction: 'asc' as const,
          nullOrder: 'nulls-first' as const,
        },
      ],
    ],
    ['none', []],
  ])('keeps zeros of both signs that repeat often, with %s', async (_, sort) => {
    const zeros = `SELECT CASE WHEN i % 2 = 0 THEN '-0.0'::DOUBLE ELSE 0.0 END AS d, i::INT AS i FROM range(1000) r(i)`
    const path = await written(zeros, { d: 1, i: 2 }, ', DICTIONARY_SIZE_LIMIT 0')
    const schema = schemaOf(col(1, 'd', { kind: 'double' }), col(2, 'i', { kind: 'int' }))
    const { outputPath } = await merge([path], schema, { sort })
    const [row] = await engine.query(
      `SELECT count(*) FILTER (signbit(d)) AS n, count(*) AS a FROM '${outputPath}' WHERE signbit(d) = (i % 2 = 0)`,
    )
    expect(row).toEqual({ n: 500n, a: 1000n })
  })

  it('bounds of decimals are big-endian and as short as can be, whatever Parquet stores them in (B101, B102)', async () => {
    const sql = `SELECT v::DECIMAL(9,2) AS small, v::DECIMAL(18,2) AS wide, v::DECIMAL(38,10) AS huge FROM unnest([6.59, 0, -6.59]) t(v)`
    const path = await written(sql, { small: 1, wide: 2, huge: 3 })
    const schema = schemaOf(
      col(1, 'small', { kind: 'decimal', precision: 9, scale: 2 }),
      col(2, 'wide', { kind: 'decimal', precision: 18, scale: 2 }),
      col(3, 'huge', { kind: 'decimal', precision: 38, scale: 10 }),
    )
    const { outcome } = await merge([path, path], schema)
    if (outcome.outcome !== 'merged') throw new Error(outcome.reason)
    const hex = (bounds: ReadonlyMap<number, Uint8Array> | undefined) =>
      [1, 2, 3].map((id) => Buffer.from(bounds?.get(id) ?? []).toString('hex'))
    expect(hex(outcome.file.upperBounds)).toEqual(['0293', '0293', '0f57f23300'])
    expect(hex(outcome.file.lowerBounds)).toEqual(['fd6d', 'fd6d', 'f0a80dcd00'])
  })

  it.each([
    ['NaN', Number.NaN],
    ['nothing', undefined],
  ])(
    'a file whose manifest gives %s as the bounds of its floats is merged, and NaN bounds nothing (B099)',
    async (_, bound) => {
      const bytes = new Uint8Array(new Float64Array([bound ?? 0]).buffer)
      const bounds = bound === undefined ? new Map() : new Map([[1, bytes]])
      const paths = [
        await written(`SELECT unnest(['NaN'::DOUBLE, 1.0]) AS d`, { d: 1 }),
        await written(`SELECT 'NaN'::DOUBLE AS d`, { d: 1 }),
      ]
      const { outcome } = await merge(paths, schemaOf(col(1, 'd', { kind: 'double' })), {
        entry: ({ nanValueCounts: _nan, ...file }) => ({
          ...file,
          lowerBounds: bounds,
          upperBounds: bounds,
        }),
      })
      if (outcome.outcome !== 'merged') throw new Error(outcome.reason)
      const { nanValueCounts, lowerBounds, upperBounds } = outcome.file
      expect(nanValueCounts).toEqual(new Map([[1, 2n]]))
      for (const found of [lowerBounds, upperBounds]) {
        expect(decodeSingleValue({ kind: 'double' }, found?.get(1) ?? new Uint8Array())).toBe(1)
      }
    },
  )

  it('an input whose text bound is cut inside a character is merged with all its rows (B096)', async () => {
    const path = await written(`SELECT '{"name":"Item A\u2019s"}' AS s`, { s: 1 })
    const cut = Uint8Array.from(Buffer.from('7B226E616D65223A224974656D2041E2', 'hex'))
    const { outcome } = await merge([path, path], schemaOf(col(1, 's', { kind: 'string' })), {
      entry: (file) => ({ ...file, lowerBounds: new Map([[1, cut]]) }),
    })
    expect(outcome).toMatchObject({ outcome: 'merged', file: { recordCount: 2n } })
  })

  it('merges more files than one statement opens, in order', async () => {
    const paths = []
    for (let index = 0; index < 70; index++)
      paths.push(await written(`SELECT ${index} AS id`, { id: 1 }))
    const { outcome, outputPath } = await merge(paths, schemaOf(col(1, 'id', { kind: 'int' })))
    expect(outcome).toMatchObject({ file: { recordCount: 70n } })
    expect((await rowsOf(outputPath, 'id')).map(({ id }) => id)).toEqual(
      Array.from({ length: 70 }, (_, i) => i),
    )
  })

  it('carries names with quotes, spaces and other scripts', async () => {
    const path = await written(`SELECT 1 AS a`, { a: 1 })
    const schema = schemaOf(col(1, `we"ird 'na.me' 時間`, { kind: 'int' }))
    const { outputPath } = await merge([path, path], schema)
    const { footer } = await readFooter(outputPath)
    expect(footer.columns.map(({ name }) => name)).toEqual([`we"ird 'na.me' 時間`])
  })

  it.each<[string, string, Record<string, number>, Schema, RegExp]>([
    [
      'stores no field ids',
      'SELECT 1 AS id',
      {},
      schemaOf(col(1, 'id', { kind: 'int' })),
      /stores no field ids$/,
    ],
    [
      'stores a number as text',
      `SELECT '1' AS id`,
      { id: 1 },
      schemaOf(col(1, 'id', { kind: 'int' })),
      /stores column "id" \(int\) as optional BYTE_ARRAY \(string\)$/,
    ],
    [
      'stores nanoseconds',
      `SELECT TIMESTAMP_NS '2020-01-01' AS t`,
      { t: 1 },
      schemaOf(col(1, 't', { kind: 'timestamp' })),
      /optional INT64 \(timestamp nanos\)$/,
    ],
    [
      'lacks a required column',
      'SELECT 1 AS id',
      { id: 1 },
      schemaOf(col(1, 'id', { kind: 'int' }), col(2, 'r', { kind: 'int' }, true)),
      /lacks required column "r"$/,
    ],
  ])('skips the group of a file that %s', async (_, query, ids, schema, reason) => {
    const path = await written(query, ids)
    const { outcome } = await merge([path], schema, { entry: () => bare(path) })
    expect(outcome).toMatchObject({
      outcome: 'skipped',
      reason: expect.stringMatching(reason) as string,
    })
  })

  it.each<[string, (file: DataFile) => DataFile, RegExp]>([
    [
      'a row count',
      (file) => ({ ...file, recordCount: 5n }),
      /the manifest says 5 rows, the footer 2/,
    ],
    [
      'a null count',
      (file) => ({ ...file, nullValueCounts: new Map([[1, 1n]]) }),
      /the manifest says 1 nulls, the footer 0/,
    ],
    [
      'a lower bound',
      (file) => ({ ...file, lowerBounds: new Map([[1, Uint8Array.of(9, 0, 0, 0)]]) }),
      /lies below the inputs' lower bounds/,
    ],
    [
      'an upper bound',
      (file) => ({ ...file, upperBounds: new Map([[1, Uint8Array.of(1, 0, 0, 0)]]) }),
      /lies above the inputs' upper bounds/,
    ],
  ])('I19 refuses to commit when the manifests disagree about %s', async (_, entry, message) => {
    const path = await written('SELECT unnest([1, 7]) AS id', { id: 1 })
    await expect(merge([path], schemaOf(col(1, 'id', { kind: 'int' })), { entry })).rejects.toThrow(
      message,
    )
  })

  it('stops at once when it is aborted, and can be used again', async () => {
    const schema = schemaOf(col(1, 'id', { kind: 'int' }))
    const path = await written('SELECT 1 AS id', { id: 1 })
    const controller = new AbortController()
    const query = engine.query(
      'SELECT count(*) FROM range(100000000000) t(i) WHERE i % 3 = 7',
      controller.signal,
    )
    controller.abort(new Error('deadline'))
    await expect(query).rejects.toThrow('deadline')
    expect((await merge([path], schema)).outcome).toMatchObject({ outcome: 'merged' })
  })
})

function bare(filePath: string): DataFile {
  return {
    content: 'data',
    filePath,
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: 1n,
    fileSizeBytes: 1n,
  }
}

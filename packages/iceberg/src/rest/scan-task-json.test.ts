import { expect, it } from 'vitest'
import { ALWAYS_TRUE, type Predicate } from '../expressions/expression.ts'
import type { DataFile } from '../manifest/data-file.ts'
import type { PartitionType } from '../manifest/partition-type.ts'
import { parseJson } from '../spec/json.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import type { PrimitiveType } from '../spec/type.ts'
import { encodeScanTasks, type PlannedFile, type ScanTask } from './scan-task-json.ts'

const UNPARTITIONED: PartitionType = { fields: [] }

const file = (changes: Partial<DataFile> = {}): PlannedFile => ({
  specId: 0,
  sequenceNumber: 9_007_199_254_740_993n,
  dataFile: {
    content: 'data',
    filePath: 's3://lake/a "b".parquet',
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: 5n,
    fileSizeBytes: 50n,
    ...changes,
  },
})

const task = (changes: Partial<ScanTask> = {}): ScanTask => ({
  file: file(),
  deletes: [],
  residual: ALWAYS_TRUE,
  ...changes,
})

const encode = (
  tasks: readonly ScanTask[],
  options: { partition?: PartitionType; statsFieldIds?: readonly number[] } = {},
): JsonObject => {
  const { partition = UNPARTITIONED, statsFieldIds = [] } = options
  const partitions = new Map([[0, partition]])
  const text = encodeScanTasks(tasks, { partitions, statsFieldIds: new Set(statsFieldIds) })
  return parseJson(`{${text}}`) as JsonObject // `as`: braces are around it
}

const first = (encoded: JsonObject): JsonObject =>
  // `as`: the tests know what they encoded.
  (encoded['file-scan-tasks'] as readonly JsonObject[])[0] as JsonObject

it('writes an empty list for a plan without files', () => {
  expect(encode([])).toEqual({ 'file-scan-tasks': [] })
})

it('writes a bare true for a filter that is proven, and every number whole', () => {
  expect(first(encode([task()]))).toEqual({
    'data-file': {
      content: 'data',
      'file-path': 's3://lake/a "b".parquet',
      'file-format': 'parquet',
      'spec-id': 0n,
      partition: [],
      'file-size-in-bytes': 50n,
      'record-count': 5n,
      'data-sequence-number': 9_007_199_254_740_993n,
    },
    'residual-filter': true,
  })
})

it.each<[PrimitiveType, PartitionValue, JsonValue]>([
  [{ kind: 'int' }, 7, 7n],
  [{ kind: 'date' }, 20_484, '2026-01-31'],
  [{ kind: 'double' }, 1, 1],
  [{ kind: 'double' }, Number.NaN, 'NaN'],
  [{ kind: 'float' }, Number.NEGATIVE_INFINITY, '-Infinity'],
  [{ kind: 'string' }, null, null],
  [{ kind: 'decimal', precision: 9, scale: 2 }, 1_420n, '14.20'],
  [{ kind: 'binary' }, Uint8Array.of(1, 255), '01ff'],
  [{ kind: 'timestamptz' }, 0n, '1970-01-01T00:00:00.000000+00:00'],
])('writes the partition value %o %s as %s', (type, value, written) => {
  const partition = { fields: [{ fieldId: 1000, name: 'p', type }] }
  const encoded = encode([task({ file: file({ partition: [value] }) })], { partition })
  expect(first(encoded)['data-file']).toMatchObject({ partition: [written] })
})

it('B116: writes each delete file once, and references into the list of the same body', () => {
  const vector = (offset: bigint) =>
    file({
      content: 'position-deletes',
      filePath: 's3://lake/deletes.puffin',
      fileFormat: 'PUFFIN',
      contentOffset: offset,
      contentSizeBytes: 40n,
      referencedDataFile: `s3://lake/${offset}.parquet`,
    })
  const equality = file({ content: 'equality-deletes', filePath: 's3://lake/e', equalityIds: [1] })
  const encoded = encode([
    task({ deletes: [vector(4n)] }),
    task({ deletes: [equality, vector(44n)] }),
    task({ deletes: [equality] }),
    task(),
  ])
  const files = encoded['file-scan-tasks'] as readonly JsonObject[] // `as`: encoded above
  expect(files.map((each) => each['delete-file-references'])).toEqual([
    [0n],
    [1n, 2n],
    [1n],
    undefined,
  ])
  expect(encoded['delete-files']).toMatchObject([
    {
      content: 'position-deletes',
      'file-format': 'puffin',
      'content-offset': 4n,
      'content-size-in-bytes': 40n,
      'referenced-data-file': 's3://lake/4.parquet',
    },
    { content: 'equality-deletes', 'equality-ids': [1n] },
    { 'content-offset': 44n, 'referenced-data-file': 's3://lake/44.parquet' },
  ])
})

it('writes metrics of the columns that were asked for, bounds in hexadecimal digits', () => {
  const metrics = {
    valueCounts: new Map([
      [1, 5n],
      [2, 5n],
    ]),
    nullValueCounts: new Map([[2, 1n]]),
    lowerBounds: new Map([[1, Uint8Array.of(1, 0, 0, 0)]]),
    upperBounds: new Map([[1, Uint8Array.of(171, 0, 0, 0)]]),
  }
  const encoded = encode([task({ file: file(metrics) })], { statsFieldIds: [1] })
  const written = first(encoded)['data-file'] as JsonObject // `as`: encoded above
  expect(written).toMatchObject({
    'value-counts': { keys: [1n], values: [5n] },
    'lower-bounds': { keys: [1n], values: ['01000000'] },
    'upper-bounds': { keys: [1n], values: ['AB000000'] },
  })
  expect(written).not.toHaveProperty('null-value-counts')
  expect(first(encode([task({ file: file(metrics) })]))['data-file']).not.toHaveProperty(
    'value-counts',
  )
})

it('B119: writes what is left of the filter in the older grammar', () => {
  const term = {
    fieldId: 2,
    name: 'v',
    type: { kind: 'double' },
    isRequired: false,
    transform: { kind: 'identity' },
    resultType: { kind: 'double' },
  } as const
  const residual: Predicate = { kind: 'compare', operator: 'gt', term, literal: 3 }
  expect(first(encode([task({ residual })]))['residual-filter']).toEqual({
    type: 'gt',
    term: 'v',
    value: 3,
  })
})

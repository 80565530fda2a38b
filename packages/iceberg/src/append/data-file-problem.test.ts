import { describe, expect, it } from 'vitest'
import { sampleTable } from '../commit/sample-table.ts'
import type { DataFile } from '../manifest/data-file.ts'
import { invariant } from '../spec/invariant.ts'
import { dataFileProblem } from './data-file-problem.ts'
import { tableShape } from './table-shape.ts'

const shape = tableShape(sampleTable())
const spec = shape.specs.get(0)

const file: DataFile = {
  content: 'data',
  filePath: 'file:///warehouse/ns/t/data/a.parquet',
  fileFormat: 'PARQUET',
  partition: [3],
  recordCount: 5n,
  fileSizeBytes: 100n,
}

function problemOf(changes: Partial<DataFile>): string | undefined {
  invariant(spec !== undefined, 'the sample table has spec 0')
  return dataFileProblem({ ...file, ...changes }, spec, shape)
}

const utf8 = (value: string): Uint8Array => new TextEncoder().encode(value)

describe('dataFileProblem', () => {
  it.each<[string, Partial<DataFile>]>([
    ['that says nothing more', {}],
    ['without rows', { recordCount: 0n }],
    ['unsorted', { sortOrderId: 0 }],
    [
      'whose bounds are equal',
      { lowerBounds: new Map([[3, utf8('a')]]), upperBounds: new Map([[3, utf8('a')]]) },
    ],
    ['with a column that is null everywhere', { nullValueCounts: new Map([[3, 5n]]) }],
  ])('lets pass a file %s', (_, changes) => {
    expect(problemOf(changes)).toBeUndefined()
  })

  it.each<[string, Partial<DataFile>, string]>([
    ['rows below none', { recordCount: -1n }, 'expected a record count from 0, got -1'],
    ['no bytes', { fileSizeBytes: 0n }, 'expected a file size from 1, got 0'],
    ['an unknown sort order', { sortOrderId: 7 }, 'no sort order 7'],
    ['no partition value', { partition: [] }, 'its partition values do not fit spec 0'],
    [
      'a partition value of another form',
      { partition: ['3'] },
      'its partition values do not fit spec 0',
    ],
    [
      'nulls in a required column',
      { nullValueCounts: new Map([[1, 2n]]) },
      'required column id holds 2 nulls',
    ],
    [
      'more nulls than rows',
      { nullValueCounts: new Map([[3, 6n]]) },
      'column data holds 6 nulls among 5 values',
    ],
    [
      'less nulls than none',
      { nullValueCounts: new Map([[3, -1n]]) },
      'column data holds -1 nulls among 5 values',
    ],
    [
      'bounds the wrong way round',
      { lowerBounds: new Map([[3, utf8('b')]]), upperBounds: new Map([[3, utf8('a')]]) },
      'the lower bound of column data is above the upper one',
    ],
    [
      'a partition against its bounds',
      { partition: [null], nullValueCounts: new Map([[2, 0n]]) },
      'partition ts_day: expected a value, got null',
    ],
  ])('names what is wrong with a file with %s', (_, changes, problem) => {
    expect(problemOf(changes)).toBe(problem)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleTable } from '../commit/sample-table.ts'
import { tableShape } from '../append/table-shape.ts'
import type { DataFile } from '../manifest/data-file.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { invariant } from '../spec/invariant.ts'
import { parseJson, printJson } from '../spec/json.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { encodeSingleValue } from '../spec/single-value.ts'
import { decodeNewDataFile, encodeDataFile } from './content-file-json.ts'

const metadata = sampleTable()
const partition = tableShape(metadata).specs.get(0)?.partition

const described: JsonObject = {
  content: 'data',
  'file-path': 's3://b/t/data/a.parquet',
  'file-format': 'parquet',
  'spec-id': 0n,
  partition: ['1970-01-04'],
  'file-size-in-bytes': 100n,
  'record-count': 5n,
}

const decode = (changes: JsonObject) =>
  decodeNewDataFile({ ...described, ...changes }, 'data-files[0]', metadata)

describe('decodeNewDataFile', () => {
  it('reads a description as engines write it', () => {
    const { specId, dataFile } = decode({
      'split-offsets': [4n, 50n],
      'sort-order-id': 0n,
      'null-value-counts': { keys: [3n], values: [2n] },
      'lower-bounds': { keys: [1n, 3n], values: ['0100000000000000', '61'] },
    })
    expect(specId).toBe(0)
    expect(dataFile).toEqual({
      content: 'data',
      filePath: 's3://b/t/data/a.parquet',
      fileFormat: 'PARQUET',
      partition: [3],
      fileSizeBytes: 100n,
      recordCount: 5n,
      splitOffsets: [4n, 50n],
      sortOrderId: 0,
      nullValueCounts: new Map([[3, 2n]]),
      lowerBounds: new Map([
        [1, encodeSingleValue({ kind: 'long' }, 1n)],
        [3, Uint8Array.of(0x61)],
      ]),
    })
  })

  it('reads bounds that are numbers', () => {
    const { dataFile } = decode({ 'upper-bounds': { keys: [1n], values: [7n] } })
    expect(dataFile.upperBounds).toEqual(new Map([[1, encodeSingleValue({ kind: 'long' }, 7n)]]))
  })

  it('takes the default spec for a file that names none', () => {
    expect(decode({ 'spec-id': undefined }).specId).toBe(0)
  })

  it.each<[string, JsonObject, string]>([
    [
      'a delete file',
      { content: 'position-deletes' },
      '.content: expected data, got position-deletes',
    ],
    [
      'a format that holds no rows',
      { 'file-format': 'puffin' },
      '.file-format: expected parquet, avro or orc, got puffin',
    ],
    ['equality ids', { 'equality-ids': [1n] }, '.equality-ids: a new data file cannot have it'],
    ['row ids of its own', { 'first-row-id': 0n }, '.first-row-id: a new data file cannot have it'],
    ['a key', { 'key-metadata': '00' }, '.key-metadata: a new data file cannot have it'],
    ['an unknown spec', { 'spec-id': 9n }, '.partition: the table has no partition spec 9'],
    ['too many partition values', { partition: [1n, 2n] }, '.partition: expected 1 values, got 2'],
    [
      'a partition that is no list',
      { partition: { '1000': 3n } },
      '.partition: expected list, got object',
    ],
    [
      'a partition value of another type',
      { partition: [3n] },
      '.partition[0]: expected string, got integer',
    ],
    ['rows below none', { 'record-count': -1n }, '.record-count: expected a number from 0, got -1'],
    ['no path', { 'file-path': undefined }, '.file-path: expected string, got nothing'],
    [
      'counts of an unknown column',
      { 'value-counts': { keys: [9n], values: [1n] } },
      '.value-counts.values[0]: the table has no column 9',
    ],
    [
      'more keys than values',
      { 'value-counts': { keys: [1n], values: [] } },
      '.value-counts: expected 1 values, got 0',
    ],
    [
      'a bound in plain text',
      { 'lower-bounds': { keys: [3n], values: ['hello'] } },
      '.lower-bounds.values[0]: expected the binary value in hexadecimal digits',
    ],
    [
      'a bound of another length',
      { 'lower-bounds': { keys: [1n], values: ['00'] } },
      '.lower-bounds.values[0]: expected a long in its binary form',
    ],
    [
      'no bound',
      { 'lower-bounds': { keys: [1n], values: [null] } },
      '.lower-bounds.values[0]: expected long, got null',
    ],
  ])('refuses a file with %s', (_, changes, message) => {
    const decoding = () => decode(changes)
    expect(decoding).toThrow(InvalidInputError)
    expect(decoding).toThrow(`data-files[0]${message}`)
  })
})

const longs = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })
const counts = fc
  .dictionary(fc.constantFrom('1', '2', '3'), longs)
  .map((entries) => new Map(Object.entries(entries).map(([id, count]) => [Number(id), count])))
const bound = fc.oneof(
  longs.map((value): [number, Uint8Array] => [1, encodeSingleValue({ kind: 'long' }, value)]),
  fc.string().map((value): [number, Uint8Array] => [3, new TextEncoder().encode(value)]),
)
const dataFiles = fc
  .record(
    {
      partition: fc.option(fc.integer({ min: -700_000, max: 700_000 })).map((value) => [value]),
      recordCount: longs,
      fileSizeBytes: longs,
      splitOffsets: fc.array(longs),
      sortOrderId: fc.nat(),
      valueCounts: counts,
      columnSizesBytes: counts,
      nanValueCounts: counts,
      lowerBounds: fc.array(bound).map((bounds) => new Map(bounds)),
    },
    { requiredKeys: ['partition', 'recordCount', 'fileSizeBytes'] },
  )
  .map((members): DataFile => ({
    content: 'data',
    filePath: 'file:///t/a.orc',
    fileFormat: 'ORC',
    ...members,
  }))

describe('encodeDataFile', () => {
  it('writes what decodeNewDataFile reads', () => {
    invariant(partition !== undefined, 'the sample table has spec 0')
    fc.assert(
      fc.property(dataFiles, (dataFile) => {
        const json: JsonValue = parseJson(
          printJson(encodeDataFile({ dataFile, specId: 0 }, partition)),
        )
        expect(decodeNewDataFile(json, 'f', metadata)).toEqual({ specId: 0, dataFile })
      }),
    )
  })

  it('writes bounds as engines do', () => {
    invariant(partition !== undefined, 'the sample table has spec 0')
    const lowerBounds = new Map([[1, encodeSingleValue({ kind: 'long' }, 171n)]])
    const { dataFile } = decode({})
    const json = encodeDataFile({ dataFile: { ...dataFile, lowerBounds }, specId: 0 }, partition)
    expect(json['lower-bounds']).toEqual({ keys: [1n], values: ['AB00000000000000'] })
    expect(json['partition']).toEqual(['1970-01-04'])
    expect(json['file-format']).toBe('parquet')
  })
})

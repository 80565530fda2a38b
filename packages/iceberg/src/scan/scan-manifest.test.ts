import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DataFile, ManifestEntry, ResolvedEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionType } from '../manifest/partition-type.ts'
import { readManifestList } from '../manifest/read-manifest-list.ts'
import { readManifest } from '../manifest/read-manifest.ts'
import { resolveEntries } from '../manifest/resolve-entries.ts'
import { schemasNewestFirst } from '../snapshot/new-snapshot.ts'
import { CorruptFileError } from '../spec/errors.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import { encodeSingleValue } from '../spec/single-value.ts'
import { decodeTableMetadata } from '../spec/table-metadata-json.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { NestedField, PrimitiveType } from '../spec/type.ts'
import { added, sampleManifest, scanOf, scanTable } from './sample-scan.ts'
import { decodeScanManifest, type ScanManifest } from './scan-manifest.ts'

const LONG = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const long = fc.oneof(fc.constantFrom(0n, 1n, 7n), fc.bigInt(LONG))
const bytes = fc.uint8Array({ maxLength: 12 })
const name = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 8 })
  .filter((value) => !/\p{Surrogate}/u.test(value))
const path = fc
  .tuple(fc.constantFrom('s3://b/t/day=1/', 's3://b/t/day=2/', '', 'ü/'), name)
  .map(([folder, file]) => folder + file)
/** What counts can be: others say nothing. */
const count = fc.bigInt({ min: 0n, max: 2n ** 53n - 1n })
const FIELD_IDS = [1, 2, 900]
const fieldId = fc.constantFrom(...FIELD_IDS)
const byId = <Value>(value: fc.Arbitrary<Value>) =>
  fc
    .array(fc.tuple(fieldId, value), { maxLength: 3 })
    .map((pairs): ReadonlyMap<number, Value> => new Map(pairs))

const column = (id: number, type: PrimitiveType): NestedField => ({
  id,
  name: `c${id}`,
  required: false,
  type,
})
const table = scanTable(
  [column(1, { kind: 'string' }), column(2, { kind: 'double' })],
  [
    {
      fields: [
        { sourceIds: [1], fieldId: 1000, name: 'a', transform: { kind: 'identity' } },
        { sourceIds: [2], fieldId: 1001, name: 'b', transform: { kind: 'identity' } },
      ],
    },
  ],
)

const partition: fc.Arbitrary<readonly PartitionValue[]> = fc.tuple(
  fc.option(fc.constantFrom('x', 'y', 'ü'), { nil: null }),
  fc.option(fc.constantFrom(0, -0, Number.NaN, 1.5), { nil: null }),
)

const known = {
  filePath: path,
  fileFormat: fc.constantFrom('PARQUET', 'AVRO', 'PUFFIN'),
  partition,
  recordCount: fc.bigInt({ min: 0n, max: 2n ** 40n }),
  fileSizeBytes: long,
}
const optional = {
  columnSizesBytes: byId(count),
  valueCounts: byId(count),
  nullValueCounts: byId(count),
  nanValueCounts: byId(count),
  lowerBounds: byId(bytes),
  upperBounds: byId(bytes),
  keyMetadata: bytes,
  splitOffsets: fc.array(long, { maxLength: 3 }),
  sortOrderId: int,
  equalityIds: fc.array(int, { maxLength: 3 }),
  referencedDataFile: name,
  firstRowId: fc.bigInt({ min: 0n, max: 2n ** 50n }),
  contentOffset: long,
  contentSizeBytes: long,
}

function entriesOf(content: 'data' | 'deletes') {
  const kind: fc.Arbitrary<DataFile['content']> =
    content === 'data'
      ? fc.constant('data')
      : fc.constantFrom('position-deletes', 'equality-deletes')
  const file = fc
    .tuple(fc.record(known), fc.record(optional, { requiredKeys: [] }), kind)
    .map(([common, extra, fileContent]): DataFile => ({
      ...common,
      ...extra,
      content: fileContent,
    }))
  const numbers = { snapshotId: long, sequenceNumber: long, fileSequenceNumber: long }
  const settled = fc.record({
    status: fc.constantFrom('existing' as const, 'deleted' as const),
    dataFile: file,
    ...numbers,
  })
  const fresh = fc
    .tuple(file, fc.record(numbers, { requiredKeys: [] }))
    .map(([dataFile, given]): ManifestEntry => ({ status: 'added', dataFile, ...given }))
  return fc.array(fc.oneof<fc.Arbitrary<ManifestEntry>[]>(settled, fresh), { maxLength: 12 })
}

/** What the row-by-row reader makes of the same bytes. */
function oracle(file: Uint8Array, manifest: ManifestFile, metadata: TableMetadata) {
  const options = { manifest, partition: partitionOf(manifest, metadata) }
  const entries = resolveEntries(manifest, readManifest(file, options).entries)
  return entries.filter(({ status }) => status !== 'deleted')
}

function partitionOf({ partitionSpecId }: ManifestFile, metadata: TableMetadata) {
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === partitionSpecId)
  return partitionType(
    spec ?? { specId: partitionSpecId, fields: [] },
    schemasNewestFirst(metadata),
  )
}

/** Maps without anything in them are not told from absent ones. */
function plain(entry: ResolvedEntry): object {
  const file = Object.entries(entry.dataFile).filter(
    ([, value]: [string, unknown]) => !(value instanceof Map && value.size === 0),
  )
  return { ...entry, dataFile: Object.fromEntries(file) }
}

function rowsOf(scan: ScanManifest, fieldIds: readonly number[]): object[] {
  return Array.from({ length: scan.rowCount }, (_, row) => plain(scan.dataFile(row, fieldIds)))
}

describe('decodeScanManifest', () => {
  it.each([
    ['data', 'null'],
    ['data', 'deflate'],
    ['deletes', 'deflate'],
  ] as const)('holds what the entries of a %s manifest hold (%s)', (content, compression) => {
    fc.assert(
      fc.property(
        entriesOf(content),
        fc.bigInt({ min: 0n, max: 9n }),
        fc.option(fc.bigInt({ min: 0n, max: 100n }), { nil: undefined }),
        fc.subarray(FIELD_IDS),
        (entries, sequenceNumber, firstRowId, fieldIds) => {
          const sample = { content, compression, sequenceNumber }
          const { bytes: file, manifest } = sampleManifest(
            table,
            entries,
            firstRowId === undefined ? sample : { ...sample, firstRowId },
          )
          const options = { manifest, partition: partitionOf(manifest, table) }
          const scan = decodeScanManifest(file, { ...options, fieldIds })
          const expected = oracle(file, manifest, table).map(plain)
          expect(rowsOf(scan, FIELD_IDS)).toEqual(expected)
        },
      ),
      { numRuns: 300 },
    )
  })

  const fixtures = join(import.meta.dirname, '../../fixtures')
  const folders = readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
    .filter((file) => basename(file) === 'table.metadata.json')
    .map(dirname)
    .sort()

  it.each(folders)('reads the manifests of another writer: %s', (folder) => {
    const read = (file: string) => new Uint8Array(readFileSync(join(fixtures, folder, file)))
    const metadata = decodeTableMetadata(read('table.metadata.json'))
    const lists = readdirSync(join(fixtures, folder)).filter((file) => file.startsWith('snap-'))
    expect(lists).not.toHaveLength(0)
    for (const manifest of lists.flatMap((list) => readManifestList(read(list)))) {
      const file = read(basename(manifest.manifestPath))
      const expected = oracle(file, manifest, metadata)
      const fieldIds = [...new Set(expected.flatMap(({ dataFile }) => idsOf(dataFile)))]
      const scan = decodeScanManifest(file, {
        manifest,
        partition: partitionOf(manifest, metadata),
      })
      expect(rowsOf(scan, fieldIds)).toEqual(expected.map(plain))
    }
  })

  it('keeps what does not differ once', () => {
    const entries = Array.from({ length: 1_000 }, (_, index) =>
      added({
        filePath: `s3://bucket/warehouse/metrics/cpu/data/day=2026-01-01/${String(index).padStart(60)}`,
        partition: ['x', 1],
        splitOffsets: [4n],
        sortOrderId: 1,
      }),
    )
    const scan = scanOf(table, entries)
    const { bytes: file } = sampleManifest(table, entries)
    expect(scan.folders).toEqual(['s3://bucket/warehouse/metrics/cpu/data/day=2026-01-01/'])
    expect(scan.partitions).toEqual([['x', 1]])
    // The name of a file and a little more.
    expect(scan.sizeBytes - file.length).toBeLessThan(1_000 * 70)
  })

  it('counts the metrics that it decodes later', () => {
    const scan = scanOf(table, [withBounds('a', 'b'), withBounds('c', 'd')])
    const before = scan.sizeBytes
    scan.bounds(1, STRING)
    expect(scan.sizeBytes).toBeGreaterThan(before)
  })

  it('says that a record count below zero is not known', () => {
    const scan = scanOf(table, [added({ partition: [null, null], recordCount: -1n })])
    expect(scan.recordCount(0)).toBe(Number.POSITIVE_INFINITY)
    expect(scan.dataFile(0).dataFile.recordCount).toBe(-1n)
  })

  it.each([
    ['a data file in a delete manifest', 'deletes', 'expected deletes, got data'],
    ['a delete file in a data manifest', 'data', 'expected data, got position-deletes'],
  ] as const)('refuses %s', (_, listed, message) => {
    const content = listed === 'data' ? 'deletes' : 'data'
    const kind = listed === 'data' ? 'position-deletes' : 'data'
    const entry = added({ content: kind, partition: [null, null] })
    const { bytes: file, manifest } = sampleManifest(table, [entry], { content })
    const options = { manifest: { ...manifest, content: listed }, partition: { fields: [] } }
    expect(() => decodeScanManifest(file, options)).toThrow(message)
  })

  it('refuses an existing entry without a sequence number', () => {
    const entry: ManifestEntry = { ...added({ partition: [null, null] }), snapshotId: 1n }
    const { bytes: file, manifest } = sampleManifest(table, [entry], { compression: 'null' })
    expect(file[firstEntry(file)]).toBe(2)
    file[firstEntry(file)] = 0
    const options = { manifest, partition: partitionOf(manifest, table) }
    expect(() => decodeScanManifest(file, options)).toThrow('no sequence number')
  })

  it('ends in CorruptFileError or in entries whatever byte is damaged', () => {
    const entries = [withBounds('a', 'b'), withBounds('c', 'd')]
    const { bytes: file, manifest } = sampleManifest(table, entries, { compression: 'null' })
    const options = { manifest, partition: partitionOf(manifest, table) }
    fc.assert(
      fc.property(fc.nat(file.length - 1), fc.nat(255), (at, byte) => {
        const damaged = file.slice()
        damaged[at] = byte
        try {
          const scan = decodeScanManifest(damaged, options)
          rowsOf(scan, FIELD_IDS)
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptFileError)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

const STRING = { kind: 'string' } as const

function withBounds(lower: string, upper: string): ManifestEntry {
  return added({
    partition: ['x', 1],
    lowerBounds: new Map([[1, encodeSingleValue(STRING, lower)]]),
    upperBounds: new Map([[1, encodeSingleValue(STRING, upper)]]),
  })
}

function idsOf(file: DataFile): number[] {
  const counts = [
    file.columnSizesBytes,
    file.valueCounts,
    file.nullValueCounts,
    file.nanValueCounts,
  ]
  const maps = [...counts, file.lowerBounds, file.upperBounds]
  return maps.flatMap((map) => [...(map?.keys() ?? [])])
}

/** Where the status of the first entry is in a manifest without compression. */
function firstEntry(file: Uint8Array): number {
  const sync = file.subarray(file.length - 16)
  const header = Buffer.from(file).indexOf(sync)
  // Behind the marker: the number of entries (one byte) and the length of the block (two).
  return header + 16 + 3
}

describe('the bounds of a column', () => {
  const bounded = (type: PrimitiveType, pairs: readonly (readonly [Uint8Array, Uint8Array])[]) => {
    const shape = scanTable([column(1, type)])
    const entries = pairs.map(([lower, upper]) =>
      added({ lowerBounds: new Map([[1, lower]]), upperBounds: new Map([[1, upper]]) }),
    )
    return scanOf(shape, entries).bounds(1, type)
  }
  const i32 = (value: number) => encodeSingleValue({ kind: 'int' }, value)
  const i64 = (value: bigint) => encodeSingleValue({ kind: 'long' }, value)
  const f64 = (value: number) => encodeSingleValue({ kind: 'double' }, value)

  it('are dense where all files have numbers', () => {
    const timestamps = bounded({ kind: 'timestamptz' }, [
      [i64(-5n), i64(7n)],
      [i64(2n ** 62n), i64(2n ** 62n)],
    ])
    expect(timestamps?.dense?.lower).toEqual(BigInt64Array.of(-5n, 2n ** 62n))
    expect(timestamps?.dense?.upper).toEqual(BigInt64Array.of(7n, 2n ** 62n))
    expect(bounded({ kind: 'date' }, [[i32(-1), i32(3)]])?.dense?.lower).toEqual(Int32Array.of(-1))
    expect(bounded({ kind: 'double' }, [[f64(-0), f64(3)]])?.dense?.lower).toEqual(
      Float64Array.of(-0),
    )
  })

  it('are of the type that the column has now', () => {
    const promoted = bounded({ kind: 'long' }, [[i32(-1), i32(3)]])
    expect(promoted?.dense?.lower).toEqual(BigInt64Array.of(-1n))
    const mixed = bounded({ kind: 'long' }, [
      [i32(-1), i32(3)],
      [i64(5n), i64(6n)],
    ])
    expect(mixed?.dense).toBeUndefined()
    expect([mixed?.lower(0), mixed?.upper(1)]).toEqual([-1n, 6n])
    const dates = bounded({ kind: 'timestamp' }, [[i32(1), i32(2)]])
    expect(dates?.lower(0)).toBe(86_400_000_000n)
  })

  it.each<[string, PrimitiveType, Uint8Array]>([
    ['NaN', { kind: 'double' }, f64(Number.NaN)],
    ['a value of another length', { kind: 'long' }, Uint8Array.of(1, 2, 3)],
    ['B096: text that is no UTF-8', STRING, Buffer.from('7B226E616D65223A224974656D2041E2', 'hex')],
  ])('B099: are absent where they hold %s', (_, type, stored) => {
    const bounds = bounded(type, [[stored, stored]])
    expect(bounds?.lower(0)).toBeUndefined()
    expect(bounds?.upper(0)).toBeUndefined()
    expect(bounds?.dense).toBeUndefined()
  })

  it('are not dense where a file has none', () => {
    const shape = scanTable([column(1, { kind: 'long' })])
    const entries = [
      added({ lowerBounds: new Map([[1, i64(1n)]]), upperBounds: new Map([[1, i64(2n)]]) }),
      added(),
    ]
    const bounds = scanOf(shape, entries).bounds(1, { kind: 'long' })
    expect(bounds?.dense).toBeUndefined()
    expect([bounds?.lower(0), bounds?.upper(0), bounds?.lower(1)]).toEqual([1n, 2n, undefined])
  })

  it('are undefined when no file has one', () => {
    expect(scanOf(scanTable([column(1, STRING)]), [added()]).bounds(1, STRING)).toBeUndefined()
  })

  it('keep the bytes of text that cannot be read', () => {
    const stored = new Uint8Array(Buffer.from('41E2', 'hex'))
    const scan = scanOf(scanTable([column(1, STRING)]), [
      added({ lowerBounds: new Map([[1, stored]]) }),
    ])
    expect(scan.storedBounds(1, 0)).toEqual({ lower: stored })
    expect(scan.dataFile(0, [1]).dataFile.lowerBounds).toEqual(new Map([[1, stored]]))
  })
})

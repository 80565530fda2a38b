import avro from 'avsc'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PartitionSpec, PartitionValue } from '../spec/partition-spec.ts'
import type { Schema } from '../spec/schema.ts'
import type { FormatVersion } from '../spec/table-metadata.ts'
import type { IcebergType } from '../spec/type.ts'
import type { DataFile, ManifestEntry } from './data-file.ts'
import { partitionType } from './partition-type.ts'
import { readManifest } from './read-manifest.ts'
import { writeManifest } from './write-manifest.ts'

const LONG = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const long = fc.bigInt(LONG)
const bytes = fc.uint8Array({ maxLength: 40 })
const text = fc
  .string({ unit: 'binary', maxLength: 20 })
  .filter((value) => !/\p{Surrogate}/u.test(value))
const uuid = fc.uuid()

/** A column of every type that can be partitioned by identity, with its values. */
const columns: readonly (readonly [IcebergType, fc.Arbitrary<PartitionValue>])[] = [
  [{ kind: 'boolean' }, fc.boolean()],
  [{ kind: 'int' }, int],
  [{ kind: 'long' }, long],
  [{ kind: 'float' }, fc.float()],
  [{ kind: 'double' }, fc.double()],
  [{ kind: 'date' }, int],
  [{ kind: 'time' }, long],
  [{ kind: 'timestamp' }, long],
  [{ kind: 'timestamptz' }, long],
  [{ kind: 'timestamp_ns' }, long],
  [{ kind: 'timestamptz_ns' }, long],
  [{ kind: 'string' }, text],
  [{ kind: 'uuid' }, uuid],
  [{ kind: 'fixed', lengthBytes: 5 }, fc.uint8Array({ minLength: 5, maxLength: 5 })],
  [{ kind: 'binary' }, bytes],
  [{ kind: 'decimal', precision: 9, scale: 2 }, fc.bigInt(-999_999_999n, 999_999_999n)],
  [{ kind: 'decimal', precision: 38, scale: 10 }, fc.bigInt(-(10n ** 38n) + 1n, 10n ** 38n - 1n)],
  [{ kind: 'uuid' }, uuid],
]

const schema: Schema = {
  schemaId: 3,
  identifierFieldIds: [],
  fields: columns.map(([type], index) => ({
    id: index + 1,
    name: `column ${index}`,
    required: false,
    type,
  })),
}

const spec: PartitionSpec = {
  specId: 7,
  fields: columns.map((_, index) => ({
    sourceIds: [index + 1],
    fieldId: 1000 + index,
    // Spaces, a dash and a leading digit: none of them may stand in an Avro name.
    name: index === 0 ? '1 by-one' : `column ${index}`,
    transform: { kind: 'identity' },
  })),
}

const partition = fc.tuple(...columns.map(([, values]) => fc.option(values, { nil: null })))
const longsById = fc
  .array(fc.tuple(int, long), { maxLength: 4 })
  .map((pairs): ReadonlyMap<number, bigint> => new Map(pairs))
const bytesById = fc
  .array(fc.tuple(int, bytes), { maxLength: 4 })
  .map((pairs): ReadonlyMap<number, Uint8Array> => new Map(pairs))

const common = {
  filePath: text,
  fileFormat: fc.constantFrom('PARQUET', 'AVRO', 'ORC', 'PUFFIN'),
  partition,
  recordCount: long,
  fileSizeBytes: long,
}
const optionalSinceV1 = {
  columnSizesBytes: longsById,
  valueCounts: longsById,
  nullValueCounts: longsById,
  nanValueCounts: longsById,
  lowerBounds: bytesById,
  upperBounds: bytesById,
  keyMetadata: bytes,
  splitOffsets: fc.array(long, { maxLength: 5 }),
  sortOrderId: int,
}
const optionalSinceV2 = {
  ...optionalSinceV1,
  equalityIds: fc.array(int, { maxLength: 5 }),
  referencedDataFile: text,
}
const optionalSinceV3 = {
  ...optionalSinceV2,
  firstRowId: long,
  contentOffset: long,
  contentSizeBytes: long,
}

function dataFile(version: FormatVersion, content: fc.Arbitrary<DataFile['content']>) {
  const optional =
    version === 1 ? optionalSinceV1 : version === 2 ? optionalSinceV2 : optionalSinceV3
  return fc
    .tuple(fc.record(common), fc.record(optional, { requiredKeys: [] }), content)
    .map(([known, extra, kind]) => ({ ...known, ...extra, content: kind }))
}

function entries(version: FormatVersion, content: 'data' | 'deletes') {
  const kind =
    content === 'data'
      ? fc.constant('data' as const)
      : fc.constantFrom('position-deletes' as const, 'equality-deletes' as const)
  const file = dataFile(version, kind)
  const explicit = { snapshotId: long, sequenceNumber: long, fileSequenceNumber: long }
  const settled = fc.record({
    status: fc.constantFrom('existing' as const, 'deleted' as const),
    dataFile: file,
    ...explicit,
  })
  const added = fc
    .tuple(file, fc.record(explicit, { requiredKeys: [] }))
    .map(([dataFileValue, numbers]): ManifestEntry => ({
      status: 'added',
      dataFile: dataFileValue,
      ...numbers,
    }))
  const v1 = fc.record({
    status: fc.constantFrom('existing' as const, 'added' as const, 'deleted' as const),
    snapshotId: long,
    dataFile: file,
  })
  const entry: fc.Arbitrary<ManifestEntry> = version === 1 ? v1 : fc.oneof(settled, added)
  return fc.array(entry, { maxLength: 8 })
}

const variants: readonly (readonly [FormatVersion, 'data' | 'deletes', 'null' | 'deflate'])[] = [
  [1, 'data', 'deflate'],
  [2, 'data', 'deflate'],
  [2, 'deletes', 'null'],
  [3, 'data', 'null'],
  [3, 'deletes', 'deflate'],
]

describe.each(variants)('a v%i manifest of %s with codec %s', (version, content, compression) => {
  const write = (list: readonly ManifestEntry[]): Uint8Array =>
    writeManifest({ formatVersion: version, schema, spec, content, compression, entries: list })

  it('reads back as it was written', () => {
    fc.assert(
      fc.property(entries(version, content), (list) => {
        const partitionOfSpec = partitionType(spec, [schema])
        const found = readManifest(write(list), { partition: partitionOfSpec })
        expect(found.entries).toEqual(list)
        expect(found.header).toMatchObject({
          formatVersion: version,
          content,
          schemaId: 3,
          partitionSpecId: 7,
          codec: compression,
        })
      }),
      { numRuns: 60 },
    )
  })

  it('is the same file for the same content', () => {
    fc.assert(
      fc.property(entries(version, content), (list) => {
        expect(write(list)).toEqual(write(list))
      }),
      { numRuns: 10 },
    )
  })

  it('reads the same in avsc', async () => {
    const [list] = fc.sample(entries(version, content), { numRuns: 1, seed: 11 })
    const found = await decodeWithAvsc(write(list!))
    expect(found.map((record) => record['status'])).toEqual(
      list!.map(({ status }) => ['existing', 'added', 'deleted'].indexOf(status)),
    )
    expect(found.map((record) => nested(record['data_file'])['file_path'])).toEqual(
      list!.map((entry) => entry.dataFile.filePath),
    )
    expect(found.map((record) => nested(record['data_file'])['record_count'])).toEqual(
      list!.map((entry) => entry.dataFile.recordCount),
    )
    expect(found.map((record) => pairs(nested(record['data_file'])['value_counts']))).toEqual(
      list!.map((entry) =>
        entry.dataFile.valueCounts === undefined ? null : [...entry.dataFile.valueCounts],
      ),
    )
  })
})

type AvscRecord = Record<string, unknown>
const nested = (value: unknown): AvscRecord => value as AvscRecord

function pairs(value: unknown): [number, bigint][] | null {
  if (value === null) return null
  const list = nested(value)['array'] ?? value
  return (list as { key: number; value: bigint }[]).map((pair) => [pair.key, pair.value])
}

/** All longs as bigint; avsc refuses most of them otherwise. */
const longType = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8)
    buffer.writeBigInt64LE(value)
    return buffer
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
})

function decodeWithAvsc(file: Uint8Array): Promise<AvscRecord[]> {
  return new Promise((resolve, reject) => {
    const decoder = new avro.streams.BlockDecoder({
      parseHook: (writerSchema: unknown) =>
        avro.Type.forSchema(plainLongs(writerSchema) as avro.Schema, {
          registry: { long: longType },
        }),
    })
    const records: AvscRecord[] = []
    decoder.on('data', (record: AvscRecord) => records.push(record))
    decoder.on('end', () => resolve(records))
    decoder.on('error', reject)
    decoder.end(Buffer.from(file))
  })
}

/** avsc looks only bare names up in its registry. */
function plainLongs(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(plainLongs)
  if (typeof json !== 'object' || json === null) return json
  const members = Object.entries(json).map(([key, value]) => [key, plainLongs(value)])
  return nested(json)['type'] === 'long' && !('name' in json) ? 'long' : Object.fromEntries(members)
}

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AvroSink } from '../avro/avro-sink.ts'
import { LazyMap } from '../avro/lazy-map.ts'
import { writeAvroContainer } from '../avro/write-avro-container.ts'
import { CorruptFileError } from '../spec/errors.ts'
import type { JsonValue } from '../spec/json-value.ts'
import type { Schema } from '../spec/schema.ts'
import type { DataFile, ManifestEntry } from './data-file.ts'
import type { ManifestFile } from './manifest-file.ts'
import { partitionKey, partitionType } from './partition-type.ts'
import { readManifestList } from './read-manifest-list.ts'
import { readManifest } from './read-manifest.ts'
import { writeManifestList } from './write-manifest-list.ts'
import { writeManifest } from './write-manifest.ts'

const field = (name: string, type: JsonValue, id?: number): JsonValue =>
  id === undefined ? { name, type } : { name, type, 'field-id': BigInt(id) }

interface ForeignFile {
  readonly partitionFields: readonly JsonValue[]
  readonly writePartition: (sink: AvroSink) => void
  readonly metadata?: readonly (readonly [string, string])[]
}

/** A manifest with little in it, its fields in an order of its own. */
function foreignManifest({
  partitionFields,
  writePartition,
  metadata = [],
}: ForeignFile): Uint8Array {
  const file = {
    type: 'record',
    name: 'file',
    fields: [
      field('file_size_in_bytes', 'int', 104),
      field('what', ['string', 'null'], 9000),
      field('record_count', ['null', 'long'], 103),
      field('partition', { type: 'record', name: 'p', fields: partitionFields }, 102),
      field('file_format', 'string', 101),
      field('file_path', 'string', 100),
    ],
  }
  return writeAvroContainer({
    schema: {
      type: 'record',
      name: 'e',
      fields: [field('data_file', file, 2), field('status', 'int', 0)],
    },
    metadata,
    codec: 'null',
    records: [0],
    writeRecord(sink) {
      sink.int(123)
      sink.int(1)
      sink.int(1)
      sink.long(45n)
      writePartition(sink)
      sink.text('parquet')
      sink.text('file:///lake/d.parquet')
      sink.int(1)
    },
  })
}

const plain = {
  content: 'data',
  filePath: 'file:///lake/d.parquet',
  fileFormat: 'PARQUET',
  recordCount: 45n,
  fileSizeBytes: 123n,
}

describe('readManifest', () => {
  it('takes fields by id in any order, and leaves absent ones absent', () => {
    const found = readManifest(foreignManifest({ partitionFields: [], writePartition: () => {} }))
    expect(found.entries).toEqual([{ status: 'added', dataFile: { ...plain, partition: [] } }])
    expect(found.header).toEqual({
      formatVersion: 1,
      content: 'data',
      codec: 'null',
      partitionFields: [],
    })
  })

  it('puts partition values in the order of the spec, with null for fields that the writer had not', () => {
    const bytes = foreignManifest({
      partitionFields: [field('b', ['int', 'null'], 1001), field('a', ['null', 'string'], 1000)],
      writePartition(sink) {
        sink.int(0)
        sink.int(17)
        sink.int(1)
        sink.text('x')
      },
    })
    const partition = {
      fields: [
        { fieldId: 1002, name: 'c', type: { kind: 'int' } },
        { fieldId: 1000, name: 'a', type: { kind: 'string' } },
        { fieldId: 1001, name: 'b', type: { kind: 'long' } },
      ],
    } as const
    // The int of field 1001 has become a long since.
    expect(readManifest(bytes, { partition }).entries[0]?.dataFile.partition).toEqual([
      null,
      'x',
      17n,
    ])
    expect(readManifest(bytes).entries[0]?.dataFile.partition).toEqual([17, 'x'])
  })

  it('knows uuid and decimal values by the logical type of the writer', () => {
    const bytes = foreignManifest({
      partitionFields: [
        field('u', { type: 'fixed', name: 'f16', size: 16n, logicalType: 'uuid' }, 1000),
        field(
          'd',
          { type: 'fixed', name: 'f4', size: 4n, logicalType: 'decimal', precision: 9n, scale: 2n },
          1001,
        ),
        field('e', { type: 'bytes', logicalType: 'decimal', precision: 9n, scale: 2n }, 1002),
      ],
      writePartition(sink) {
        sink.fixed(Uint8Array.from({ length: 16 }, (_, index) => 0xf0 + index))
        sink.fixed(Uint8Array.of(0xff, 0xff, 0xff, 0xfe))
        sink.byteString(Uint8Array.of(4, 0xe2))
      },
    })
    expect(readManifest(bytes).entries[0]?.dataFile.partition).toEqual([
      'f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff',
      -2n,
      1250n,
    ])
  })

  it('refuses partition values of another type than the spec has', () => {
    const bytes = foreignManifest({
      partitionFields: [field('a', 'string', 1000)],
      writePartition: (sink) => sink.text('x'),
    })
    const partition = { fields: [{ fieldId: 1000, name: 'a', type: { kind: 'int' } }] } as const
    expect(() => readManifest(bytes, { partition })).toThrow(
      'expected int in partition field a, got string',
    )
  })

  it('takes the content from the list entry when the manifest does not say', () => {
    const bytes = foreignManifest({ partitionFields: [], writePartition: () => {} })
    const manifest = { manifestPath: 'm', content: 'deletes' } as ManifestFile
    expect(readManifest(bytes, { manifest }).header.content).toBe('deletes')
  })

  it('leaves out column metrics when they are not wanted', () => {
    const entry = metricsEntry()
    const bytes = writeManifest({
      formatVersion: 2,
      schema,
      spec,
      content: 'data',
      entries: [entry],
    })
    const { lowerBounds: _, upperBounds: __, valueCounts: ___, ...rest } = entry.dataFile
    expect(readManifest(bytes, { metrics: 'none' }).entries).toEqual([{ ...entry, dataFile: rest }])
    expect(readManifest(bytes).entries).toEqual([entry])
  })

  it('reads lazy column metrics that are equal to decoded ones, and can be written again', () => {
    const fixtures = join(import.meta.dirname, '../../fixtures/pyiceberg-0.12/transforms-v2')
    for (const name of readdirSync(fixtures).filter((file) => /-m\d\.avro$/.test(file))) {
      const file = new Uint8Array(readFileSync(join(fixtures, name)))
      const decoded = readManifest(file).entries
      const lazy = readManifest(file, { metrics: 'lazy' }).entries
      expect(lazy.map(({ dataFile }) => withMaps(dataFile))).toEqual(
        decoded.map(({ dataFile }) => dataFile),
      )
    }
  })

  it('finds damage in lazy column metrics at once', () => {
    const entries = [metricsEntry()]
    const bytes = writeManifest({
      formatVersion: 2,
      schema,
      spec,
      content: 'data',
      entries,
      compression: 'null',
    })
    const bound = Buffer.from(bytes).lastIndexOf(Uint8Array.of(2, 97))
    bytes[bound] = 0x7e
    expect(() => readManifest(bytes, { metrics: 'lazy' })).toThrow(CorruptFileError)
  })

  it('B096: keeps bounds that are no UTF-8 as bytes', () => {
    const bound = Buffer.from('7B226E616D65223A224974656D2041E2', 'hex')
    const base = metricsEntry()
    const entry = {
      ...base,
      dataFile: { ...base.dataFile, lowerBounds: new Map([[1, new Uint8Array(bound)]]) },
    }
    const bytes = writeManifest({
      formatVersion: 2,
      schema,
      spec,
      content: 'data',
      entries: [entry],
    })
    expect(readManifest(bytes).entries).toEqual([entry])
  })
})

function withMaps(dataFile: DataFile): object {
  return Object.fromEntries(
    Object.entries(dataFile).map(([key, value]: [string, unknown]) => [
      key,
      value instanceof LazyMap ? new Map(value) : value,
    ]),
  )
}

const schema: Schema = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: [{ id: 1, name: 's', required: false, type: { kind: 'string' } }],
}
const spec = {
  specId: 0,
  fields: [
    { sourceIds: [1], fieldId: 1000, name: 's_trunc', transform: { kind: 'truncate', width: 2 } },
  ],
} as const

function metricsEntry(): ManifestEntry {
  return {
    status: 'existing',
    snapshotId: 3n,
    sequenceNumber: 2n,
    fileSequenceNumber: 2n,
    dataFile: {
      content: 'data',
      filePath: 'file:///lake/d.parquet',
      fileFormat: 'PARQUET',
      partition: ['ab'],
      recordCount: 45n,
      fileSizeBytes: 123n,
      valueCounts: new Map([[1, 45n]]),
      lowerBounds: new Map([[1, Uint8Array.of(97)]]),
      upperBounds: new Map([[1, Uint8Array.of(98)]]),
      sortOrderId: 0,
    },
  }
}

describe('writeManifest', () => {
  const write = (
    entry: ManifestEntry,
    formatVersion: 1 | 2 | 3 = 2,
    content: 'data' | 'deletes' = 'data',
  ) => writeManifest({ formatVersion, schema, spec, content, entries: [entry] })
  const without = (key: keyof ManifestEntry): ManifestEntry =>
    Object.fromEntries(
      Object.entries(metricsEntry()).filter(([name]) => name !== key),
    ) as unknown as ManifestEntry

  it.each([
    [
      'an existing entry without snapshot id',
      () => write(without('snapshotId')),
      'needs its snapshot id',
    ],
    [
      'an existing entry without sequence number',
      () => write(without('sequenceNumber')),
      'needs its sequence number',
    ],
    [
      'an existing entry without file sequence number',
      () => write(without('fileSequenceNumber')),
      'needs its file sequence number',
    ],
    [
      'a v1 entry without snapshot id',
      () => write(without('snapshotId'), 1),
      'v1 entries need a snapshot id',
    ],
    [
      'a data file in a delete manifest',
      () => write(metricsEntry(), 2, 'deletes'),
      'expected deletes, got data',
    ],
    [
      'a partition of another length',
      () => write({ ...metricsEntry(), dataFile: { ...metricsEntry().dataFile, partition: [] } }),
      'expected 1 values, got 0',
    ],
    [
      'a partition value of another type',
      () => write({ ...metricsEntry(), dataFile: { ...metricsEntry().dataFile, partition: [5] } }),
      'cannot write partition field s_trunc: expected string, got number',
    ],
  ])('refuses %s', (_, run, message) => {
    expect(run).toThrow(message)
  })

  it('writes a field whose source column is gone as null', () => {
    const gone = { ...schema, fields: [] }
    const base = metricsEntry()
    const entry = { ...base, dataFile: { ...base.dataFile, partition: [null] } }
    const bytes = writeManifest({
      formatVersion: 2,
      schema: gone,
      spec,
      content: 'data',
      entries: [entry],
    })
    expect(readManifest(bytes).entries).toEqual([entry])
  })

  it('finds a dropped source column in an older schema', () => {
    const gone = { ...schema, schemaId: 1, fields: [] }
    const partition = partitionType(spec, [gone, schema])
    const entries = [metricsEntry()]
    const bytes = writeManifest({
      formatVersion: 2,
      schema: gone,
      spec,
      content: 'data',
      entries,
      partition,
    })
    expect(readManifest(bytes, { partition }).entries).toEqual(entries)
  })
})

describe('partitionKey', () => {
  it('tells different partitions apart and equal ones not', () => {
    const value = fc.oneof(
      fc.constant(null),
      fc.string(),
      fc.boolean(),
      fc.bigInt(),
      fc.uint8Array({ maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.tuple(value, value), fc.tuple(value, value), (a, b) => {
        const same = a.every(
          (v, i) => JSON.stringify(plainOf(v)) === JSON.stringify(plainOf(b[i]!)),
        )
        expect(partitionKey(a) === partitionKey(b)).toBe(same)
        expect(partitionKey(a)).toBe(partitionKey([...a]))
      }),
    )
    expect(partitionKey([NaN])).toBe(partitionKey([NaN]))
    expect(partitionKey([0])).not.toBe(partitionKey([-0]))
    expect(partitionKey(['a\u0000sb', 'c'])).not.toBe(partitionKey(['a', 'b\u0000sc']))
  })
  const plainOf = (v: unknown): unknown =>
    typeof v === 'bigint' ? { i: String(v) } : v instanceof Uint8Array ? { x: [...v] } : v
})

/** Damages a file: bytes changed, cut out, put in, or the end cut off. */
const damage = fc.array(
  fc.record({
    kind: fc.constantFrom(
      'set' as const,
      'set' as const,
      'set' as const,
      'cut' as const,
      'insert' as const,
      'end' as const,
    ),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    value: fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), fc.nat(255)),
    length: fc.integer({ min: 1, max: 12 }),
  }),
  { minLength: 1, maxLength: 4 },
)
type Damage = (typeof damage extends fc.Arbitrary<infer T> ? T : never)[number]

function damaged(bytes: Uint8Array, changes: readonly Damage[]): Uint8Array {
  let result = bytes.slice()
  for (const { kind, at, value, length } of changes) {
    const position = Math.floor(at * result.length)
    const rest = result.subarray(position)
    if (kind === 'set') result.fill(value, position, position + Math.min(length, 2))
    else if (kind === 'end') result = result.slice(0, position)
    else if (kind === 'cut')
      result = Uint8Array.from([...result.subarray(0, position), ...rest.subarray(length)])
    else
      result = Uint8Array.from([
        ...result.subarray(0, position),
        ...Array(length).fill(value),
        ...rest,
      ])
  }
  return result
}

function readsOrIsCorrupt(read: () => unknown): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof CorruptFileError)) throw error
  }
}

describe('a damaged file', () => {
  const fixtures = join(import.meta.dirname, '../../fixtures')
  const files = readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.avro'))
    .filter((name) => /snap-|-m0\.avro|(null|deflate|snappy|zstandard)\.avro/.test(name))
    .map((name) => ({ name, bytes: new Uint8Array(readFileSync(join(fixtures, name))) }))

  it('is read or refused as corrupt, whoever wrote it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...files), damage, ({ name, bytes }, changes) => {
        const file = damaged(bytes, changes)
        const isList = name.includes('snap-')
        readsOrIsCorrupt(() => (isList ? readManifestList(file, name) : readManifest(file)))
      }),
      { numRuns: 800 },
    )
  }, 120_000)

  it('is read or refused as corrupt when only the data of a block is damaged', () => {
    const partition = partitionType(spec, [schema])
    const entries = Array.from({ length: 5 }, metricsEntry)
    const manifest = writeManifest({
      formatVersion: 3,
      schema,
      spec,
      content: 'data',
      entries,
      compression: 'null',
    })
    const list = writeManifestList({
      formatVersion: 3,
      snapshotId: 1n,
      sequenceNumber: 1n,
      firstRowId: 0n,
      manifests: [listed, listed],
      compression: 'null',
    })
    fc.assert(
      fc.property(damage, (changes) => {
        const inBlock = (bytes: Uint8Array): Uint8Array => {
          const start = bytes.length - (bytes === list ? 200 : 600)
          return Uint8Array.from([
            ...bytes.subarray(0, start),
            ...damaged(bytes.subarray(start), changes),
          ])
        }
        readsOrIsCorrupt(() => readManifest(inBlock(manifest), { partition }))
        readsOrIsCorrupt(() => {
          const lazy = readManifest(inBlock(manifest), { metrics: 'lazy' }).entries
          // Nothing is left to be found wrong later.
          expect(() => lazy.map(({ dataFile }) => withMaps(dataFile))).not.toThrow()
        })
        readsOrIsCorrupt(() => readManifestList(inBlock(list)))
      }),
      { numRuns: 1000 },
    )
  }, 120_000)

  const listed: ManifestFile = {
    manifestPath: 'file:///lake/t/metadata/m.avro',
    manifestLengthBytes: 1000n,
    partitionSpecId: 0,
    content: 'data',
    sequenceNumber: 3n,
    minSequenceNumber: 2n,
    addedSnapshotId: 11n,
    addedFilesCount: 1,
    existingFilesCount: 1,
    deletedFilesCount: 0,
    addedRowsCount: 1n,
    existingRowsCount: 1n,
    deletedRowsCount: 0n,
    partitions: [
      { containsNull: true, lowerBound: Uint8Array.of(97), upperBound: Uint8Array.of(98) },
    ],
  }
})

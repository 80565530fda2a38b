import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openAvroContainer } from '../avro/read-avro-container.ts'
import type { AvroSink } from '../avro/avro-sink.ts'
import { writeAvroContainer } from '../avro/write-avro-container.ts'
import { CorruptFileError } from '../spec/errors.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import type { FormatVersion } from '../spec/table-metadata.ts'
import type { ManifestFile } from './manifest-file.ts'
import { readManifestList } from './read-manifest-list.ts'
import { assignFirstRowIds, writeManifestList } from './write-manifest-list.ts'

const count = fc.integer({ min: 0, max: 2 ** 31 - 1 })
const rows = fc.bigInt(0n, 2n ** 62n)
const long = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)
const bytes = fc.uint8Array({ maxLength: 20 })
const summary = fc.record(
  { containsNull: fc.boolean(), containsNan: fc.boolean(), lowerBound: bytes, upperBound: bytes },
  { requiredKeys: ['containsNull'] },
)
const path = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
const counts = {
  addedFilesCount: count,
  existingFilesCount: count,
  deletedFilesCount: count,
  addedRowsCount: rows,
  existingRowsCount: rows,
  deletedRowsCount: rows,
}

function manifestFiles(version: FormatVersion) {
  const known = {
    manifestPath: path,
    manifestLengthBytes: long,
    partitionSpecId: fc.integer(),
    addedSnapshotId: long,
    content:
      version === 1
        ? fc.constant('data' as const)
        : fc.constantFrom('data' as const, 'deletes' as const),
    sequenceNumber: version === 1 ? fc.constant(0n) : long,
    minSequenceNumber: version === 1 ? fc.constant(0n) : long,
    ...(version === 3 ? { ...counts, firstRowId: long } : {}),
  }
  const optional = {
    ...(version === 3 ? {} : counts),
    partitions: fc.array(summary, { maxLength: 3 }),
    keyMetadata: bytes,
  }
  const requiredKeys = Object.keys(known) as never
  return fc.array(fc.record({ ...known, ...optional }, { requiredKeys }), {
    maxLength: 5,
  })
}

const identity = { snapshotId: 5n, sequenceNumber: 9n }

describe.each([1, 2, 3] as const)('a v%i manifest list', (formatVersion) => {
  const firstRowId = formatVersion === 3 ? { firstRowId: 100n } : {}

  it.each(['null', 'deflate'] as const)(
    'reads back as it was written with codec %s',
    (compression) => {
      fc.assert(
        fc.property(manifestFiles(formatVersion), (manifests) => {
          const file = writeManifestList({
            formatVersion,
            ...identity,
            ...firstRowId,
            manifests,
            compression,
          })
          expect(readManifestList(file)).toEqual(manifests)
        }),
        { numRuns: 50 },
      )
    },
  )

  it('has the key-values that Java writes', () => {
    const file = writeManifestList({ formatVersion, ...identity, ...firstRowId, manifests: [] })
    const child = writeManifestList({
      formatVersion,
      ...identity,
      ...firstRowId,
      parentSnapshotId: 4n,
      manifests: [],
    })
    expect(Object.fromEntries(openAvroContainer(file, 'list').metadata)).toEqual({
      'snapshot-id': '5',
      'parent-snapshot-id': 'null',
      ...(formatVersion > 1 ? { 'sequence-number': '9' } : {}),
      ...(formatVersion > 2 ? { 'first-row-id': '100' } : {}),
      'format-version': String(formatVersion),
    })
    expect(openAvroContainer(child, 'list').metadata.get('parent-snapshot-id')).toBe('4')
  })
})

const plain: ManifestFile = {
  manifestPath: 'file:///lake/t/metadata/m.avro',
  manifestLengthBytes: 1000n,
  partitionSpecId: 0,
  content: 'data',
  sequenceNumber: 3n,
  minSequenceNumber: 2n,
  addedSnapshotId: 11n,
}

type Row = Readonly<Record<string, number | bigint | string | undefined>>

/** A list as another engine writes it: any fields, in any order, nullable where the value may be undefined. */
function foreignList(
  fields: readonly (readonly [string, string, number?])[],
  rowsOfList: readonly Row[],
) {
  const schema: JsonObject = {
    type: 'record',
    name: 'manifest_file',
    fields: fields.map(([name, type, id]): JsonValue => ({
      name,
      type: [type, 'null'],
      ...(id === undefined ? {} : { 'field-id': BigInt(id) }),
    })),
  }
  const write = (sink: AvroSink, row: Row): void => {
    for (const [name] of fields) {
      const value = row[name]
      sink.int(value === undefined ? 1 : 0)
      if (typeof value === 'string') sink.text(value)
      else if (value !== undefined) sink.long(BigInt(value))
    }
  }
  return writeAvroContainer({
    schema,
    metadata: [],
    codec: 'null',
    records: rowsOfList,
    writeRecord: write,
  })
}

describe('readManifestList', () => {
  it('B122: keeps a delete manifest and sequence numbers when the list names no format version', () => {
    const file = foreignList(
      [
        ['manifest_path', 'string', 500],
        ['manifest_length', 'long', 501],
        ['partition_spec_id', 'int', 502],
        ['content', 'int', 517],
        ['sequence_number', 'long', 515],
        ['min_sequence_number', 'long', 516],
        ['added_snapshot_id', 'long', 503],
      ],
      [
        {
          manifest_path: plain.manifestPath,
          manifest_length: 1000,
          partition_spec_id: 0,
          content: 1,
          sequence_number: 3,
          min_sequence_number: 2,
          added_snapshot_id: 11,
        },
      ],
    )
    expect(readManifestList(file)).toEqual([{ ...plain, content: 'deletes' }])
  })

  it('B123: a v1 list in an upgraded table has data, sequence number 0 and unknown counts', () => {
    const file = foreignList(
      [
        ['manifest_path', 'string', 500],
        ['manifest_length', 'long', 501],
        ['partition_spec_id', 'int', 502],
        ['added_snapshot_id', 'long', 503],
      ],
      [
        {
          manifest_path: plain.manifestPath,
          manifest_length: 1000,
          partition_spec_id: 0,
          added_snapshot_id: 11,
        },
      ],
    )
    expect(readManifestList(file)).toEqual([
      { ...plain, sequenceNumber: 0n, minSequenceNumber: 0n },
    ])
  })

  it('finds fields by id whatever their name and order, and null is not 0', () => {
    const file = foreignList(
      [
        ['deleted_data_files_count', 'int', 506],
        ['anything', 'long', 9999],
        ['added_data_files_count', 'int', 504],
        ['existing_data_files_count', 'int', 505],
        ['added_snapshot_id', 'long', 503],
        ['len', 'int', 501],
        ['path', 'string', 500],
      ],
      [
        {
          path: 'p',
          len: 7,
          added_snapshot_id: 1,
          added_data_files_count: 2,
          deleted_data_files_count: 0,
        },
      ],
    )
    const [found] = readManifestList(file)
    expect(found).toMatchObject({
      manifestPath: 'p',
      manifestLengthBytes: 7n,
      addedFilesCount: 2,
      deletedFilesCount: 0,
    })
    expect(found).not.toHaveProperty('existingFilesCount')
  })

  it('goes by names when the writer gave no ids, and takes −1 for unknown', () => {
    const file = foreignList(
      [
        ['manifest_path', 'string'],
        ['manifest_length', 'long'],
        ['added_data_files_count', 'int'],
        ['existing_files_count', 'int'],
      ],
      [
        {
          manifest_path: 'p',
          manifest_length: 7,
          added_data_files_count: 2,
          existing_files_count: -1,
        },
      ],
    )
    const [found] = readManifestList(file)
    expect(found).toMatchObject({ manifestPath: 'p', addedFilesCount: 2 })
    expect(found).not.toHaveProperty('existingFilesCount')
  })

  it.each([
    ['manifest_path', { manifest_length: 7 }],
    ['manifest_length', { manifest_path: 'p' }],
    ['content', { manifest_path: 'p', manifest_length: 7, content: 2 }],
  ])('refuses a manifest without a valid %s', (_, row) => {
    const fields = [
      ['manifest_path', 'string', 500],
      ['manifest_length', 'long', 501],
      ['content', 'int', 517],
    ] as const
    expect(() => readManifestList(foreignList(fields, [row]), 'file:///l.avro')).toThrow(
      CorruptFileError,
    )
    expect(() => readManifestList(foreignList(fields, [row]), 'file:///l.avro')).toThrow(
      'cannot read manifest list file:///l.avro',
    )
  })
})

describe('writeManifestList', () => {
  it('B123: keeps unknown counts unknown when a v1 list entry goes on in v2', () => {
    const file = writeManifestList({ formatVersion: 2, ...identity, manifests: [plain] })
    expect(readManifestList(file)).toEqual([plain])
  })

  it('B129: keeps key metadata', () => {
    const encrypted = { ...plain, keyMetadata: Uint8Array.of(1, 2, 3) }
    const file = writeManifestList({ formatVersion: 2, ...identity, manifests: [encrypted] })
    expect(readManifestList(file)).toEqual([encrypted])
  })

  it('refuses delete manifests in v1', () => {
    const manifests = [{ ...plain, content: 'deletes' as const }]
    expect(() => writeManifestList({ formatVersion: 1, ...identity, manifests })).toThrow(
      'v1 has no delete manifests',
    )
  })

  it('gives v3 data manifests the row ids of the example in the specification', () => {
    const manifest = (added: bigint, existing: bigint): ManifestFile => ({
      ...plain,
      addedRowsCount: added,
      existingRowsCount: existing,
    })
    const old = { ...manifest(10n, 0n), firstRowId: 5n }
    const deletes = { ...manifest(3n, 0n), content: 'deletes' as const }
    const manifests = [manifest(100n, 25n), old, manifest(0n, 100n), deletes, manifest(125n, 25n)]
    const assigned = assignFirstRowIds(manifests, 1000n)
    expect(assigned.manifests.map((m) => m.firstRowId)).toEqual([
      1000n,
      5n,
      1125n,
      undefined,
      1225n,
    ])
    expect(assigned.nextRowId).toBe(1375n)
    const file = writeManifestList({ formatVersion: 3, ...identity, firstRowId: 1000n, manifests })
    expect(readManifestList(file).map((m) => m.firstRowId)).toEqual([
      1000n,
      5n,
      1125n,
      undefined,
      1225n,
    ])
  })

  it('refuses to assign row ids over unknown rows', () => {
    expect(() => assignFirstRowIds([plain], 0n)).toThrow('unknown row counts')
  })
})

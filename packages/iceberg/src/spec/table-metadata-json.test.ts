import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryMetadata } from '@timelake/testing/arbitrary-metadata'
import { InvalidInputError } from './errors.ts'
import { parseJson, printJson } from './json.ts'
import type { JsonObject } from './json-value.ts'
import {
  decodeTableMetadata,
  encodeTableMetadata,
  encodeTableMetadataPieces,
} from './table-metadata-json.ts'
import type { FormatVersion, TableMetadata } from './table-metadata.ts'

const schema = {
  type: 'struct',
  'schema-id': 0n,
  fields: [{ id: 1n, name: 'a', required: false, type: 'long' }],
}
const v2: JsonObject = {
  'format-version': 2n,
  'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c1',
  location: 'file:///warehouse/t',
  'last-sequence-number': 34n,
  'last-updated-ms': 1602638573590n,
  'last-column-id': 3n,
  'current-schema-id': 0n,
  schemas: [schema],
  'default-spec-id': 0n,
  'partition-specs': [{ 'spec-id': 0n, fields: [] }],
  'last-partition-id': 999n,
  'default-sort-order-id': 0n,
  'sort-orders': [{ 'order-id': 0n, fields: [] }],
}
const v1: JsonObject = {
  'format-version': 1n,
  location: 'file:///warehouse/t',
  'last-updated-ms': 1602638573590n,
  'last-column-id': 3n,
  schema,
  'partition-spec': [
    { name: 'p', transform: 'identity', 'source-id': 1n },
    { name: 'q', transform: 'bucket[4]', 'source-id': 1n },
  ],
}
const snapshots = [
  { 'snapshot-id': 1n, 'timestamp-ms': 1n, 'sequence-number': 1n },
  { 'snapshot-id': 2n, 'timestamp-ms': 2n, 'sequence-number': 2n },
  { 'snapshot-id': 3n, 'timestamp-ms': 3n, 'sequence-number': 3n },
]

function decode(json: JsonObject): TableMetadata {
  return decodeTableMetadata(printJson(json))
}

function without(json: JsonObject, name: string): JsonObject {
  return { ...json, [name]: undefined }
}

describe('table metadata', () => {
  it.each([1, 2, 3] as FormatVersion[])(
    'of format version %i comes back as it was written',
    (version) => {
      fc.assert(
        fc.property(arbitraryMetadata(version), (metadata) => {
          const text = encodeTableMetadata(metadata)
          expect(decodeTableMetadata(text)).toEqual(metadata)
          expect(encodeTableMetadata(metadata)).toBe(text)
          expect(encodeTableMetadata(decodeTableMetadata(new TextEncoder().encode(text)))).toBe(
            text,
          )
        }),
        { numRuns: 60 },
      )
    },
  )

  it('I10 keeps every digit of 64-bit numbers (B086)', () => {
    const text = printJson({
      ...v2,
      'format-version': 3n,
      'last-sequence-number': 9007199254740993n,
      'next-row-id': 9223372036854775807n,
      'current-snapshot-id': 5184430069070270604n,
      refs: { main: { 'snapshot-id': 5184430069070270604n, type: 'branch' } },
      snapshots: [
        {
          'sequence-number': 9007199254740993n,
          'snapshot-id': 5184430069070270604n,
          'parent-snapshot-id': 9223372036854775807n,
          'timestamp-ms': 1n,
        },
        { 'sequence-number': 1n, 'snapshot-id': -8183938293939n, 'timestamp-ms': 1n },
      ],
    })
    const written = encodeTableMetadata(decodeTableMetadata(text))
    for (const digits of [
      '5184430069070270604',
      '9223372036854775807',
      '-8183938293939',
      '9007199254740993',
    ]) {
      expect(written.split(digits).length).toBe(text.split(digits).length)
    }
    expect(written).not.toMatch(/\de[+-]?\d/)
  })

  it('is written right although the texts of its last version are remembered', () => {
    const base = decode({ ...v2, snapshots, 'current-snapshot-id': 3n })
    const first = encodeTableMetadata(base)
    const next = { ...base, snapshots: base.snapshots.slice(1), properties: { a: 'b' } }
    const fresh = decodeTableMetadata(encodeTableMetadata(next))
    expect(encodeTableMetadata(fresh)).toBe(encodeTableMetadata(next))
    expect(encodeTableMetadata(base)).toBe(first)
  })

  it.each([
    [1, '-1'],
    [2, '-1'],
    [3, 'null'],
  ] as [FormatVersion, string][])(
    'of v%i without a current snapshot writes %s',
    (version, written) => {
      const json = {
        ...v2,
        'format-version': BigInt(version),
        'next-row-id': version === 3 ? 0n : undefined,
      }
      for (const absent of [-1n, null, undefined]) {
        const metadata = decode({ ...json, 'current-snapshot-id': absent })
        expect(metadata.currentSnapshotId).toBeUndefined()
        expect(encodeTableMetadata(metadata)).toContain(`"current-snapshot-id":${written},`)
      }
    },
  )

  it('keeps properties and refs with names of object members', () => {
    const text = `{"__proto__":"a","constructor":"b"}`
    const metadata = decodeTableMetadata(printJson(v2).replace(/}$/, `,"properties":${text}}`))
    expect(encodeTableMetadata(metadata)).toContain(`"properties":${text}`)
  })
})

describe('decodeTableMetadata', () => {
  it.each([
    ['format-version', 4n, /format-version: cannot read format version 4/],
    ['format-version', 0n, /cannot read format version 0/],
    ['format-version', '2', /format-version: expected int, got string/],
    ['location', undefined, /location: expected string, got nothing/],
    ['table-uuid', undefined, /table-uuid: missing, but format version 2 requires it/],
    ['last-sequence-number', undefined, /last-sequence-number: missing/],
    ['last-partition-id', undefined, /last-partition-id: missing/],
    ['schemas', undefined, /schemas: expected list, got nothing/],
    ['current-schema-id', 5n, /current-schema-id: 5 is not one of 0/],
    ['default-spec-id', 5n, /default-spec-id: 5 is not one of 0/],
    ['default-sort-order-id', 5n, /default-sort-order-id: 5 is not one of 0/],
    ['partition-specs', [{ 'spec-id': -1n, fields: [] }], /holds the id -1/],
    ['last-column-id', -1n, /last-column-id: expected a number from 0/],
    ['last-updated-ms', 1.5, /last-updated-ms: expected long/],
    ['last-updated-ms', 9223372036854775807n, /out of range/],
    ['current-snapshot-id', 7n, /refs\.main: snapshot 7 does not exist/],
    ['refs', { tag: { type: 'tag', 'snapshot-id': 7n } }, /refs\.tag: snapshot 7 does not exist/],
    ['snapshots', [snapshots[0], snapshots[0]], /a snapshot id occurs twice/],
    ['properties', { a: 1n }, /properties\.a: expected string, got integer/],
  ] as [string, JsonObject[string], RegExp][])('refuses %s %s', (name, value, message) => {
    expect(() => decode({ ...v2, [name]: value })).toThrow(message)
    expect(() => decode({ ...v2, [name]: value })).toThrow(InvalidInputError)
  })

  it('refuses v3 without next-row-id (B090)', () => {
    expect(() => decode({ ...v2, 'format-version': 3n })).toThrow(
      /next-row-id: expected long, got nothing/,
    )
  })

  it('refuses bytes that are not UTF-8, and text that is not JSON', () => {
    expect(() => decodeTableMetadata(Uint8Array.of(0x7b, 0xff))).toThrow(InvalidInputError)
    expect(() => decodeTableMetadata('{')).toThrow(InvalidInputError)
    expect(() => decodeTableMetadata('[]')).toThrow('metadata: expected object, got list')
  })

  it('refuses a main branch that is not the current snapshot', () => {
    const refs = { main: { 'snapshot-id': 1n, type: 'branch' } }
    expect(() => decode({ ...v2, snapshots, refs, 'current-snapshot-id': 2n })).toThrow(
      /current-snapshot-id/,
    )
  })

  it('makes main from the current snapshot of files without refs, and the other way round', () => {
    const main = { snapshotId: 2n, type: 'branch' }
    expect(decode({ ...v2, snapshots, 'current-snapshot-id': 2n }).refs).toEqual({ main })
    const refs = { main: { 'snapshot-id': 2n, type: 'branch' } }
    expect(decode({ ...v2, snapshots, refs }).currentSnapshotId).toBe(2n)
  })

  it('reads specs and orders whose columns are gone (B039, B040, B044)', () => {
    const metadata = decode({
      ...v2,
      'partition-specs': [
        { 'spec-id': 0n, fields: [] },
        {
          'spec-id': 1n,
          fields: [{ name: 'p', transform: 'bucket[8]', 'source-id': 77n, 'field-id': 1000n }],
        },
        {
          'spec-id': 2n,
          fields: [{ name: 'v', transform: 'void', 'source-id': 78n, 'field-id': 1001n }],
        },
      ],
      'sort-orders': [
        { 'order-id': 0n, fields: [] },
        {
          'order-id': 1n,
          fields: [
            {
              transform: 'identity',
              'source-id': 77n,
              direction: 'asc',
              'null-order': 'nulls-first',
            },
          ],
        },
      ],
    })
    expect(decodeTableMetadata(encodeTableMetadata(metadata))).toEqual(metadata)
  })

  it('ignores a trailing slash of the location', () => {
    expect(decode({ ...v2, location: 's3://bucket/t/' }).location).toBe('s3://bucket/t')
  })
})

describe('v1 metadata', () => {
  it('without uuid, lists and ids is filled up, the same at every load (B041, B082)', () => {
    const metadata = decode(v1)
    expect(metadata.tableUuid).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    expect(metadata).toEqual(decode(v1))
    expect(decode({ ...v1, 'last-column-id': 4n }).tableUuid).not.toBe(metadata.tableUuid)
    expect(metadata).toMatchObject({
      currentSchemaId: 0,
      defaultSpecId: 0,
      lastPartitionId: 1001,
      lastSequenceNumber: 0n,
      sortOrders: [{ orderId: 0, fields: [] }],
      partitionSpecs: [{ specId: 0, fields: [{ fieldId: 1000 }, { fieldId: 1001 }] }],
    })
  })

  it('is written with the deprecated single schema and spec and without sequence numbers', () => {
    const metadata = decode({ ...v1, snapshots: [{ 'snapshot-id': 1n, 'timestamp-ms': 1n }] })
    const written = parseJson(encodeTableMetadata(metadata)) as JsonObject
    expect(written['schema']).toEqual(schema)
    expect(written['partition-spec']).toHaveLength(2)
    expect(written).not.toHaveProperty('last-sequence-number')
    expect(printJson(written['snapshots'] ?? null)).toBe('[{"snapshot-id":1,"timestamp-ms":1}]')
    const upgraded = parseJson(encodeTableMetadata({ ...metadata, formatVersion: 2 })) as JsonObject
    expect(printJson(upgraded['snapshots'] ?? null)).toContain('"sequence-number":0')
    expect(upgraded).not.toHaveProperty('schema')
  })

  it('needs its schema', () => {
    expect(() => decode(without(v1, 'schema'))).toThrow(/schema: expected object/)
  })
})

describe('encodeTableMetadataPieces', () => {
  const statistics = [1n, 2n, 9n].map((id) => ({
    'snapshot-id': id,
    'statistics-path': `s${id}`,
    'file-size-in-bytes': 1n,
    'file-footer-size-in-bytes': 1n,
    'blob-metadata': [],
  }))
  const metadata = decode({
    ...v2,
    snapshots,
    statistics,
    'partition-statistics': statistics.map((file) => ({
      ...file,
      'file-footer-size-in-bytes': undefined,
    })),
    refs: { main: { 'snapshot-id': 2n, type: 'branch' }, old: { 'snapshot-id': 3n, type: 'tag' } },
    'snapshot-log': [
      { 'timestamp-ms': 1n, 'snapshot-id': 1n },
      { 'timestamp-ms': 2n, 'snapshot-id': 2n },
    ],
  })

  it('refs hides snapshots without a ref and their statistics, and keeps everything else', () => {
    const shown = decodeTableMetadata(Buffer.concat(encodeTableMetadataPieces(metadata, 'refs')))
    expect(shown.snapshots.map((snapshot) => snapshot.snapshotId)).toEqual([2n, 3n])
    expect(shown.statistics.map((file) => file.snapshotId)).toEqual([2n, 9n])
    expect(shown.partitionStatistics.map((file) => file.snapshotId)).toEqual([2n, 9n])
    const { snapshots: listed, statistics: files, partitionStatistics, ...rest } = metadata
    expect(shown).toMatchObject(rest)
    expect([listed.length, files.length, partitionStatistics.length]).toEqual([3, 3, 3])
  })

  it('all is what the file holds', () => {
    const all = Buffer.concat(encodeTableMetadataPieces(metadata, 'all'))
    expect(all.toString()).toBe(encodeTableMetadata(metadata))
  })
})

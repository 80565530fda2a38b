import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import type { NestedField } from '../spec/type.ts'
import { newTableMetadata, type NewTable } from './new-table-metadata.ts'
import { NOW_MS, SAMPLE_LOCATION, SAMPLE_UUID, schemaOf } from './sample-table.ts'

const context = { tableUuid: SAMPLE_UUID, location: `${SAMPLE_LOCATION}/`, nowMs: NOW_MS }
const create = (table: Partial<NewTable>) =>
  newTableMetadata(
    { schema: schemaOf(long(7, 'a'), long(3, 'b')), properties: {}, ...table },
    context,
  )

function long(id: number, name: string): NestedField {
  return { id, name, required: true, type: { kind: 'long' } }
}

describe('a new table', () => {
  it('has ids 0, no snapshot, no log, and its columns numbered from 1', () => {
    expect(create({})).toEqual({
      formatVersion: 2,
      tableUuid: SAMPLE_UUID,
      location: SAMPLE_LOCATION,
      lastSequenceNumber: 0n,
      lastUpdatedMs: NOW_MS,
      lastColumnId: 2,
      currentSchemaId: 0,
      schemas: [schemaOf(long(1, 'a'), long(2, 'b'))],
      defaultSpecId: 0,
      partitionSpecs: [{ specId: 0, fields: [] }],
      lastPartitionId: 999,
      defaultSortOrderId: 0,
      sortOrders: [{ orderId: 0, fields: [] }],
      properties: { 'write.parquet.compression-codec': 'zstd' },
      snapshots: [],
      snapshotLog: [],
      metadataLog: [],
      refs: {},
      statistics: [],
      partitionStatistics: [],
      encryptionKeys: [],
    })
  })

  it('numbers the fields of a struct before what they nest, lists and maps as Java does', () => {
    const point: NestedField = {
      id: 40,
      name: 'points',
      required: false,
      type: {
        kind: 'list',
        elementId: 41,
        elementRequired: true,
        element: { kind: 'struct', fields: [long(42, 'x'), long(43, 'y')] },
      },
    }
    const map: NestedField = {
      id: 50,
      name: 'tags',
      required: false,
      type: {
        kind: 'map',
        keyId: 51,
        key: { kind: 'string' },
        valueId: 52,
        valueRequired: false,
        value: { kind: 'list', elementId: 53, elementRequired: false, element: { kind: 'string' } },
      },
    }
    const { schemas, lastColumnId } = create({ schema: schemaOf(point, map, long(60, 'last')) })
    expect(schemas[0]?.fields.map(({ id }) => id)).toEqual([1, 2, 3])
    expect(schemas[0]?.fields[0]?.type).toMatchObject({
      elementId: 4,
      element: { fields: [{ id: 5 }, { id: 6 }] },
    })
    expect(schemas[0]?.fields[1]?.type).toMatchObject({
      keyId: 7,
      valueId: 8,
      value: { elementId: 9 },
    })
    expect(lastColumnId).toBe(9)
  })

  it('rewrites partition sources, sort sources and identifier fields to the new ids', () => {
    const after = create({
      schema: { ...schemaOf(long(7, 'a'), long(3, 'b')), identifierFieldIds: [3] },
      partitionSpec: {
        specId: 4,
        fields: [
          {
            sourceIds: [3],
            fieldId: 1234,
            name: 'b_bucket',
            transform: { kind: 'bucket', bucketCount: 2 },
          },
          { sourceIds: [7], name: 'a', transform: { kind: 'identity' } },
        ],
      },
      writeOrder: {
        orderId: 9,
        fields: [
          {
            sourceIds: [3],
            transform: { kind: 'identity' },
            direction: 'desc',
            nullOrder: 'nulls-last',
          },
        ],
      },
    })
    expect(after.schemas[0]?.identifierFieldIds).toEqual([2])
    expect(after.partitionSpecs[0]).toMatchObject({
      specId: 0,
      fields: [
        { sourceIds: [2], fieldId: 1000 },
        { sourceIds: [1], fieldId: 1001 },
      ],
    })
    expect(after.sortOrders).toMatchObject([{ orderId: 1, fields: [{ sourceIds: [2] }] }])
    expect(after.defaultSortOrderId).toBe(1)
    expect(after.lastPartitionId).toBe(1001)
  })

  it.each([1, 2, 3])(
    'takes format version %i from its property and does not store it',
    (formatVersion) => {
      const after = create({
        properties: { 'format-version': String(formatVersion), uuid: 'x', a: 'b' },
      })
      expect(after.formatVersion).toBe(formatVersion)
      expect(after.properties).toEqual({ 'write.parquet.compression-codec': 'zstd', a: 'b' })
    },
  )

  it('keeps the codec that the client asks for', () => {
    const properties = { 'write.parquet.compression-codec': 'snappy' }
    expect(create({ properties }).properties).toEqual(properties)
  })

  it.each<readonly [string, Partial<NewTable>]>([
    ['format version 4', { properties: { 'format-version': '4' } }],
    ['format version two', { properties: { 'format-version': 'two' } }],
    ['repeated column ids', { schema: schemaOf(long(1, 'a'), long(1, 'b')) }],
    [
      'a partition source that does not exist',
      {
        partitionSpec: { fields: [{ sourceIds: [9], name: 'p', transform: { kind: 'identity' } }] },
      },
    ],
    [
      'a transform that does not fit',
      { partitionSpec: { fields: [{ sourceIds: [7], name: 'p', transform: { kind: 'day' } }] } },
    ],
  ])('refuses %s', (_, table) => {
    expect(() => create(table)).toThrow(InvalidInputError)
  })
})

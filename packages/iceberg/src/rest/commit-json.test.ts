import { describe, expect, it } from 'vitest'
import type { TableRequirement, TableUpdate } from '../commit/table-update.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { parseJson, printJson } from '../spec/json.ts'
import { decodeCommitRequest, encodeCommitRequest } from './commit-json.ts'
import type { NamedCommitRequest } from './commit-json.ts'

const UUID = '9c12d441-03fe-4693-9a96-a0705ddf69c1'
const ID = 5184430069070270604n

const requirements: TableRequirement[] = [
  { type: 'assert-create' },
  { type: 'assert-table-uuid', uuid: UUID },
  { type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: ID },
  { type: 'assert-ref-snapshot-id', ref: 'main' },
  { type: 'assert-last-assigned-field-id', lastAssignedFieldId: 1 },
  { type: 'assert-current-schema-id', currentSchemaId: 2 },
  { type: 'assert-last-assigned-partition-id', lastAssignedPartitionId: 999 },
  { type: 'assert-default-spec-id', defaultSpecId: 0 },
  { type: 'assert-default-sort-order-id', defaultSortOrderId: 0 },
]

const updates: TableUpdate[] = [
  { action: 'assign-uuid', uuid: UUID },
  { action: 'upgrade-format-version', formatVersion: 3 },
  {
    action: 'add-schema',
    schema: {
      schemaId: 1,
      fields: [{ id: 1, name: 'a', required: true, type: { kind: 'long' } }],
      identifierFieldIds: [1],
    },
  },
  { action: 'set-current-schema', schemaId: -1 },
  {
    action: 'add-spec',
    spec: {
      specId: 1,
      fields: [{ sourceIds: [1], name: 'p', transform: { kind: 'bucket', bucketCount: 4 } }],
    },
  },
  { action: 'set-default-spec', specId: -1 },
  {
    action: 'add-sort-order',
    sortOrder: {
      orderId: 1,
      fields: [
        {
          transform: { kind: 'identity' },
          sourceIds: [1],
          direction: 'asc',
          nullOrder: 'nulls-last',
        },
      ],
    },
  },
  { action: 'set-default-sort-order', sortOrderId: -1 },
  {
    action: 'add-snapshot',
    snapshot: {
      snapshotId: ID,
      sequenceNumber: 1n,
      timestampMs: 5,
      manifestList: 'file:///m.avro',
      summary: { operation: 'append' },
    },
  },
  {
    action: 'set-snapshot-ref',
    refName: 'main',
    ref: {
      snapshotId: ID,
      type: 'branch',
      minSnapshotsToKeep: 1,
      maxSnapshotAgeMs: 2,
      maxRefAgeMs: 3,
    },
  },
  { action: 'remove-snapshot-ref', refName: 'old' },
  { action: 'remove-snapshots', snapshotIds: [ID, 7n] },
  { action: 'set-location', location: 'file:///t' },
  { action: 'set-properties', updates: { a: '1' } },
  { action: 'remove-properties', removals: ['b'] },
  {
    action: 'set-statistics',
    statistics: {
      snapshotId: ID,
      statisticsPath: 's',
      fileSizeBytes: 1n,
      fileFooterSizeBytes: 1n,
      blobMetadata: [],
    },
  },
  { action: 'remove-statistics', snapshotId: ID },
  {
    action: 'set-partition-statistics',
    partitionStatistics: { snapshotId: ID, statisticsPath: 's', fileSizeBytes: 1n },
  },
  { action: 'remove-partition-statistics', snapshotId: ID },
  { action: 'remove-partition-specs', specIds: [1, 2] },
  { action: 'remove-schemas', schemaIds: [3] },
  { action: 'add-encryption-key', encryptionKey: { keyId: 'k', encryptedKeyMetadata: 'AA==' } },
  { action: 'remove-encryption-key', keyId: 'k' },
]

function decode(text: string): NamedCommitRequest {
  return decodeCommitRequest(parseJson(text))
}

describe('decodeCommitRequest', () => {
  it.each(requirements)('gives back the requirement $type', (requirement) => {
    const request = { requirements: [requirement], updates: [] }
    expect(decode(printJson(encodeCommitRequest(request)))).toEqual(request)
  })

  it.each(updates)('gives back the update $action', (update) => {
    const request = { requirements: [], updates: [update] }
    expect(decode(printJson(encodeCommitRequest(request)))).toEqual(request)
  })

  it('gives back the identifier', () => {
    const request = { identifier: { namespace: ['a', 'b.c'], name: 't' }, requirements, updates }
    expect(decode(printJson(encodeCommitRequest(request)))).toEqual(request)
  })

  it('reads missing and null lists as empty', () => {
    expect(decode('{}')).toEqual({ requirements: [], updates: [] })
    expect(decode('{"requirements":null,"updates":null,"identifier":null}')).toEqual({
      requirements: [],
      updates: [],
    })
  })

  it('reads −1, null and missing ref ids as "must not exist"', () => {
    for (const member of ['"snapshot-id":-1,', '"snapshot-id":null,', '']) {
      const text = `{"requirements":[{${member}"type":"assert-ref-snapshot-id","ref":"main"}]}`
      expect(decode(text).requirements).toEqual([{ type: 'assert-ref-snapshot-id', ref: 'main' }])
    }
  })

  it('compares names without regard to case, ignores unknown members, takes old member names', () => {
    const text = `{"requirements":[{"type":"ASSERT-CREATE","x":1}],"updates":[
      {"action":"Set-Properties","updated":{"a":"b"},"x":1},
      {"action":"remove-properties","removed":["c"]},
      {"action":"add-schema","last-column-id":2,"schema":{"type":"struct","fields":[]}}]}`
    expect(decode(text)).toEqual({
      requirements: [{ type: 'assert-create' }],
      updates: [
        { action: 'set-properties', updates: { a: 'b' } },
        { action: 'remove-properties', removals: ['c'] },
        { action: 'add-schema', schema: { schemaId: 0, fields: [], identifierFieldIds: [] } },
      ],
    })
  })

  it.each([
    ['[]', /request: expected object, got list/],
    ['{"updates":{}}', /updates: expected list, got object/],
    ['{"updates":[{"action":"fly"}]}', /updates\[0\]\.action: unknown update action "fly"/],
    ['{"updates":[{"action":"constructor"}]}', /unknown update action "constructor"/],
    ['{"updates":[{}]}', /updates\[0\]\.action: expected string, got nothing/],
    [
      '{"requirements":[{"type":"assert-next-row-id"}]}',
      /unknown requirement type "assert-next-row-id"/,
    ],
    [
      '{"updates":[{"action":"remove-snapshots","snapshot-ids":[1.0]}]}',
      /updates\[0\]\.snapshot-ids\[0\]: expected long/,
    ],
    ['{"updates":[{"action":"assign-uuid","uuid":"../x"}]}', /not a UUID/],
    [
      '{"updates":[{"action":"set-properties","updates":{"a":1}}]}',
      /updates\.a: expected string, got integer/,
    ],
    [
      '{"updates":[{"action":"set-snapshot-ref","ref-name":"t","type":"tag","snapshot-id":1,"min-snapshots-to-keep":1}]}',
      /a tag cannot have/,
    ],
    [
      '{"updates":[{"action":"set-snapshot-ref","ref-name":"t","type":"branch","snapshot-id":1,"max-ref-age-ms":0}]}',
      /max-ref-age-ms: expected more than 0/,
    ],
    [
      '{"updates":[{"action":"set-statistics","snapshot-id":2,"statistics":{"snapshot-id":1,"statistics-path":"p","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}]}',
      /snapshot-id: differs/,
    ],
    [
      '{"updates":[{"action":"add-snapshot","snapshot":{"snapshot-id":-5,"timestamp-ms":1}}]}',
      /expected a positive id/,
    ],
    [
      '{"updates":[{"action":"add-snapshot","snapshot":{"snapshot-id":0,"timestamp-ms":1}}]}',
      /expected a positive id/,
    ],
    [
      '{"updates":[{"action":"add-snapshot","snapshot":{"snapshot-id":9330031330511797673,"timestamp-ms":1}}]}',
      /not a 64-bit integer/,
    ],
    ['{"identifier":{"namespace":[],"name":"t"}}', /identifier\.namespace/],
  ])('refuses %s', (text, message) => {
    expect(() => decode(text)).toThrow(message)
    expect(() => decode(text)).toThrow(InvalidInputError)
  })
})

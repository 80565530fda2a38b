import { describe, expect, it } from 'vitest'
import { CommitFailedError, InvalidInputError } from '../spec/errors.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import { applyCommit } from './apply-commit.ts'
import {
  appended,
  appendOf,
  commit,
  ID_COLUMN,
  NOW_MS,
  sampleTable,
  schemaOf,
  snapshotOf,
  TS_COLUMN,
} from './sample-table.ts'
import type { CommitRequest, TableUpdate } from './table-update.ts'

/** One test for each place where the Java reference server differs on purpose; the differential judge names them. */
describe('deviations from the reference server', () => {
  const table = sampleTable()
  const one = appended(table, 11n)
  const orphan = (base: typeof table, changes: Partial<Snapshot>): TableUpdate => {
    const { parentSnapshotId: _parent, ...snapshot } = snapshotOf(base, 12n, changes)
    return { action: 'add-snapshot', snapshot }
  }

  it('the UUID of a table never changes', () => {
    const uuid = '00000000-0000-4000-8000-000000000000'
    expect(() => commit(table, [{ action: 'assign-uuid', uuid }])).toThrow(InvalidInputError)
  })

  it('client faults are 400 or 409', () => {
    const faults: TableUpdate[] = [
      { action: 'set-default-spec', specId: 9 },
      { action: 'set-default-sort-order', sortOrderId: 9 },
      {
        action: 'add-schema',
        schema: schemaOf(ID_COLUMN, { ...TS_COLUMN, type: { kind: 'variant' } }),
      },
      {
        action: 'add-snapshot',
        snapshot: { snapshotId: 12n, sequenceNumber: 1n, timestampMs: NOW_MS },
      },
    ]
    for (const fault of faults) expect(() => commit(table, [fault])).toThrow(InvalidInputError)
  })

  it('a request that no base could make valid is 400 first', () => {
    const request: CommitRequest = {
      requirements: [
        { type: 'assert-create' },
        { type: 'assert-current-schema-id', currentSchemaId: 9 },
      ],
      updates: [],
    }
    expect(() => applyCommit(table, request, { nowMs: NOW_MS })).toThrow(InvalidInputError)
  })

  it('v4 is refused', () => {
    const upgrade: TableUpdate = { action: 'upgrade-format-version', formatVersion: 4 }
    expect(() => commit(table, [upgrade])).toThrow(InvalidInputError)
  })

  it('unknown snapshots to remove are ignored', () => {
    expect(commit(table, [{ action: 'remove-snapshots', snapshotIds: [1n, 2n] }])).toBe(table)
    expect(
      commit(one, [{ action: 'remove-snapshots', snapshotIds: [11n, 11n, 12n] }]).snapshots,
    ).toEqual([])
  })

  it('last added may be an equal one that existed', () => {
    const wider = commit(table, [
      { action: 'add-schema', schema: schemaOf(ID_COLUMN, TS_COLUMN) },
      { action: 'add-spec', spec: { fields: [] } },
      { action: 'set-default-spec', specId: -1 },
      { action: 'set-current-schema', schemaId: -1 },
    ])
    const back = commit(wider, [
      { action: 'add-schema', schema: table.schemas[0]! },
      { action: 'set-current-schema', schemaId: -1 },
      { action: 'add-spec', spec: table.partitionSpecs[0]! },
      { action: 'set-default-spec', specId: -1 },
      { action: 'add-sort-order', sortOrder: { orderId: 0, fields: [] } },
      { action: 'set-default-sort-order', sortOrderId: -1 },
    ])
    expect(back).toMatchObject({ currentSchemaId: 0, defaultSpecId: 0, defaultSortOrderId: 0 })
    expect(back.schemas).toHaveLength(2)
  })

  it('an id is known when it is set', () => {
    const late: TableUpdate[] = [
      { action: 'set-default-spec', specId: 1 },
      { action: 'add-spec', spec: { fields: [] } },
    ]
    expect(() => commit(table, late)).toThrow(InvalidInputError)
    expect(commit(table, late.toReversed()).defaultSpecId).toBe(1)
  })

  it('clocks are clamped', () => {
    const future = commit(
      table,
      appendOf(snapshotOf(table, 11n, { timestampMs: NOW_MS + 86_400_000 })),
    )
    expect(future.snapshotLog[0]?.timestampMs).toBe(NOW_MS)
    const past = commit(one, appendOf(snapshotOf(one, 12n, { timestampMs: NOW_MS - 86_400_000 })))
    expect(past.snapshotLog[1]?.timestampMs).toBe(NOW_MS)
  })

  it('the log has an entry only when main moves', () => {
    const ref = { snapshotId: 11n, type: 'branch', maxRefAgeMs: 5 } as const
    const after = commit(one, [{ action: 'set-snapshot-ref', refName: 'main', ref }])
    expect(after.refs['main']).toEqual(ref)
    expect(after.snapshotLog).toBe(one.snapshotLog)
  })

  it('a snapshot without a parent may carry an older sequence number', () => {
    const three = appended(one, 21n, 22n)
    const after = commit(three, [orphan(three, { sequenceNumber: 2n })])
    expect(after.snapshots.at(-1)?.sequenceNumber).toBe(2n)
    expect(after.lastSequenceNumber).toBe(3n)
  })

  it('v1 has no sequence numbers', () => {
    const old = sampleTable(1)
    const remove: TableUpdate = { action: 'remove-snapshots', snapshotIds: [12n] }
    expect(() => commit(old, [orphan(old, { sequenceNumber: 2n }), remove])).toThrow(
      InvalidInputError,
    )
  })

  it('snapshot ids are positive', () => {
    for (const snapshotId of [0n, -1n, -5n]) {
      expect(() => commit(table, [orphan(table, { snapshotId })])).toThrow(InvalidInputError)
    }
  })

  it('main is a branch', () => {
    const ref = { snapshotId: 11n, type: 'tag' } as const
    const toTag: TableUpdate = { action: 'set-snapshot-ref', refName: 'main', ref }
    expect(() => commit(one, [toTag])).toThrow(InvalidInputError)
  })

  it('reserved properties are not stored', () => {
    const updates = { 'format-version': '3', 'snapshot-count': '7', a: 'b' }
    const { properties, formatVersion } = commit(table, [{ action: 'set-properties', updates }])
    expect(properties).toEqual({ ...table.properties, a: 'b' })
    expect(formatVersion).toBe(2)
  })

  it('missing partition field ids are taken from equal fields', () => {
    const day = { name: 'other', sourceIds: [2], transform: { kind: 'day' } } as const
    const bucket = {
      name: 'b',
      sourceIds: [1],
      transform: { kind: 'bucket', bucketCount: 4 },
    } as const
    const after = commit(table, [{ action: 'add-spec', spec: { fields: [bucket, day] } }])
    expect(after.partitionSpecs[1]?.fields.map(({ fieldId }) => fieldId)).toEqual([1001, 1000])
  })

  it('a partition field id occurs once in a spec', () => {
    const field = { sourceIds: [1], transform: { kind: 'identity' }, fieldId: 1001 } as const
    const fields = [
      { ...field, name: 'a' },
      { ...field, name: 'b' },
    ]
    expect(() => commit(table, [{ action: 'add-spec', spec: { fields } }])).toThrow(
      InvalidInputError,
    )
  })

  it('row lineage enters with v3', () => {
    const after = commit(table, [orphan(table, { firstRowId: 0n, addedRows: 5n })])
    expect(after.snapshots[0]).not.toHaveProperty('firstRowId')
    expect(after.snapshots[0]).not.toHaveProperty('addedRows')
  })

  it('row ids never overlap', () => {
    const v3 = sampleTable(3)
    const after = commit(v3, [orphan(v3, { firstRowId: 7n, addedRows: 5n })])
    expect(after.nextRowId).toBe(12n)
    const overlapping = orphan(v3, {
      snapshotId: 13n,
      sequenceNumber: 2n,
      firstRowId: 5n,
      addedRows: 1n,
    })
    expect(() => commit(after, [overlapping])).toThrow(CommitFailedError)
  })

  it('ids of sort orders are ignored', () => {
    const fields = [
      {
        transform: { kind: 'identity' },
        sourceIds: [1],
        direction: 'asc',
        nullOrder: 'nulls-first',
      },
    ] as const
    const after = commit(table, [
      { action: 'add-sort-order', sortOrder: { orderId: 0, fields } },
      { action: 'add-sort-order', sortOrder: { orderId: 9, fields: [] } },
    ])
    expect(after.sortOrders.map(({ orderId }) => orderId)).toEqual([0, 1])
  })

  it('what was removed is gone', () => {
    const two = commit(table, [{ action: 'add-schema', schema: schemaOf(ID_COLUMN, TS_COLUMN) }])
    const remove: TableUpdate = { action: 'remove-schemas', schemaIds: [1] }
    expect(() => commit(two, [remove, { action: 'set-current-schema', schemaId: 1 }])).toThrow(
      InvalidInputError,
    )
    const again = commit(two, [
      remove,
      { action: 'add-schema', schema: schemaOf(ID_COLUMN, TS_COLUMN) },
    ])
    expect(again.schemas.map(({ schemaId }) => schemaId)).toEqual([0, 1])
  })
})

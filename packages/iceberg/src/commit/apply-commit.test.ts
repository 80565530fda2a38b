import { describe, expect, it } from 'vitest'
import { CommitFailedError, InvalidInputError } from '../spec/errors.ts'
import { MAIN_BRANCH } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { applyCommit } from './apply-commit.ts'
import {
  appended,
  appendOf,
  commit,
  created,
  CREATED_AT_MS,
  DATA_COLUMN,
  ID_COLUMN,
  NOW_MS,
  SAMPLE_LOCATION,
  SAMPLE_UUID,
  sampleTable,
  schemaOf,
  setMain,
  snapshotOf,
} from './sample-table.ts'
import type { TableUpdate } from './table-update.ts'

const table = sampleTable()

describe('a commit', () => {
  it('B055: without updates hands back the base', () => {
    expect(applyCommit(table, { requirements: [], updates: [] }, { nowMs: NOW_MS })).toBe(table)
  })

  it('without an effect hands back the base', () => {
    const base = appended(commit(table, [{ action: 'set-properties', updates: { a: '1' } }]), 11n)
    const updates: TableUpdate[] = [
      { action: 'assign-uuid', uuid: SAMPLE_UUID.toUpperCase() },
      { action: 'upgrade-format-version', formatVersion: 2 },
      { action: 'set-properties', updates: { a: '1' } },
      { action: 'remove-properties', removals: ['b'] },
      { action: 'set-location', location: `${SAMPLE_LOCATION}/` },
      setMain(11n),
      { action: 'remove-snapshots', snapshotIds: [5n] },
      { action: 'remove-statistics', snapshotId: 5n },
      { action: 'remove-partition-statistics', snapshotId: 5n },
      { action: 'remove-encryption-key', keyId: 'k' },
    ]
    expect(commit(base, updates)).toBe(base)
  })

  it('checks requirements before updates', () => {
    const request = {
      requirements: [{ type: 'assert-current-schema-id', currentSchemaId: 4 }],
      updates: [{ action: 'set-current-schema', schemaId: 9 }],
    } as const
    expect(() => applyCommit(table, request, { nowMs: NOW_MS })).toThrow(CommitFailedError)
  })

  it('leaves the base as it was, also when it fails half-way', () => {
    const base = appended(table, 11n)
    const before = structuredClone(base)
    commit(base, [
      ...appendOf(snapshotOf(base, 12n)),
      { action: 'remove-snapshots', snapshotIds: [11n] },
    ])
    expect(() => commit(base, [...appendOf(snapshotOf(base, 12n)), setMain(99n)])).toThrow(
      InvalidInputError,
    )
    expect(base).toEqual(before)
  })

  it('keeps members that it does not know', () => {
    const base = { ...table, extra: { 'x-owner': 'me' } }
    expect(commit(base, [{ action: 'set-properties', updates: { a: '1' } }]).extra).toEqual(
      base.extra,
    )
  })

  it('sees main in a file that has a current snapshot and no refs', () => {
    const base: TableMetadata = { ...appended(table, 11n), refs: {} }
    const after = commit(base, [{ action: 'set-properties', updates: { a: '1' } }])
    expect(after.refs[MAIN_BRANCH]).toEqual({ snapshotId: 11n, type: 'branch' })
    expect(after.currentSnapshotId).toBe(11n)
  })

  it('does not refuse an append to a table whose default spec came in broken', () => {
    const base: TableMetadata = { ...table, schemas: [schemaOf(ID_COLUMN)] }
    expect(appended(base, 11n).currentSnapshotId).toBe(11n)
  })
})

describe('the metadata log', () => {
  const change: TableUpdate = { action: 'set-properties', updates: { k: 'v' } }
  const next = (base: TableMetadata, ...[file, updates]: [string, TableUpdate[]]) =>
    applyCommit(base, { requirements: [], updates }, { nowMs: NOW_MS, baseMetadataLocation: file })

  it('gains the file of the base with its time', () => {
    expect(next(table, 'file:///1', [change]).metadataLog).toEqual([
      { metadataFile: 'file:///1', timestampMs: CREATED_AT_MS },
    ])
  })

  it.each([
    ['by default', undefined, 100],
    ['by the property', '3', 3],
    ['to at least one', '0', 1],
    ['by default when the property is no number', 'many', 100],
  ])('is trimmed %s', (_, value, count) => {
    const properties = value === undefined ? {} : { 'write.metadata.previous-versions-max': value }
    const files = Array.from({ length: 150 }, (_unused, n) => ({
      metadataFile: `f${n}`,
      timestampMs: n,
    }))
    const base = { ...table, properties, metadataLog: files }
    const after = next(base, 'last', [change])
    expect(after.metadataLog).toHaveLength(count)
    expect(after.metadataLog.at(-1)?.metadataFile).toBe('last')
  })

  it('obeys a limit that the same request sets', () => {
    const files = [1, 2, 3].map((n) => ({ metadataFile: `f${n}`, timestampMs: n }))
    const updates = { 'write.metadata.previous-versions-max': '2' }
    const after = next({ ...table, metadataLog: files }, 'last', [
      { action: 'set-properties', updates },
    ])
    expect(after.metadataLog.map(({ metadataFile }) => metadataFile)).toEqual(['f3', 'last'])
  })

  it.each([
    ['loses what was replaced longer ago than the table says', '100', undefined, ['f2', 'f3']],
    ['loses by count what is young enough', '100000000', '2', ['f3']],
    ['keeps the last file, however long ago it was written', '1', undefined, []],
    ['keeps files however old when the age is 0', '0', undefined, ['f0', 'f1', 'f2', 'f3']],
    ['keeps files when the age is no number', 'old', undefined, ['f0', 'f1', 'f2', 'f3']],
  ])('%s', (_, ageMs, count, files) => {
    const agesMs = [500, 400, 150, 50]
    const metadataLog = agesMs.map((writtenAgoMs, n) => ({
      metadataFile: `f${n}`,
      timestampMs: NOW_MS - writtenAgoMs,
    }))
    const properties = {
      'timelake.metadata.previous-versions-max-age-ms': ageMs,
      ...(count === undefined ? {} : { 'write.metadata.previous-versions-max': count }),
    }
    const after = next({ ...table, properties, metadataLog }, 'last', [change])
    expect(after.metadataLog.map(({ metadataFile }) => metadataFile)).toEqual([...files, 'last'])
  })
})

describe('B023: a create commit', () => {
  const full: readonly TableUpdate[] = [
    { action: 'assign-uuid', uuid: SAMPLE_UUID },
    { action: 'upgrade-format-version', formatVersion: 1 },
    { action: 'add-schema', schema: schemaOf({ ...ID_COLUMN, id: 5 }, { ...DATA_COLUMN, id: 9 }) },
    { action: 'set-current-schema', schemaId: -1 },
    { action: 'add-spec', spec: { fields: [] } },
    { action: 'set-default-spec', specId: -1 },
    { action: 'add-sort-order', sortOrder: { orderId: 0, fields: [] } },
    { action: 'set-default-sort-order', sortOrderId: -1 },
    { action: 'set-location', location: `${SAMPLE_LOCATION}/` },
    { action: 'set-properties', updates: { a: 'b', 'format-version': '1' } },
  ]

  it('starts from nothing and keeps the ids of the client', () => {
    expect(created(full)).toEqual({
      formatVersion: 1,
      tableUuid: SAMPLE_UUID,
      location: SAMPLE_LOCATION,
      lastSequenceNumber: 0n,
      lastUpdatedMs: NOW_MS,
      lastColumnId: 9,
      currentSchemaId: 0,
      schemas: [schemaOf({ ...ID_COLUMN, id: 5 }, { ...DATA_COLUMN, id: 9 })],
      defaultSpecId: 0,
      partitionSpecs: [{ specId: 0, fields: [] }],
      lastPartitionId: 999,
      defaultSortOrderId: 0,
      sortOrders: [{ orderId: 0, fields: [] }],
      properties: { a: 'b' },
      snapshots: [],
      snapshotLog: [],
      metadataLog: [],
      refs: {},
      statistics: [],
      partitionStatistics: [],
      encryptionKeys: [],
    })
  })

  it.each([1, 2, 3])('starts at v%i when its first upgrade names it', (formatVersion) => {
    const updates = full.map((update) =>
      update.action === 'upgrade-format-version' ? { ...update, formatVersion } : update,
    )
    const after = created(updates)
    expect(after.formatVersion).toBe(formatVersion)
    expect(after.nextRowId).toBe(formatVersion === 3 ? 0n : undefined)
  })

  it('starts at v2 when none does', () => {
    expect(
      created(full.filter(({ action }) => action !== 'upgrade-format-version')).formatVersion,
    ).toBe(2)
  })

  it('takes the first snapshots with it', () => {
    const after = created([...full, ...appendOf(snapshotOf(sampleTable(1), 11n))])
    expect(after.currentSnapshotId).toBe(11n)
    expect(after.snapshotLog).toHaveLength(1)
  })

  it.each(['assign-uuid', 'add-schema', 'add-spec', 'add-sort-order', 'set-location'])(
    'is refused without %s',
    (missing) => {
      const updates = full.filter(({ action }) => action !== missing)
      expect(() => created(updates)).toThrow(InvalidInputError)
    },
  )

  it('fails with the text that the kit reads when the table exists', () => {
    const request = { requirements: [{ type: 'assert-create' }], updates: full } as const
    expect(() => applyCommit(table, request, { nowMs: NOW_MS })).toThrow(
      'Requirement failed: table already exists',
    )
  })
})

describe('deep histories', () => {
  const deep: TableMetadata = {
    ...table,
    snapshots: Array.from({ length: 10_000 }, (_, n) => snapshotOf(table, BigInt(n + 1))),
    snapshotLog: Array.from({ length: 10_000 }, (_, n) => ({
      snapshotId: BigInt(n + 1),
      timestampMs: n,
    })),
    refs: { main: { snapshotId: 10_000n, type: 'branch' } },
    currentSnapshotId: 10_000n,
    lastSequenceNumber: 10_000n,
  }

  it('an append shares every old snapshot', () => {
    const after = appended(deep, 10_001n)
    expect(after.snapshots).toHaveLength(10_001)
    expect(
      after.snapshots.slice(0, 10_000).every((snapshot, n) => snapshot === deep.snapshots[n]),
    ).toBe(true)
  })

  it('a thousand single removals give what one removal of all gives', () => {
    const ids = Array.from({ length: 1000 }, (_, n) => BigInt(n * 2 + 1))
    const single = commit(
      deep,
      ids.map((id): TableUpdate => ({ action: 'remove-snapshots', snapshotIds: [id] })),
    )
    expect(single).toEqual(commit(deep, [{ action: 'remove-snapshots', snapshotIds: ids }]))
    expect(single.snapshots).toHaveLength(9000)
    expect(single.snapshotLog[0]?.snapshotId).toBe(2000n)
  })
})

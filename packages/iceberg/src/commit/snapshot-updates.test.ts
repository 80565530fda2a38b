import { describe, expect, it } from 'vitest'
import { CommitFailedError, InvalidInputError } from '../spec/errors.ts'
import type { Snapshot, SnapshotRef } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import {
  appended,
  appendOf,
  commit,
  created,
  NOW_MS,
  sampleTable,
  setMain,
  snapshotOf,
} from './sample-table.ts'
import type { TableUpdate } from './table-update.ts'

const table = sampleTable()
const one = appended(table, 11n)
const add = (base: TableMetadata, changes: Partial<Snapshot>): TableUpdate => ({
  action: 'add-snapshot',
  snapshot: snapshotOf(base, 12n, changes),
})
const setRef = (refName: string, ref: SnapshotRef): TableUpdate => ({
  action: 'set-snapshot-ref',
  refName,
  ref,
})
const without = (snapshot: Snapshot, member: keyof Snapshot): Snapshot => {
  const { [member]: _removed, ...rest } = snapshot
  return rest as Snapshot
}

describe('add-snapshot', () => {
  it('adds the snapshot and moves no ref', () => {
    const after = commit(one, [add(one, {})])
    expect(after.snapshots.map(({ snapshotId }) => snapshotId)).toEqual([11n, 12n])
    expect(after.lastSequenceNumber).toBe(2n)
    expect(after.currentSnapshotId).toBe(11n)
    expect(after.snapshotLog).toBe(one.snapshotLog)
  })

  it.each<readonly [string, Partial<Snapshot>]>([
    ['a known id', { snapshotId: 11n }],
    ['id 0', { snapshotId: 0n }],
    ['a negative id', { snapshotId: -2n }],
    ['a negative sequence number', { sequenceNumber: -1n }],
  ])('refuses %s', (_, changes) => {
    expect(() => commit(one, [add(one, changes)])).toThrow(InvalidInputError)
  })

  it('refuses a snapshot without a manifest list', () => {
    const snapshot = without(snapshotOf(one, 12n), 'manifestList')
    expect(() => commit(one, [{ action: 'add-snapshot', snapshot }])).toThrow('manifest list')
    const old = sampleTable(1)
    const listed = {
      ...without(snapshotOf(old, 12n), 'manifestList'),
      manifests: ['file:///m.avro'],
    }
    expect(commit(old, [{ action: 'add-snapshot', snapshot: listed }]).snapshots).toHaveLength(1)
  })

  it('asks to retry when the sequence number was overtaken', () => {
    const stale = () => commit(one, [add(one, { sequenceNumber: 1n })])
    expect(stale).toThrow(CommitFailedError)
    expect(stale).toThrow(
      'Validation failed, please retry: Cannot add snapshot with sequence number 1 older than last sequence number 1',
    )
  })

  it('refuses a sequence number in v1', () => {
    const old = sampleTable(1)
    expect(() => commit(old, [add(old, { sequenceNumber: 1n })])).toThrow(InvalidInputError)
    expect(appended(old, 11n, 12n).lastSequenceNumber).toBe(0n)
  })

  it('names the operation that Java would read when the summary names none', () => {
    const after = commit(one, [add(one, { summary: { 'added-records': '1' } })])
    expect(after.snapshots[1]?.summary).toEqual({ operation: 'overwrite', 'added-records': '1' })
    expect(commit(one, [add(one, { summary: {} })]).snapshots[1]).not.toHaveProperty('summary')
  })

  it('refuses a first snapshot before schema, spec and sort order', () => {
    const snapshot = snapshotOf(table, 11n)
    expect(() => created([{ action: 'add-snapshot', snapshot }])).toThrow(
      'before a schema is added',
    )
  })
})

describe('row lineage', () => {
  const v3 = sampleTable(3)

  it('moves next-row-id by the added rows', () => {
    const after = appended(v3, 11n, 12n)
    expect(after.nextRowId).toBe(20n)
    expect(after.snapshots.map(({ firstRowId }) => firstRowId)).toEqual([0n, 10n])
  })

  it('asks to retry when the first row id was overtaken', () => {
    const base = appended(v3, 11n)
    const stale = () => commit(base, [add(base, { firstRowId: 9n })])
    expect(stale).toThrow(CommitFailedError)
    expect(stale).toThrow(
      'Validation failed, please retry: Cannot add a snapshot, first-row-id is behind',
    )
  })

  it('B090: refuses a snapshot without its members', () => {
    const snapshot = snapshotOf(v3, 11n)
    const addWithout = (member: keyof Snapshot) => () =>
      commit(v3, [{ action: 'add-snapshot', snapshot: without(snapshot, member) }])
    expect(addWithout('firstRowId')).toThrow(InvalidInputError)
    expect(addWithout('addedRows')).toThrow(InvalidInputError)
    expect(() => commit(v3, [add(v3, { addedRows: -1n })])).toThrow(InvalidInputError)
    expect(() => commit(v3, [add(v3, { firstRowId: -1n })])).toThrow(InvalidInputError)
    expect(() => commit(v3, [add(v3, { addedRows: 2n ** 63n - 1n, firstRowId: 1n })])).toThrow(
      InvalidInputError,
    )
  })

  it('starts at 0 when a table is raised to v3', () => {
    const raised = commit(one, [{ action: 'upgrade-format-version', formatVersion: 3 }])
    expect(raised.nextRowId).toBe(0n)
    expect(raised.snapshots).toBe(one.snapshots)
  })
})

describe('set-snapshot-ref', () => {
  it('moves main, with an entry in the log', () => {
    const after = appended(one, 12n)
    expect(after.currentSnapshotId).toBe(12n)
    expect(after.refs['main']).toEqual({ snapshotId: 12n, type: 'branch' })
    expect(after.snapshotLog.map(({ snapshotId }) => snapshotId)).toEqual([11n, 12n])
  })

  it('does nothing when the ref is the same', () => {
    expect(commit(one, [setMain(11n)])).toBe(one)
  })

  it('stores retention where it has a meaning', () => {
    const branch: SnapshotRef = {
      snapshotId: 11n,
      type: 'branch',
      minSnapshotsToKeep: 2,
      maxSnapshotAgeMs: 3,
      maxRefAgeMs: 4,
    }
    const tag: SnapshotRef = { snapshotId: 11n, type: 'tag', maxRefAgeMs: 4 }
    const after = commit(one, [setRef('dev', branch), setRef('v1', tag)])
    expect(after.refs).toMatchObject({ dev: branch, v1: tag })
  })

  it.each<readonly [string, string, SnapshotRef]>([
    ['an unknown snapshot', 'dev', { snapshotId: 99n, type: 'branch' }],
    ['main as a tag', 'main', { snapshotId: 11n, type: 'tag' }],
    ['snapshots to keep on a tag', 'v1', { snapshotId: 11n, type: 'tag', minSnapshotsToKeep: 1 }],
    ['a snapshot age on a tag', 'v1', { snapshotId: 11n, type: 'tag', maxSnapshotAgeMs: 1 }],
    ['no snapshots to keep', 'dev', { snapshotId: 11n, type: 'branch', minSnapshotsToKeep: 0 }],
    ['a snapshot age of 0', 'dev', { snapshotId: 11n, type: 'branch', maxSnapshotAgeMs: 0 }],
    ['a ref age below 0', 'dev', { snapshotId: 11n, type: 'branch', maxRefAgeMs: -1 }],
  ])('refuses %s', (_, refName, ref) => {
    expect(() => commit(one, [setRef(refName, ref)])).toThrow(InvalidInputError)
  })

  it('takes names that objects inherit', () => {
    const after = commit(one, [setRef('__proto__', { snapshotId: 11n, type: 'tag' })])
    expect(Object.keys(after.refs)).toEqual(['main', '__proto__'])
  })
})

describe('remove-snapshot-ref', () => {
  it('leaves no current snapshot without main, and keeps the log', () => {
    const after = commit(one, [{ action: 'remove-snapshot-ref', refName: 'main' }])
    expect('currentSnapshotId' in after).toBe(false)
    expect(after.refs).toEqual({})
    expect(after.snapshotLog).toBe(one.snapshotLog)
  })

  it('ignores an unknown name', () => {
    expect(commit(one, [{ action: 'remove-snapshot-ref', refName: 'nope' }])).toBe(one)
  })

  it('B026: a replace keeps the old snapshots and properties', () => {
    const base = commit(one, [{ action: 'set-properties', updates: { k: 'v' } }])
    const after = commit(base, [
      { action: 'remove-snapshot-ref', refName: 'main' },
      ...appendOf(without(snapshotOf(base, 20n), 'parentSnapshotId')),
    ])
    expect(after.snapshots.map(({ snapshotId }) => snapshotId)).toEqual([11n, 20n])
    expect(after.snapshotLog.map(({ snapshotId }) => snapshotId)).toEqual([11n, 20n])
    expect(after.properties['k']).toBe('v')
  })
})

describe('remove-snapshots', () => {
  const three = commit(appended(one, 12n, 13n), [
    setRef('v1', { snapshotId: 11n, type: 'tag' }),
    ...[11n, 12n].map((snapshotId): TableUpdate => ({
      action: 'set-statistics',
      statistics: {
        snapshotId,
        statisticsPath: `file:///s/${snapshotId}`,
        fileSizeBytes: 1n,
        fileFooterSizeBytes: 1n,
        blobMetadata: [],
      },
    })),
  ])
  const remove = (...snapshotIds: bigint[]): TableUpdate => ({
    action: 'remove-snapshots',
    snapshotIds,
  })

  it('drops refs and statistics with their snapshots', () => {
    const after = commit(three, [remove(11n)])
    expect(after.snapshots.map(({ snapshotId }) => snapshotId)).toEqual([12n, 13n])
    expect(Object.keys(after.refs)).toEqual(['main'])
    expect(after.statistics.map(({ snapshotId }) => snapshotId)).toEqual([12n])
  })

  it('cuts the log at the newest gap', () => {
    expect(commit(three, [remove(12n)]).snapshotLog.map(({ snapshotId }) => snapshotId)).toEqual([
      13n,
    ])
  })

  it('leaves no current snapshot when the head of main goes', () => {
    const after = commit(three, [remove(13n)])
    expect(after.currentSnapshotId).toBeUndefined()
    expect(after.snapshotLog).toEqual([])
  })

  it('ignores unknown ids', () => {
    expect(commit(three, [remove(77n)])).toBe(three)
    expect(commit(three, [remove()])).toBe(three)
  })

  it('lets the id be added again in the same request', () => {
    const again = snapshotOf(three, 11n)
    const after = commit(three, [remove(11n), { action: 'add-snapshot', snapshot: again }])
    expect(after.snapshots.map(({ snapshotId }) => snapshotId)).toEqual([12n, 13n, 11n])
    expect(Object.keys(after.refs)).toEqual(['main'])
  })

  it('drops statistics that are set after the removal only with the next one', () => {
    const statistics = { ...three.statistics[0]!, statisticsPath: 'file:///late' }
    const after = commit(three, [remove(11n), { action: 'set-statistics', statistics }])
    expect(after.statistics).toContainEqual(statistics)
  })

  it('keeps the log of a table written elsewhere that never logged its current snapshot loadable', () => {
    const foreign = { ...three, snapshotLog: [] }
    const after = commit(foreign, [remove(11n)])
    expect(after.snapshotLog).toEqual([{ snapshotId: 13n, timestampMs: NOW_MS }])
  })
})

describe('several snapshots in one request', () => {
  it('logs only the one that main stays at', () => {
    const second = snapshotOf(one, 12n)
    const third = snapshotOf(one, 13n, { sequenceNumber: 3n, parentSnapshotId: 12n })
    const after = commit(one, [...appendOf(second), ...appendOf(third)])
    expect(after.snapshotLog.map(({ snapshotId }) => snapshotId)).toEqual([11n, 13n])
    expect(after.snapshots).toHaveLength(3)
  })
})

import { describe, expect, it } from 'vitest'
import { CommitFailedError, InvalidInputError, ValidationFailedError } from '../spec/errors.ts'
import { applyViewCommit } from './apply-view-commit.ts'
import {
  commit,
  COMMIT_MS,
  CREATED_MS,
  replaceWith,
  sampleView,
  schemaNamed,
  sql,
  version,
  VIEW_UUID,
} from './sample-view.ts'
import type { ViewUpdate } from './view-update.ts'

const view = sampleView()

describe('requirements', () => {
  const withUuid = (uuid: string) => ({
    requirements: [{ type: 'assert-view-uuid' as const, uuid }],
    updates: [],
  })

  it('hold for the UUID of the view in any case', () => {
    expect(applyViewCommit(view, withUuid(VIEW_UUID.toUpperCase()), { nowMs: 1 })).toBe(view)
  })

  it('fail for another UUID with the text that clients read', () => {
    const other = '00000000-0000-4000-8000-000000000000'
    const act = () => applyViewCommit(view, withUuid(other), { nowMs: 1 })
    expect(act).toThrow(CommitFailedError)
    expect(act).toThrow(
      `Requirement failed: view UUID does not match: expected ${VIEW_UUID} != ${other}`,
    )
  })
})

describe('updates that change nothing', () => {
  it.each<[string, ViewUpdate[]]>([
    ['none', []],
    ['the same UUID', [{ action: 'assign-uuid', uuid: VIEW_UUID.toUpperCase() }]],
    ['the same format version', [{ action: 'upgrade-format-version', formatVersion: 1 }]],
    ['an equal schema', [{ action: 'add-schema', schema: schemaNamed('a') }]],
    ['the same location', [{ action: 'set-location', location: `${view.location}/` }]],
    ['an absent property', [{ action: 'remove-properties', removals: ['none'] }]],
    ['the current version', [{ action: 'set-current-view-version', viewVersionId: 1 }]],
    ['an equal version', replaceWith(version('select 1', { versionId: 9, schemaId: 0 }))],
  ])('leave the base as it is: %s', (_name, updates) => {
    expect(commit(view, updates)).toBe(view)
  })
})

describe('updates of attributes', () => {
  it('set and remove properties, none of them reserved', () => {
    const set = commit(view, [
      { action: 'set-properties', updates: { a: '1', uuid: 'x', 'format-version': '9' } },
      { action: 'set-properties', updates: { b: '' } },
    ])
    expect(set.properties).toEqual({ a: '1', uuid: 'x', 'format-version': '9', b: '' })
    expect(commit(set, [{ action: 'remove-properties', removals: ['a', 'b'] }]).properties).toEqual(
      {
        uuid: 'x',
        'format-version': '9',
      },
    )
  })

  it('move the view', () => {
    const moved = commit(view, [{ action: 'set-location', location: 's3://bucket/new/' }])
    expect(moved).toEqual({ ...view, location: 's3://bucket/new' })
  })

  it('keep members that nobody knows', () => {
    const strange = { ...view, extra: { 'x-view': 1n } }
    expect(commit(strange, [{ action: 'set-properties', updates: { a: '1' } }]).extra).toEqual({
      'x-view': 1n,
    })
  })

  it.each<[string, ViewUpdate, string]>([
    [
      'another UUID',
      { action: 'assign-uuid', uuid: '00000000-0000-4000-8000-000000000000' },
      'Cannot reassign uuid',
    ],
    [
      'a higher format version',
      { action: 'upgrade-format-version', formatVersion: 2 },
      'Unsupported format version: v2',
    ],
    [
      'a lower format version',
      { action: 'upgrade-format-version', formatVersion: 0 },
      'Unsupported format version: v0',
    ],
    ['an empty location', { action: 'set-location', location: '' }, 'Cannot set location'],
    [
      'a schema that breaks the rules',
      { action: 'add-schema', schema: schemaNamed('twice', 'twice') },
      'multiple fields for name twice',
    ],
    [
      'a history of none',
      { action: 'set-properties', updates: { 'version.history.num-entries': '0' } },
      'version.history.num-entries must be positive but was 0',
    ],
    [
      'a history that is no number',
      { action: 'set-properties', updates: { 'version.history.num-entries': 'ten' } },
      'version.history.num-entries must be positive but was ten',
    ],
  ])('are refused: %s', (_name, update, message) => {
    expect(() => commit(view, [update])).toThrow(InvalidInputError)
    expect(() => commit(view, [update])).toThrow(message)
  })
})

describe('add-schema', () => {
  it('gives the next id whatever id was sent, and keeps field ids', () => {
    const after = commit(view, [{ action: 'add-schema', schema: schemaNamed('a', 'b') }])
    expect(after.schemas.map(({ schemaId }) => schemaId)).toEqual([0, 1])
    expect(after.schemas[1]?.fields.map(({ id }) => id)).toEqual([1, 2])
    expect(after.versions).toEqual(view.versions)
  })

  it('takes every type and default of the newest table format', () => {
    const schema = {
      schemaId: 0,
      fields: [
        { id: 1, name: 'v', required: false, type: { kind: 'variant' as const } },
        { id: 2, name: 'n', required: false, type: { kind: 'long' as const }, initialDefault: 5n },
      ],
      identifierFieldIds: [],
    }
    expect(commit(view, [{ action: 'add-schema', schema }]).schemas).toHaveLength(2)
  })
})

describe('add-view-version', () => {
  it('takes −1 for the schema that this request added last (B072)', () => {
    const after = commit(view, [
      { action: 'add-schema', schema: schemaNamed('a', 'b') },
      ...replaceWith(version('select 2', { versionId: 2 })),
    ])
    expect(after.currentVersionId).toBe(2)
    expect(after.versions.at(-1)).toMatchObject({ versionId: 2, schemaId: 1 })
  })

  it('takes −1 for an equal schema that was there before', () => {
    const after = commit(view, [
      { action: 'add-schema', schema: schemaNamed('a') },
      ...replaceWith(version('select 2', { versionId: 2 })),
    ])
    expect(after.schemas).toEqual(view.schemas)
    expect(after.versions.at(-1)).toMatchObject({ versionId: 2, schemaId: 0 })
  })

  it.each([
    ['−1 without a schema', -1, ValidationFailedError, 'Cannot set last added schema'],
    ['an unknown schema', 5, InvalidInputError, 'Cannot add version with unknown schema: 5'],
  ])('refuses %s (B072)', (_name, schemaId, error, message) => {
    const act = () => commit(view, replaceWith(version('select 2', { schemaId })))
    expect(act).toThrow(error)
    expect(act).toThrow(message)
  })

  it('gives a taken id, or a lower one, the next after the highest, and −1 means that one', () => {
    const two = commit(view, replaceWith(version('select 2', { versionId: 5, schemaId: 0 })))
    expect(two.currentVersionId).toBe(5)
    const three = commit(two, replaceWith(version('select 3', { versionId: 5, schemaId: 0 })))
    expect(three.currentVersionId).toBe(6)
    const four = commit(three, replaceWith(version('select 4', { versionId: 2, schemaId: 0 })))
    expect(four.currentVersionId).toBe(7)
    expect(four.versionLog.map(({ versionId }) => versionId)).toEqual([1, 5, 6, 7])
  })

  it('uses a version with the same content again, whatever its id and time (B075)', () => {
    const two = commit(view, replaceWith(version('select 2', { versionId: 2, schemaId: 0 })))
    const again = version('select 1', { versionId: 3, schemaId: 0, timestampMs: 99 })
    const back = commit(two, replaceWith(again))
    expect(back.versions).toEqual(two.versions)
    expect(back.currentVersionId).toBe(1)
    expect(back.versionLog.at(-1)).toEqual({ versionId: 1, timestampMs: COMMIT_MS })
  })

  it.each<[string, Parameters<typeof version>[1]]>([
    ['summary', { summary: {} }],
    ['default namespace', { defaultNamespace: [] }],
    ['default catalog', { defaultCatalog: 'other' }],
    ['unknown members', { extra: { x: 1n } }],
    ['representations', { dialects: ['spark', 'trino'] }],
  ])('tells versions apart by their %s', (_name, more) => {
    const added = version('select 1', { versionId: 2, schemaId: 0, ...more })
    expect(commit(view, replaceWith(added)).currentVersionId).toBe(2)
  })

  it('refuses two queries for one dialect in any case (B074)', () => {
    const act = () =>
      commit(view, replaceWith(version('x', { schemaId: 0, dialects: ['trino', 'Trino'] })))
    expect(act).toThrow(InvalidInputError)
    expect(act).toThrow('Invalid view version: Cannot add multiple queries for dialect trino')
  })

  it('refuses a version without a representation (B074)', () => {
    const empty = version('x', { schemaId: 0, representations: [] })
    expect(() => commit(view, replaceWith(empty))).toThrow('it has no representation')
  })

  it('keeps representations of unknown types (B074)', () => {
    const other = { kind: 'other' as const, type: 'plan', members: { bytes: 'AA==' } }
    const added = version('x', {
      schemaId: 0,
      versionId: 2,
      representations: [sql('x'), other, other],
    })
    expect(commit(view, replaceWith(added)).versions.at(-1)?.representations).toHaveLength(3)
  })

  it('refuses ids beyond 32 bits', () => {
    const last = commit(
      view,
      replaceWith(version('select 2', { versionId: 2_147_483_647, schemaId: 0 })),
    )
    expect(() => commit(last, replaceWith(version('select 3', { schemaId: 0 })))).toThrow(
      'no version id is left',
    )
  })
})

describe('set-current-view-version', () => {
  const two = commit(
    view,
    replaceWith(version('select 2', { versionId: 2, schemaId: 0, timestampMs: 1_234 })),
  )

  it('logs the time of a version that this request added', () => {
    expect(two.versionLog).toEqual([
      { versionId: 1, timestampMs: CREATED_MS },
      { versionId: 2, timestampMs: 1_234 },
    ])
  })

  it('logs the time of the commit when it goes back to an earlier version (B075)', () => {
    const back = commit(two, [{ action: 'set-current-view-version', viewVersionId: 1 }])
    expect(back.versionLog.at(-1)).toEqual({ versionId: 1, timestampMs: COMMIT_MS })
    expect(back.versions).toEqual(two.versions)
  })

  it('logs only what is current in the end', () => {
    const there = commit(two, [
      { action: 'set-current-view-version', viewVersionId: 1 },
      { action: 'set-current-view-version', viewVersionId: 2 },
    ])
    expect(there.versionLog).toEqual(two.versionLog)
  })

  it.each([
    ['−1 without a version', -1, ValidationFailedError, 'Cannot set last version id'],
    [
      'an unknown version',
      9,
      InvalidInputError,
      'Cannot set current version to unknown version: 9',
    ],
  ])('refuses %s', (_name, viewVersionId, error, message) => {
    const act = () => commit(two, [{ action: 'set-current-view-version', viewVersionId }])
    expect(act).toThrow(error)
    expect(act).toThrow(message)
  })
})

describe('dialects', () => {
  const both = sampleView({ viewVersion: version('select 1', { dialects: ['Spark', 'trino'] }) })
  const only = replaceWith(version('select 2', { schemaId: 0, dialects: ['spark'] }))

  it('must not get lost', () => {
    expect(() => commit(both, only)).toThrow(InvalidInputError)
    expect(() => commit(both, only)).toThrow('Cannot replace view due to loss of view dialects')
  })

  it('may get lost when the property says so, also when it comes with the same commit', () => {
    const allow = {
      action: 'set-properties' as const,
      updates: { 'replace.drop-dialect.allowed': 'TRUE' },
    }
    expect(commit(both, [allow, ...only]).currentVersionId).toBe(2)
    expect(commit(both, [...only, allow]).currentVersionId).toBe(2)
  })

  it('may grow and change their case', () => {
    const more = version('select 2', { schemaId: 0, dialects: ['TRINO', 'spark', 'duckdb'] })
    expect(commit(both, replaceWith(more)).currentVersionId).toBe(2)
  })

  it('may be absent from a version that is added and not made current', () => {
    expect(commit(both, only.slice(0, 1)).versions).toHaveLength(2)
  })
})

describe('history', () => {
  const short = sampleView({ properties: { 'version.history.num-entries': '2' } })
  const add = (base: typeof view, id: number) =>
    commit(
      base,
      replaceWith(version(`select ${id}`, { versionId: id, schemaId: 0, timestampMs: id })),
    )
  const ids = ({ versions }: typeof view) => versions.map(({ versionId }) => versionId)
  const log = ({ versionLog }: typeof view) => versionLog.map(({ versionId }) => versionId)

  it('keeps the newest versions, and the log from the last gap on (B075)', () => {
    const five = [2, 3, 4, 5].reduce(add, short)
    expect(ids(five)).toEqual([4, 5])
    expect(log(five)).toEqual([4, 5])
    expect(() => commit(five, [{ action: 'set-current-view-version', viewVersionId: 1 }])).toThrow(
      'unknown version: 1',
    )
    const six = add(five, 6)
    expect(ids(six)).toEqual([5, 6])
    expect(log(six)).toEqual([5, 6])
  })

  it('never drops the current version, however old it is (B075)', () => {
    const three = [2, 3].reduce(add, sampleView())
    const back = commit(three, [
      { action: 'set-properties', updates: { 'version.history.num-entries': '2' } },
      { action: 'set-current-view-version', viewVersionId: 1 },
    ])
    expect(ids(back)).toEqual([1, 3])
    expect(log(back)).toEqual([3, 1])
    const again = commit(back, [
      {
        action: 'add-view-version',
        viewVersion: version('select 9', { versionId: 9, schemaId: 0 }),
      },
    ])
    expect(ids(again)).toEqual([1, 9])
    expect(again.currentVersionId).toBe(1)
    expect(log(again)).toEqual([1])
  })

  it('never drops what the commit itself added', () => {
    const one = commit(short, [
      { action: 'set-properties', updates: { 'version.history.num-entries': '1' } },
      ...[2, 3, 4].flatMap((id) =>
        replaceWith(version(`select ${id}`, { versionId: id, schemaId: 0 })),
      ),
    ])
    expect(ids(one)).toEqual([2, 3, 4])
    expect(log(one)).toEqual([4])
  })

  it('is ten versions long unless the view says otherwise', () => {
    const many = Array.from({ length: 14 }, (_, index) => index + 2).reduce(add, view)
    expect(ids(many)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
  })
})

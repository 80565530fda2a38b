import { describe, expect, it } from 'vitest'
import { CommitFailedError, InvalidInputError } from '../spec/errors.ts'
import { checkRequirements, createsTable } from './check-requirements.ts'
import { appended, commit, SAMPLE_UUID, sampleTable } from './sample-table.ts'
import type { TableRequirement } from './table-update.ts'

const empty = sampleTable()
const table = commit(appended(empty, 11n), [
  { action: 'set-snapshot-ref', refName: 'v1', ref: { snapshotId: 11n, type: 'tag' } },
])
const otherUuid = '00000000-0000-4000-8000-000000000000'

describe('requirements that hold', () => {
  it.each<readonly [string, TableRequirement]>([
    ['the UUID', { type: 'assert-table-uuid', uuid: SAMPLE_UUID }],
    ['the UUID in capitals', { type: 'assert-table-uuid', uuid: SAMPLE_UUID.toUpperCase() }],
    ['the head of main', { type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: 11n }],
    ['a tag', { type: 'assert-ref-snapshot-id', ref: 'v1', snapshotId: 11n }],
    ['a ref that must not exist', { type: 'assert-ref-snapshot-id', ref: 'dev' }],
    [
      '-1 for a ref that must not exist',
      { type: 'assert-ref-snapshot-id', ref: 'dev', snapshotId: -1n },
    ],
    [
      'a ref with a name that objects inherit',
      { type: 'assert-ref-snapshot-id', ref: 'constructor' },
    ],
    ['the last field id', { type: 'assert-last-assigned-field-id', lastAssignedFieldId: 3 }],
    ['the current schema', { type: 'assert-current-schema-id', currentSchemaId: 0 }],
    [
      'the last partition id',
      { type: 'assert-last-assigned-partition-id', lastAssignedPartitionId: 1000 },
    ],
    ['the default spec', { type: 'assert-default-spec-id', defaultSpecId: 0 }],
    ['the default sort order', { type: 'assert-default-sort-order-id', defaultSortOrderId: 0 }],
  ])('passes %s', (_, requirement) => {
    expect(() =>
      checkRequirements(table, { requirements: [requirement], updates: [] }),
    ).not.toThrow()
  })
})

describe('requirements that do not hold fail with the text that clients read', () => {
  it.each<readonly [TableRequirement, string]>([
    [{ type: 'assert-create' }, 'table already exists'],
    [
      { type: 'assert-table-uuid', uuid: otherUuid },
      `UUID does not match: expected ${SAMPLE_UUID} != ${otherUuid}`,
    ],
    [{ type: 'assert-ref-snapshot-id', ref: 'main' }, 'branch main was created concurrently'],
    [{ type: 'assert-ref-snapshot-id', ref: 'v1' }, 'tag v1 was created concurrently'],
    [
      { type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: 12n },
      'branch main has changed: expected id 12 != 11',
    ],
    [
      { type: 'assert-ref-snapshot-id', ref: 'dev', snapshotId: 5n },
      'branch or tag dev is missing, expected 5',
    ],
    [
      { type: 'assert-last-assigned-field-id', lastAssignedFieldId: 9 },
      'last assigned field id changed: expected id 9 != 3',
    ],
    [
      { type: 'assert-current-schema-id', currentSchemaId: 9 },
      'current schema changed: expected id 9 != 0',
    ],
    [
      { type: 'assert-last-assigned-partition-id', lastAssignedPartitionId: 9 },
      'last assigned partition id changed: expected id 9 != 1000',
    ],
    [
      { type: 'assert-default-spec-id', defaultSpecId: 9 },
      'default partition spec changed: expected id 9 != 0',
    ],
    [
      { type: 'assert-default-sort-order-id', defaultSortOrderId: 9 },
      'default sort order changed: expected id 9 != 0',
    ],
  ])('%o', (requirement, text) => {
    const check = () => checkRequirements(table, { requirements: [requirement], updates: [] })
    expect(check).toThrow(new CommitFailedError(`Requirement failed: ${text}`))
    expect(check).toThrow(CommitFailedError)
  })
})

describe('assert-create', () => {
  it('passes for a missing table', () => {
    expect(() =>
      checkRequirements(undefined, { requirements: [{ type: 'assert-create' }], updates: [] }),
    ).not.toThrow()
  })

  it('must stand alone', () => {
    const requirements: TableRequirement[] = [
      { type: 'assert-create' },
      { type: 'assert-table-uuid', uuid: SAMPLE_UUID },
    ]
    expect(() => createsTable({ requirements, updates: [] })).toThrow(InvalidInputError)
    expect(() => checkRequirements(table, { requirements, updates: [] })).toThrow(InvalidInputError)
  })

  it('tells creates from updates', () => {
    expect(createsTable({ requirements: [{ type: 'assert-create' }], updates: [] })).toBe(true)
    expect(createsTable({ requirements: [], updates: [] })).toBe(false)
  })
})

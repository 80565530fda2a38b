import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { appendDays, makeDayTable, plan, plannedFiles, planTasks, tasks } from '../test-plans.ts'
import { makeNamespace, type TestTable } from '../test-tables.ts'

const PAGE_FILES = 3

let catalog: TestCatalog
let table: TestTable
beforeAll(async () => {
  const planning = { pageFilesMax: PAGE_FILES, asyncFilesMax: 1_000, lifetimeMs: 60_000 }
  catalog = await openTestCatalog({
    config: { planning: { ...planning, cacheBytesMax: 1_000_000, plansMax: 4 } },
  })
  await makeNamespace(catalog, ['ns'])
  table = await makeDayTable(catalog, 'planned')
  await appendDays(catalog, table, { snapshotId: 11n, days: [0, 1] })
  await appendDays(catalog, table, { snapshotId: 12n, days: [0, 1, 2, 3, 4, 5, 6] })
})
afterAll(() => catalog.stop())

const below = (value: number) => ({ type: 'lt', term: 'value', value })

it('gives out few files at once, with what readers need', async () => {
  const filter = {
    type: 'and',
    left: { type: 'lt', term: 'ts', value: '1970-01-02T00:00:00+00:00' },
    right: { type: 'gt-eq', term: 'value', value: 0.25 },
  }
  const answer = await plan(catalog, table, { filter, 'stats-fields': ['value'] })
  expect(answer.status, answer.text).toBe(200)
  expect(member(answer.json, 'status')).toBe('completed')
  expect(textAt(answer.json, 'plan-id').length).toBeLessThan(100)
  expect(planTasks(answer)).toEqual([])
  expect(member(answer.json, 'file-scan-tasks')).toEqual([
    {
      'data-file': {
        content: 'data',
        'file-path': `${table.location}/data/0.parquet`,
        'file-format': 'parquet',
        'spec-id': 0n,
        partition: ['1970-01-01'],
        'file-size-in-bytes': 1_000n,
        'record-count': 10n,
        'data-sequence-number': 2n,
        'split-offsets': [4n],
        'nan-value-counts': { keys: [2n], values: [0n] },
        'lower-bounds': { keys: [2n], values: ['0000000000000000'] },
        'upper-bounds': { keys: [2n], values: ['000000000000E03F'] },
      },
      // The day proves the first half.
      'residual-filter': { type: 'gt-eq', term: 'value', value: 0.25 },
    },
  ])
})

it('gives out many files as tasks of so many, each file once and in order', async () => {
  const answer = await plan(catalog, table, {})
  expect(member(answer.json, 'status')).toBe('completed')
  expect(plannedFiles(answer)).toEqual([])
  const pages = await Promise.all(
    planTasks(answer).map(async (each) => plannedFiles(await tasks(catalog, table, each))),
  )
  expect(pages).toEqual([['0', '1', '2'], ['3', '4', '5'], ['6']])
})

it('looks at no file of a whole table before its tasks are asked', async () => {
  const lost = await makeDayTable(catalog, 'lost')
  await appendDays(catalog, lost, { snapshotId: 41n, days: [0, 1, 2, 3] })
  const manifest = `${lost.location}/metadata/00000000-0000-4000-8000-000000000041-m0.avro`
  expect(await catalog.store.stat(manifest)).toBeDefined()
  await catalog.store.delete(manifest)
  const answer = await plan(catalog, lost, {})
  expect(answer.status, answer.text).toBe(200)
  const [task = ''] = planTasks(answer)
  expect((await tasks(catalog, lost, task)).status).toBe(404)
  const filter = { type: 'not-null', term: 'value' }
  expect((await plan(catalog, lost, { filter })).status).toBe(404)
})

it('plans the snapshot that was asked for, and an empty table', async () => {
  const old = await plan(catalog, table, { 'snapshot-id': 11n })
  expect(plannedFiles(old)).toEqual(['0', '1'])
  const empty = await makeDayTable(catalog, 'empty')
  const none = await plan(catalog, empty, {})
  expect(member(none.json, 'file-scan-tasks')).toEqual([])
})

it('plans what was appended after a snapshot', async () => {
  const range = { 'start-snapshot-id': 11n, 'end-snapshot-id': 12n }
  const filter = below(2)
  const appended = await plan(catalog, table, { ...range, filter })
  expect(plannedFiles(appended)).toEqual(['0', '1'])
  const nothing = await plan(catalog, table, {
    'start-snapshot-id': 12n,
    'end-snapshot-id': 12n,
  })
  expect(plannedFiles(nothing)).toEqual([])
})

it('stops when the files are sure to hold the rows that are enough', async () => {
  const answer = await plan(catalog, table, { 'min-rows-requested': 15n })
  expect(plannedFiles(answer)).toEqual(['0', '1'])
  const unsure = await plan(catalog, table, { 'min-rows-requested': 15n, filter: below(2.25) })
  expect(plannedFiles(unsure)).toEqual(['0', '1', '2'])
})

it.each<[string, JsonObject, string]>([
  ['a snapshot', { 'snapshot-id': 99n }, '99'],
  ['a start', { 'start-snapshot-id': 99n, 'end-snapshot-id': 12n }, '99'],
  ['a column in the filter', { filter: { type: 'is-null', term: 'nope' } }, 'nope'],
  ['a column to select', { select: ['ts', 'nope'] }, 'select[1]'],
  ['a column for metrics', { 'stats-fields': ['nope'] }, 'stats-fields[0]'],
  ['a column in another case', { select: ['TS'] }, 'select[0]'],
])('refuses %s that is not there, by name', async (_, body, name) => {
  const answer = await plan(catalog, table, body)
  expect(answer.status, answer.text).toBe(400)
  expect(errorOf(answer).type).toBe('ValidationException')
  expect(errorOf(answer).message).toContain(name)
})

it('takes columns in any case when asked, and those that engines add', async () => {
  const select = ['TS', '_file', '_pos', '_partition.day']
  const filter = { type: 'lt', term: 'VALUE', value: 1 }
  const answer = await plan(catalog, table, { select, filter, 'case-sensitive': false })
  expect(plannedFiles(answer)).toEqual(['0'])
})

it('answers 404 for a table that is missing', async () => {
  const answer = await plan(catalog, { path: '/v1/main/namespaces/ns/tables/nope' }, {})
  expect(answer.status).toBe(404)
  expect(errorOf(answer).type).toBe('NoSuchTableException')
})

it.each([
  ['one page', [0]],
  ['several', [0, 1, 2, 3]],
])(
  'leaves a table of %s to the client whose manifest lies with another table, and does not read it',
  async (_, days) => {
    const other = await makeDayTable(catalog, `others${days.length}`)
    const hostile = await makeDayTable(catalog, `hostile${days.length}`)
    const manifestFolder = `${other.location}/metadata`
    await appendDays(catalog, hostile, { snapshotId: 21n, days, manifestFolder })
    const answer = await plan(catalog, hostile, {})
    expect(answer.status, answer.text).toBe(406)
    expect(errorOf(answer).message).toContain('lies outside the table')
    // The same files in the table's own folder are planned.
    const sound = await makeDayTable(catalog, `sound${days.length}`)
    await appendDays(catalog, sound, { snapshotId: 21n, days })
    expect((await plan(catalog, sound, {})).status).toBe(200)
  },
)

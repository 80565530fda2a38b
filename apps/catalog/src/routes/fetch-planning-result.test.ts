import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeOnPostgres } from '../on-each-database.ts'
import { openTestCatalog, type TestAnswer, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { appendDays, makeDayTable, plan, plannedFiles, planTasks, tasks } from '../test-plans.ts'
import { makeNamespace, type TestTable } from '../test-tables.ts'

const LIFETIME_MS = 60_000
/** Every plan of a table with files is made while the caller polls, but those of whole tables of more than a page. */
const planning = { pageFilesMax: 2, asyncFilesMax: 0, lifetimeMs: LIFETIME_MS }
const config = { planning: { ...planning, cacheBytesMax: 1_000_000, plansMax: 4 } }

const EVERY_VALUE = { filter: { type: 'not-null', term: 'value' } }

const submitted = async (
  catalog: TestCatalog,
  table: TestTable,
  body: JsonObject = EVERY_VALUE,
): Promise<string> => {
  const answer = await plan(catalog, table, body)
  expect(answer.status, answer.text).toBe(200)
  expect(member(answer.json, 'status')).toBe('submitted')
  expect(answer.headers['retry-after']).toBe('1')
  expect(answer.text).not.toContain('tasks')
  return textAt(answer.json, 'plan-id')
}

/** The first answer to a poll that is not `submitted`. */
const polled = (catalog: TestCatalog, table: TestTable, planId: string): Promise<TestAnswer> =>
  waitFor(
    async () => {
      const answer = await catalog.call('GET', `${table.path}/plan/${planId}`)
      return answer.text.includes('"submitted"') ? undefined : answer
    },
    { timeoutMs: 10_000 },
  )

const filesOf = async (catalog: TestCatalog, table: TestTable, answer: TestAnswer) => {
  const pages = await Promise.all(
    planTasks(answer).map(async (each) => plannedFiles(await tasks(catalog, table, each))),
  )
  return [...plannedFiles(answer), ...pages.flat()]
}

const NO_PLAN = { type: 'NoSuchPlanIdException', code: 404 }

describe('one process', () => {
  let catalog: TestCatalog
  let table: TestTable
  beforeAll(async () => {
    catalog = await openTestCatalog({ config })
    await makeNamespace(catalog, ['ns'])
    table = await makeDayTable(catalog, 'polled')
    await appendDays(catalog, table, { snapshotId: 11n, days: [0, 1, 2, 3, 4] })
  })
  afterAll(() => catalog.stop())

  it('gives the files of a plan, or tasks for them, however often it is asked', async () => {
    const planId = await submitted(catalog, table)
    const answer = await polled(catalog, table, planId)
    expect(await filesOf(catalog, table, answer)).toEqual(['0', '1', '2', '3', '4'])
    expect((await polled(catalog, table, planId)).text).toBe(answer.text)
    const few = await submitted(catalog, table, {
      filter: { type: 'gt', term: 'value', value: 3.75 },
    })
    expect(plannedFiles(await polled(catalog, table, few))).toEqual(['4'])
  })

  it('pins the state of the table at the time of the request', async () => {
    const pinned = await makeDayTable(catalog, 'pinned')
    await appendDays(catalog, pinned, { snapshotId: 21n, days: [0, 1, 2] })
    const planId = await submitted(catalog, pinned)
    await appendDays(catalog, pinned, { snapshotId: 22n, days: [8, 9] })
    const answer = await polled(catalog, pinned, planId)
    expect(await filesOf(catalog, pinned, answer)).toEqual(['0', '1', '2'])
  })

  it('gives tasks for a whole table at once, for it looks at no file', async () => {
    const answer = await plan(catalog, table, {})
    expect(member(answer.json, 'status')).toBe('completed')
    expect(planTasks(answer)).toHaveLength(3)
    expect(await filesOf(catalog, table, answer)).toEqual(['0', '1', '2', '3', '4'])
    const again = await polled(catalog, table, textAt(answer.json, 'plan-id'))
    expect(again.text).toBe(answer.text)
  })

  it('answers PyIceberg at once, which cannot poll', async () => {
    for (const name of ['user-agent', 'x-client-version']) {
      const answer = await plan(catalog, table, EVERY_VALUE, {
        headers: { [name]: 'PyIceberg/0.12.0' },
      })
      expect(member(answer.json, 'status')).toBe('completed')
      expect(await filesOf(catalog, table, answer)).toEqual(['0', '1', '2', '3', '4'])
    }
  })

  it('says the same again of a plan that was answered at once', async () => {
    const headers = { 'user-agent': 'PyIceberg/0.12.0' }
    const answer = await plan(catalog, table, EVERY_VALUE, { headers })
    const again = await polled(catalog, table, textAt(answer.json, 'plan-id'))
    expect(again.text).toBe(answer.text)
  })

  it('tells why a plan failed, inside an answer of 200', async () => {
    const broken = await makeDayTable(catalog, 'broken')
    await appendDays(catalog, broken, { snapshotId: 31n, days: [0] })
    const manifest = `${broken.location}/metadata/00000000-0000-4000-8000-000000000031-m0.avro`
    expect(await catalog.store.stat(manifest)).toBeDefined()
    await catalog.store.delete(manifest)
    const planId = await submitted(catalog, broken)
    const answer = await polled(catalog, broken, planId)
    expect(answer.status).toBe(200)
    expect(member(answer.json, 'status')).toBe('failed')
    expect(errorOf(answer)).toMatchObject({ type: 'NotFoundException', code: 404 })
  })

  it('B120: knows no plan of another table, no forged one and none that is over', async () => {
    const planId = await submitted(catalog, table)
    await polled(catalog, table, planId)
    const other = await makeDayTable(catalog, 'other')
    const missing = (path: string) => catalog.call('GET', path)
    expect(errorOf(await missing(`${other.path}/plan/${planId}`))).toMatchObject(NO_PLAN)
    const forged = `${planId.startsWith('A') ? 'B' : 'A'}${planId.slice(1)}`
    expect(errorOf(await missing(`${table.path}/plan/${forged}`))).toMatchObject(NO_PLAN)
    expect(errorOf(await missing(`${table.path}/plan/none`))).toMatchObject(NO_PLAN)
    expect(errorOf(await missing(`${table.path}-gone/plan/${planId}`)).type).toBe(
      'NoSuchTableException',
    )
    catalog.clock.advance(LIFETIME_MS)
    expect(errorOf(await missing(`${table.path}/plan/${planId}`))).toMatchObject(NO_PLAN)
  })
})

describeOnPostgres('two processes on one database', () => {
  it('I52: a plan outlives the process that began it, and any process can answer', async () => {
    const first = await openTestCatalog({ on: 'postgres', config })
    await makeNamespace(first, ['ns'])
    const table = await makeDayTable(first, 'shared')
    await appendDays(first, table, { snapshotId: 11n, days: [0, 1, 2, 3, 4] })
    const second = await openTestCatalog({ sharing: first, config })
    try {
      const planId = await submitted(first, table)
      const elsewhere = await polled(second, table, planId)
      expect(await filesOf(second, table, elsewhere)).toEqual(['0', '1', '2', '3', '4'])
      const here = await polled(first, table, planId)
      expect(here.text).toBe(elsewhere.text)
      // Nobody has worked on a plan whose process died at once.
      await first.database.query('update scan_plan set pages = null')
      expect((await polled(second, table, planId)).text).toBe(elsewhere.text)
      const gone = await second.call('DELETE', `${table.path}/plan/${planId}`)
      expect(gone.status).toBe(204)
      const after = await first.call('GET', `${table.path}/plan/${planId}`)
      expect(errorOf(after)).toMatchObject(NO_PLAN)
    } finally {
      await second.stop()
      await first.stop()
    }
  })
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOnPostgres } from '../on-each-database.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf } from '../test-json.ts'
import { appendDays, makeDayTable, plan, plannedFiles, planTasks, tasks } from '../test-plans.ts'
import { makeNamespace, type TestTable } from '../test-tables.ts'

const LIFETIME_MS = 60_000

let catalog: TestCatalog
let table: TestTable
beforeAll(async () => {
  const planning = { pageFilesMax: 2, asyncFilesMax: 1_000, lifetimeMs: LIFETIME_MS }
  catalog = await openTestCatalog({
    config: { planning: { ...planning, cacheBytesMax: 1_000_000, plansMax: 4 } },
  })
  await makeNamespace(catalog, ['ns'])
  table = await makeDayTable(catalog, 'tasks')
  await appendDays(catalog, table, { snapshotId: 11n, days: [0, 1, 2, 3, 4] })
})
afterAll(() => catalog.stop())

const firstTask = async (body = {}) => planTasks(await plan(catalog, table, body))[0] ?? ''

const refusedAs404 = async (of: TestTable, planTask: string) => {
  const answer = await tasks(catalog, of, planTask)
  expect(answer.status, answer.text).toBe(404)
  expect(errorOf(answer).type).toBe('NoSuchPlanTaskException')
}

it('I51: the same task gives the same files, also after later commits', async () => {
  const task = await firstTask()
  const before = await tasks(catalog, table, task)
  expect(plannedFiles(before)).toEqual(['0', '1'])
  await appendDays(catalog, table, { snapshotId: 12n, days: [7, 8, 9] })
  expect((await tasks(catalog, table, task)).text).toBe(before.text)
  const changed = await catalog.call('POST', table.path, {
    body: { requirements: [], updates: [{ action: 'set-properties', updates: { a: 'b' } }] },
  })
  expect(changed.status).toBe(200)
  expect((await tasks(catalog, table, task)).text).toBe(before.text)
})

it('B120: a task is good for its table alone', async () => {
  const other = await makeDayTable(catalog, 'other')
  await appendDays(catalog, other, { snapshotId: 11n, days: [0, 1, 2, 3, 4] })
  const task = await firstTask()
  await refusedAs404(other, task)
  const missing = await tasks(catalog, { path: `${table.path}-gone` }, task)
  expect(errorOf(missing).type).toBe('NoSuchTableException')
})

it('B120: a table of the same name is another table', async () => {
  const doomed = await makeDayTable(catalog, 'doomed')
  await appendDays(catalog, doomed, { snapshotId: 11n, days: [0, 1, 2] })
  const [task = ''] = planTasks(await plan(catalog, doomed, {}))
  expect((await catalog.call('DELETE', doomed.path)).status).toBe(204)
  const again = await makeDayTable(catalog, 'doomed')
  await appendDays(catalog, again, { snapshotId: 11n, days: [0, 1, 2] })
  await refusedAs404(again, task)
})

it('B120: a forged task is refused, whichever of its bytes was changed', async () => {
  const task = await firstTask()
  for (let at = 0; at < task.length; at += 7) {
    const other = task[at] === 'A' ? 'B' : 'A'
    await refusedAs404(table, `${task.slice(0, at)}${other}${task.slice(at + 1)}`)
  }
  for (const forged of ['', 'x', 'none', `${task}A`, `${task}=`, task.slice(0, -1)]) {
    await refusedAs404(table, forged)
  }
  await refusedAs404(table, 'A'.repeat(100_000))
})

it('B120: the id of a plan is no task', async () => {
  const answer = await plan(catalog, table, {})
  await refusedAs404(table, String(/"plan-id":"([^"]*)"/.exec(answer.text)?.[1]))
})

it('B120: a task whose snapshot was expired is gone', async () => {
  const expiring = await makeDayTable(catalog, 'expiring')
  await appendDays(catalog, expiring, { snapshotId: 21n, days: [0, 1, 2] })
  const [task = ''] = planTasks(await plan(catalog, expiring, {}))
  await appendDays(catalog, expiring, { snapshotId: 22n, days: [5] })
  const updates = [{ action: 'remove-snapshots', 'snapshot-ids': [21n] }]
  const removed = await catalog.call('POST', expiring.path, { body: { requirements: [], updates } })
  expect(removed.status, removed.text).toBe(200)
  await refusedAs404(expiring, task)
})

describeOnPostgres('two processes of which one gives out smaller pages', () => {
  it('gives further tasks for a page that is too large for one answer', async () => {
    const configOf = (pageFilesMax: number) => ({
      planning: {
        pageFilesMax,
        asyncFilesMax: 1_000,
        lifetimeMs: LIFETIME_MS,
        cacheBytesMax: 1,
        plansMax: 4,
      },
    })
    const first = await openTestCatalog({ on: 'postgres', config: configOf(4) })
    await makeNamespace(first, ['ns'])
    const shared = await makeDayTable(first, 'shared')
    await appendDays(first, shared, { snapshotId: 11n, days: [0, 1, 2, 3, 4] })
    const second = await openTestCatalog({ sharing: first, config: configOf(3) })
    try {
      const [task = ''] = planTasks(await plan(first, shared, {}))
      const large = await tasks(second, shared, task)
      expect(plannedFiles(large)).toEqual([])
      const pages = await Promise.all(
        planTasks(large).map(async (each) => plannedFiles(await tasks(second, shared, each))),
      )
      expect(pages).toEqual([['0', '1', '2'], ['3']])
    } finally {
      await second.stop()
      await first.stop()
    }
  })
})

it('refuses a request without a task', async () => {
  const answer = await catalog.call('POST', `${table.path}/tasks`, { body: {} })
  expect(answer.status).toBe(400)
  expect(errorOf(answer).message).toContain('plan-task')
})

it('keeps a filter that does not fit into tasks, and its tasks are small', async () => {
  const values = [...Array(5_000).keys()].map((n) => n * 0.37)
  const filter = { type: 'not-in', term: 'value', values }
  const answer = await plan(catalog, table, { 'snapshot-id': 11n, filter })
  expect(answer.status, answer.text.slice(0, 200)).toBe(200)
  const found = planTasks(answer)
  expect(found).toHaveLength(3)
  expect(Math.max(...found.map((task) => task.length))).toBeLessThan(300)
  const pages = await Promise.all(
    found.map(async (task) => plannedFiles(await tasks(catalog, table, task))),
  )
  expect(pages).toEqual([['0', '1'], ['2', '3'], ['4']])
})

it('B120: a task whose time is over is gone', async () => {
  const task = await firstTask()
  expect((await tasks(catalog, table, task)).status).toBe(200)
  catalog.clock.advance(LIFETIME_MS)
  await refusedAs404(table, task)
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendDays, makeDayTable, plan, plannedFiles } from '../test-plans.ts'
import { makeNamespace, type TestTable } from '../test-tables.ts'

let catalog: TestCatalog
let table: TestTable
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
  table = await makeDayTable(catalog, 'moving')
  await appendDays(catalog, table, { snapshotId: 11n, days: [0, 1] })
})
afterAll(() => catalog.stop())

const moveTo = (location: string) => {
  const updates = [{ action: 'set-location', location }]
  return catalog.call('POST', table.path, { body: { requirements: [], updates } })
}

it('plans what still lies where the table was', async () => {
  expect((await moveTo(`${catalog.warehouse.location}/elsewhere/moving`)).status).toBe(200)
  const answer = await plan(catalog, table, {})
  expect(answer.status, answer.text).toBe(200)
  expect(plannedFiles(answer)).toEqual(['0', '1'])
})

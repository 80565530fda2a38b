import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, textAt } from '../test-json.ts'
import { appendDays, makeDayTable, plan } from '../test-plans.ts'
import { makeNamespace, type TestTable } from '../test-tables.ts'

let catalog: TestCatalog
let table: TestTable
let holdReads: Promise<void> | undefined
beforeAll(async () => {
  const planning = { pageFilesMax: 2, asyncFilesMax: 2, lifetimeMs: 60_000 }
  catalog = await openTestCatalog({
    config: { planning: { ...planning, cacheBytesMax: 1_000_000, plansMax: 4 } },
    wrapStore: (store) =>
      new Proxy(store, {
        get(target, name) {
          if (name !== 'get') return Reflect.get(target, name).bind?.(target)
          return async (...parameters: Parameters<typeof target.get>) => {
            if (parameters[0].endsWith('-m0.avro')) await holdReads
            return target.get(...parameters)
          }
        },
      }),
  })
  await makeNamespace(catalog, ['ns'])
  table = await makeDayTable(catalog, 'cancelled')
  await appendDays(catalog, table, { snapshotId: 11n, days: [0, 1, 2, 3] })
})
afterAll(() => catalog.stop())

const many = { filter: { type: 'not-null', term: 'value' } }
const startPlan = async (body: JsonObject = many) =>
  textAt((await plan(catalog, table, body)).json, 'plan-id')
const few = { filter: { type: 'lt', term: 'ts', value: '1970-01-01T12:00:00+00:00' } }
const keptPlans = () => catalog.database.query('select id from scan_plan')
const call = (method: string, planId: string) =>
  catalog.call(method, `${table.path}/plan/${planId}`)

it('B120: a cancelled plan is gone, and cancelling it again changes nothing', async () => {
  let release = (): void => {}
  holdReads = new Promise<void>((resolve) => (release = resolve))
  const planId = await startPlan()
  expect(await keptPlans()).toHaveLength(1)
  expect((await call('DELETE', planId)).status).toBe(204)
  expect(await keptPlans()).toHaveLength(0)
  release()
  expect(errorOf(await call('GET', planId)).type).toBe('NoSuchPlanIdException')
  expect((await call('DELETE', planId)).status).toBe(204)
})

it('forgets a plan that was answered at once', async () => {
  const planId = await startPlan(few)
  expect((await call('GET', planId)).status).toBe(200)
  expect((await call('DELETE', planId)).status).toBe(204)
  expect((await call('GET', planId)).status).toBe(404)
})

it('B120: cancels no plan of another table, and none that it did not give out', async () => {
  const planId = await startPlan()
  const other = await makeDayTable(catalog, 'other')
  const refused = await catalog.call('DELETE', `${other.path}/plan/${planId}`)
  expect(refused.status).toBe(404)
  expect(errorOf(refused).type).toBe('NoSuchPlanIdException')
  expect(errorOf(await call('DELETE', 'none')).message).toContain('none')
  expect(await keptPlans()).toHaveLength(1)
})

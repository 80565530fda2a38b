import { findScanPlan } from '@timelake/database/scan-plans'
import { object } from '@timelake/iceberg/spec/decode'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import { pageTasksText } from './find-pages.ts'
import { openScan } from './open-scan.ts'
import { reopenScan } from './pinned-scan.ts'
import { NoSuchPlanTaskError } from './plan-errors.ts'
import { decodePage } from './plan-pages.ts'
import type { PlannedTable } from './plan-scan.ts'

/**
 * The files behind a plan task, as text: the same ones however often and wherever it is asked. Throws NoSuchPlanTaskError for a
 * task that was not given out for this table and caller, whose time is over, or whose snapshot the table has lost.
 */
export async function fetchTasks(table: PlannedTable, planTask: string): Promise<string> {
  const text = await table.catalog.planning.tokens.openTask(table.owner, planTask)
  if (text === undefined) throw new NoSuchPlanTaskError(planTask)
  const raw = object(parseJson(text), 'plan-task')
  const described = await describedScan(table, raw['scan'], raw['plan'])
  const scan = described === undefined ? undefined : reopenScan(table.metadata, described)
  if (scan === undefined) throw new NoSuchPlanTaskError(planTask)
  const page = decodePage(raw['page'], 'plan-task.page')
  return `{${await pageTasksText(table, await openScan(table, scan), { pages: [page] })}}`
}

/** A task describes its scan itself, or names the plan that the database keeps. */
async function describedScan(
  { catalog, warehouse }: PlannedTable,
  scan: JsonValue | undefined,
  plan: JsonValue | undefined,
): Promise<JsonValue | undefined> {
  if (typeof plan !== 'string') return scan
  const { database, nowMs } = catalog.context
  const row = await findScanPlan(database, { id: plan, warehouseId: warehouse.id, nowMs: nowMs() })
  return row === undefined ? undefined : parseJson(row.scanText)
}

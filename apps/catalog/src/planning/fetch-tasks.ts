import { findScanPlan } from '@timelake/database/scan-plans'
import { object } from '@timelake/iceberg/spec/decode'
import { parseJson, printJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import { findPages, pageTasksText } from './find-pages.ts'
import { openScan } from './open-scan.ts'
import { reopenScan } from './pinned-scan.ts'
import { NoSuchPlanTaskError } from './plan-errors.ts'
import { decodePage } from './plan-pages.ts'
import { taskText, type PlannedTable } from './plan-scan.ts'

/**
 * The files behind a plan task, as text: the same ones however often and wherever it is asked. Further plan tasks instead when they
 * are more than one answer holds, as of a manifest whose list told a smaller count. Throws NoSuchPlanTaskError for a
 * task that was not given out for this table and caller, whose time is over, or whose snapshot the table has lost.
 */
export async function fetchTasks(table: PlannedTable, planTask: string): Promise<string> {
  const { tokens } = table.catalog.planning
  const task = await tokens.openTask(table.owner, planTask)
  if (task === undefined) throw new NoSuchPlanTaskError(planTask)
  const raw = object(parseJson(task.text), 'plan-task')
  const described = await describedScan(table, raw['scan'], raw['plan'])
  const scan = described === undefined ? undefined : reopenScan(table.metadata, described)
  if (scan === undefined) throw new NoSuchPlanTaskError(planTask)
  const open = await openScan(table, scan)
  const page = decodePage(raw['page'], 'plan-task.page')
  const found = await findPages(table, open, { page })
  if (found.pages.length <= 1) return `{${await pageTasksText(table, open, found)}}`
  const { page: _, ...description } = raw
  const members = printJson(description).slice(1, -1)
  const texts = found.pages.map((each) => taskText(each, members))
  const { expiresAtMs } = task
  const planTasks = await tokens.signTasks(table.owner, { texts, expiresAtMs })
  return `{"plan-tasks":${printJson(planTasks)}}`
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

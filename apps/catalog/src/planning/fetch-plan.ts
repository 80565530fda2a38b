import { deleteScanPlan, findScanPlan, type ScanPlanRow } from '@timelake/database/scan-plans'
import { decodeError } from '@timelake/iceberg/rest/error-json'
import type { PlanResult } from '@timelake/iceberg/rest/plan-json'
import { invariant } from '@timelake/iceberg/spec/invariant'
import { parseJson } from '@timelake/iceberg/spec/json'
import { openScan } from './open-scan.ts'
import { reopenScan, type PinnedScan } from './pinned-scan.ts'
import { NoSuchPlanIdError } from './plan-errors.ts'
import type { PlanPage } from './plan-page.ts'
import { decodePages } from './plan-pages.ts'
import { completePlan, type PlannedTable } from './plan-scan.ts'
import type { PlanIdentity } from './plan-tokens.ts'
import { runKeptPlan } from './run-kept-plan.ts'

/** How long a poll waits for a plan that this process works on, before it says that there is none yet. */
const POLL_WAIT_MS = 250

/**
 * What became of a plan. Any process on the database can say so of the plans that it keeps, and starts to work on one that nobody
 * finished. Throws NoSuchPlanIdError for an id that was not given out for this table and caller, is over, or was cancelled; also when
 * the table has lost the snapshot.
 */
export async function fetchPlan(table: PlannedTable, planId: string): Promise<PlanResult> {
  const { planning, context } = table.catalog
  const plan = await planning.tokens.openPlanId(table.owner, planId)
  if (plan === undefined) throw new NoSuchPlanIdError(planId)
  if (!plan.isKept) {
    const recent = planning.recent.get(plan.uuid)
    if (recent === undefined) throw new NoSuchPlanIdError(planId)
    const scan = reopen(table, planId, recent.scanText)
    return complete(table, plan, { scan, pages: recent.pages })
  }
  const row = await keptPlan(table, plan, planId)
  const scan = reopen(table, planId, row.scanText)
  if (!isFinished(row)) {
    runKeptPlan(table, plan.uuid, scan)
    await Promise.race([planning.runs.ended(plan.uuid), context.delay(POLL_WAIT_MS)])
  }
  const finished = isFinished(row) ? row : await keptPlan(table, plan, planId)
  return isFinished(finished)
    ? resultOf(table, plan, { scan, row: finished })
    : { status: 'submitted' }
}

/**
 * Forgets a plan: the work on it ends, and its memory and its row are free. Also of a plan that was answered completely or is forgotten
 * already; its plan tasks stay good until their time is over when they describe themselves. Throws NoSuchPlanIdError for an id
 * that was not given out for this table and caller, or is over.
 */
export async function cancelPlan(table: PlannedTable, planId: string): Promise<void> {
  const { planning, context } = table.catalog
  const plan = await planning.tokens.openPlanId(table.owner, planId)
  if (plan === undefined) throw new NoSuchPlanIdError(planId)
  planning.recent.delete(plan.uuid)
  planning.runs.cancel(plan.uuid)
  if (plan.isKept) await deleteScanPlan(context.database, plan.uuid)
}

async function keptPlan(
  { catalog, warehouse }: PlannedTable,
  { uuid }: PlanIdentity,
  planId: string,
): Promise<ScanPlanRow> {
  const { database, nowMs } = catalog.context
  const key = { id: uuid, warehouseId: warehouse.id, nowMs: nowMs() }
  const row = await findScanPlan(database, key)
  if (row === undefined) throw new NoSuchPlanIdError(planId)
  return row
}

function reopen({ metadata }: PlannedTable, planId: string, scanText: string): PinnedScan {
  const scan = reopenScan(metadata, parseJson(scanText))
  if (scan === undefined) throw new NoSuchPlanIdError(planId)
  return scan
}

function isFinished({ pagesText, failureText }: ScanPlanRow): boolean {
  return pagesText !== undefined || failureText !== undefined
}

async function resultOf(
  table: PlannedTable,
  plan: PlanIdentity,
  { scan, row }: { readonly scan: PinnedScan; readonly row: ScanPlanRow },
): Promise<PlanResult> {
  if (row.pagesText !== undefined) {
    return complete(table, plan, { scan, pages: decodePages(row.pagesText) })
  }
  const error = decodeError(parseJson(row.failureText ?? 'null'))
  invariant(error !== undefined, 'a plan that failed says why')
  table.catalog.planning.metrics.plans.inc({ outcome: 'failed' })
  return { status: 'failed', error }
}

async function complete(
  table: PlannedTable,
  plan: PlanIdentity,
  { scan, pages }: { readonly scan: PinnedScan; readonly pages: readonly PlanPage[] },
): Promise<PlanResult> {
  const open = await openScan(table, scan)
  return completePlan(table, plan, { open, found: { pages } })
}

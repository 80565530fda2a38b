import { finishScanPlan, type ScanPlanOutcome } from '@timelake/database/scan-plans'
import { printJson } from '@timelake/iceberg/spec/json'
import { findPages } from './find-pages.ts'
import { openScan, type ScannedTable } from './open-scan.ts'
import { describePlanFailure } from './plan-failure.ts'
import { encodePage } from './plan-pages.ts'
import type { PinnedScan } from './pinned-scan.ts'

/**
 * Finds the pages of a plan that the database keeps, unless this process does so already, and writes them down. What may be
 * different next time (a store or database that does not answer) leaves the plan as it is: who polls starts it again. Several
 * processes that are polled do the same work and come to the same end; the first one is kept.
 */
export function runKeptPlan(table: ScannedTable, uuid: string, scan: PinnedScan): void {
  const { catalog } = table
  catalog.planning.runs.start(uuid, async (signal) => {
    const outcome = await outcomeOf(table, scan, signal)
    signal.throwIfAborted()
    await finishScanPlan(catalog.context.database, uuid, outcome)
  })
}

async function outcomeOf(
  table: ScannedTable,
  scan: PinnedScan,
  signal: AbortSignal,
): Promise<ScanPlanOutcome> {
  try {
    const { pages } = await findPages(table, await openScan(table, scan), { signal })
    return { outcome: 'planned', pagesText: printJson(pages.map(encodePage)) }
  } catch (error) {
    const failureText = describePlanFailure(error)
    if (failureText === undefined || signal.aborted) throw error
    table.catalog.context.log.warn({ err: error }, 'a scan cannot be planned')
    return { outcome: 'failed', failureText }
  }
}

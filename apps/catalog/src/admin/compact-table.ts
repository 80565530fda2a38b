import { findSchedule, requestJob } from '@timelake/database/maintenance-schedule'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'
import { switchParameter } from '../http/switch-parameter.ts'
import { dryRunCompaction } from './dry-run-compaction.ts'
import { scheduleJson } from './get-maintenance.ts'
import { tableById } from './table-by-id.ts'

/** The kind of job that merges the small files of a table. */
const COMPACT_TABLE = 'compact-table'

/**
 * POST /admin/v1/tables/{id}/compact: asks for a compaction now, and answers 202 with the schedule. With `dry-run=true`
 * nothing is asked for; the answer is what a run would do at this moment, and why.
 */
export async function compactTable(call: RouteCall): Promise<HttpAnswer> {
  const row = await tableById(call)
  if (switchParameter(call.query, 'dry-run')) {
    return jsonAnswer(await dryRunCompaction(call.catalog, row))
  }
  const { database, nowMs } = call.catalog.context
  const job = { tableId: row.id, jobKind: COMPACT_TABLE }
  await requestJob(database, { ...job, dueAtMs: nowMs(), reason: 'asked for by an operator' })
  const schedule = await findSchedule(database, job)
  return jsonAnswer({ 'table-id': row.id, jobs: schedule ? [scheduleJson(schedule)] : [] }, 202)
}

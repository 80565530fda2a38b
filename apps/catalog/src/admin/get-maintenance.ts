import { listJobRuns, type JobRun } from '@timelake/database/job-runs'
import { listSchedules, type ScheduleRow } from '@timelake/database/maintenance-schedule'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'
import { liveOrDroppedTableById } from './table-by-id.ts'

const RUNS_SHOWN_MAX = 20

/**
 * GET /admin/v1/tables/{id}/maintenance: for each kind of job the next trigger and the last decision with its inputs,
 * and the last runs, newest first. Answers for dropped tables too, whose purge is a job.
 */
export async function getMaintenance(call: RouteCall): Promise<HttpAnswer> {
  const { database } = call.catalog.context
  const row = await liveOrDroppedTableById(call)
  const schedules = await listSchedules(database, row.id)
  const runs = await listJobRuns(database, { tableId: row.id, limit: RUNS_SHOWN_MAX })
  return jsonAnswer({
    'table-id': row.id,
    jobs: schedules.map(scheduleJson),
    runs: runs.map(runJson),
  })
}

/** How the admin routes show what is asked of one kind of job. */
export function scheduleJson(schedule: ScheduleRow): JsonObject {
  return {
    'job-kind': schedule.jobKind,
    'next-trigger-ms': msJson(schedule.dueAtMs),
    reason: schedule.reason ?? null,
    'pending-commits': schedule.pendingCommits,
    'first-pending-ms': msJson(schedule.firstPendingAtMs),
    'last-commit-ms': msJson(schedule.lastCommitAtMs),
    'last-decision': storedJson(schedule.lastDecision),
    'decided-ms': msJson(schedule.decidedAtMs),
  }
}

function runJson(run: JobRun): JsonObject {
  return {
    id: run.id,
    'job-kind': run.jobKind,
    state: run.state,
    reason: run.reason ?? null,
    outcome: storedJson(run.outcome),
    'started-ms': msJson(run.startedAtMs),
    'finished-ms': msJson(run.finishedAtMs),
    'deadline-ms': msJson(run.deadlineMs),
    'worker-id': run.workerId,
  }
}

function msJson(ms: number | undefined): JsonValue {
  return ms === undefined ? null : BigInt(Math.trunc(ms))
}

/** JSON that a job wrote itself. */
function storedJson(text: string | undefined): JsonValue {
  return text === undefined ? null : parseJson(text)
}

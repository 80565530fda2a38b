import { findDroppedTable } from '@timelake/database/dropped-tables'
import { findTableById } from '@timelake/database/find-tables'
import { beginJobRun, finishJobRun, listJobRuns, type JobRunEnd } from '@timelake/database/job-runs'
import {
  clearDue,
  findSchedule,
  recordDecision,
  requestJob,
  scheduleJobs,
  type JobIdentity,
  type ScheduleRow,
} from '@timelake/database/maintenance-schedule'
import type { Database, SqlSession } from '@timelake/database/sql-session'
import type { TableRow } from '@timelake/database/table-row'
import { assertNever } from '@timelake/iceberg/spec/invariant'
import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { ReachFaultPoint } from '@timelake/timelake/contract/fault-points'
import { holdLease } from './hold-lease.ts'
import type { Job } from './queue/job.ts'

/** How a handler ended. `failed` is tried again after a while; a thrown error is a failure too. */
export interface JobOutcome {
  readonly state: JobRunEnd['state']
  readonly reason: string
  /** What was done, for the run's record. */
  readonly outcome: JsonObject
  /** The decision with what it rests on, for the table's record. */
  readonly decision: JsonObject
  /** When to look again even if nothing happens. */
  readonly nextDueAtMs?: number
}

/** One run of a job. It must stop when the signal says so: then another run may have taken over. */
export interface JobRunContext {
  readonly runId: string
  /** The live table; for a purge, the last state of the dropped one. */
  readonly table: TableRow
  readonly signal: AbortSignal
}

export type JobHandler = (run: JobRunContext) => Promise<JobOutcome>

export interface RunJobOptions {
  readonly database: Database
  readonly handlers: Readonly<Record<Job['kind'], JobHandler>>
  readonly workerId: string
  readonly leaseMs: number
  readonly deadlineMs: number
  readonly retryFirstMs: number
  readonly retryMsMax: number
  nowMs(): number
  newUuid(): string
  readonly reachFaultPoint: ReachFaultPoint
}

/**
 * `not-due`: the message was early, late or doubled; nothing was done. `busy`: another run holds the table. `lost`: the
 * run was taken over or its table dropped while it worked, and nothing was recorded.
 */
export type RanJob =
  | { readonly outcome: 'not-due'; readonly dueAtMs?: number }
  | { readonly outcome: 'busy' | 'no-table' | 'lost' }
  | {
      readonly outcome: 'ran'
      readonly runId: string
      readonly end: JobOutcome
      readonly error?: unknown
    }

/** Runs of one kind that are looked at to find how often it failed in a row. */
const FAILURES_COUNTED_MAX = 20

/**
 * Runs one job if the database says that it is due: record of the run, lease, deadline, outcome. What the run leaves
 * (its end, the decision, the next due time) is written in one transaction. A failed run keeps the commits that wait
 * and comes again after a growing pause.
 */
export async function runJob(
  options: RunJobOptions,
  job: Job,
  signal: AbortSignal,
): Promise<RanJob> {
  const { database, nowMs } = options
  const identity = { tableId: job.tableId, jobKind: job.kind }
  const schedule = await findSchedule(database, identity)
  if (schedule?.dueAtMs === undefined) return { outcome: 'not-due' }
  const { dueAtMs } = schedule
  if (dueAtMs > nowMs()) return { outcome: 'not-due', dueAtMs }
  const table = await findSubject(database, job)
  if (table === undefined) {
    await clearDue(database, { ...identity, expectedDueAtMs: dueAtMs })
    return { outcome: 'no-table' }
  }
  const failures = await failuresInARow(options, identity)
  const retryAtMs = failures.lastEndedAtMs + retryPauseMs(failures.count, options)
  if (failures.count > 0 && retryAtMs > nowMs() && !isAskedFor(schedule)) {
    await scheduleJobs(database, [
      { ...identity, dueAtMs: retryAtMs, reason: 'the last run failed' },
    ])
    return { outcome: 'not-due', dueAtMs: retryAtMs }
  }
  return beginAndRun(options, { job, table, schedule: { ...schedule, dueAtMs } }, signal)
}

/** The table that the job is about, in the state that its kind works on. */
function findSubject(session: SqlSession, { kind, tableId }: Job): Promise<TableRow | undefined> {
  switch (kind) {
    case 'compact-table':
      return findTableById(session, tableId)
    case 'purge-table':
      return findDroppedTable(session, tableId)
    default:
      return assertNever(kind, 'kind of job')
  }
}

interface DueRun {
  readonly job: Job
  readonly table: TableRow
  readonly schedule: ScheduleRow & { readonly dueAtMs: number }
}

function isAskedFor({ reason }: ScheduleRow): boolean {
  return reason?.startsWith('asked for') === true
}

async function failuresInARow(options: RunJobOptions, { tableId, jobKind }: JobIdentity) {
  const runs = await listJobRuns(options.database, { tableId, limit: FAILURES_COUNTED_MAX })
  const ended = runs.filter((run) => run.jobKind === jobKind && run.state !== 'running')
  const firstOther = ended.findIndex(({ state }) => state !== 'failed' && state !== 'abandoned')
  const count = firstOther === -1 ? ended.length : firstOther
  return { count, lastEndedAtMs: ended[0]?.finishedAtMs ?? 0 }
}

function retryPauseMs(failureCount: number, { retryFirstMs, retryMsMax }: RunJobOptions): number {
  return Math.min(retryMsMax, retryFirstMs * 2 ** Math.max(0, failureCount - 1))
}

async function beginAndRun(
  options: RunJobOptions,
  due: DueRun,
  stopped: AbortSignal,
): Promise<RanJob> {
  const { database, nowMs, leaseMs, deadlineMs, workerId } = options
  const runId = options.newUuid()
  const { kind: jobKind, tableId } = due.job
  const begun = await beginJobRun(database, {
    id: runId,
    jobKind,
    tableId,
    workerId,
    nowMs: nowMs(),
    leaseMs,
    deadlineMs: nowMs() + deadlineMs,
  })
  if (begun.outcome === 'busy') return { outcome: 'busy' }
  const lease = holdLease({ database, runId, leaseMs, nowMs })
  const deadline = AbortSignal.timeout(deadlineMs)
  const signal = AbortSignal.any([stopped, lease.signal, deadline])
  let ended: { end: JobOutcome; error?: unknown }
  try {
    ended = { end: await options.handlers[due.job.kind]({ runId, table: due.table, signal }) }
  } catch (error) {
    ended = { end: failure(deadline.aborted ? deadlineError(deadlineMs, error) : error), error }
  } finally {
    await lease.stop()
  }
  const isOurs = await recordEnd(options, due, { runId, end: ended.end })
  if (!isOurs) return { outcome: 'lost' }
  if (jobKind === 'compact-table' && ended.end.state === 'succeeded') {
    options.reachFaultPoint('compaction.outcome-recorded')
  }
  return { outcome: 'ran', runId, ...ended }
}

function deadlineError(deadlineMs: number, cause: unknown): Error {
  return new Error(`the run took longer than ${deadlineMs} ms`, { cause })
}

function failure(error: unknown): JobOutcome {
  const reason = messages(error).join(': ')
  return {
    state: 'failed',
    reason,
    outcome: { error: reason },
    decision: { outcome: 'failed', reason },
  }
}

/** The error's message and those of its causes. */
function messages(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)]
  return [
    `${error.name}: ${error.message}`,
    ...(error.cause === undefined ? [] : messages(error.cause)),
  ]
}

/** False when the run was no longer ours; then nothing of it is recorded. */
async function recordEnd(
  options: RunJobOptions,
  { job, schedule }: DueRun,
  { runId, end }: { readonly runId: string; readonly end: JobOutcome },
): Promise<boolean> {
  const nowMs = options.nowMs()
  const identity = { tableId: job.tableId, jobKind: job.kind }
  const hasFailed = end.state === 'failed'
  return options.database.transaction(async (session) => {
    const { state, reason } = end
    const outcome = printJson(end.outcome)
    const finished = await finishJobRun(session, { runId, state, reason, outcome, nowMs })
    if (finished === 'lost') return false
    const seenCommits = hasFailed ? 0n : schedule.pendingCommits
    const decision = printJson(end.decision)
    await recordDecision(session, { ...identity, decision, nowMs, seenCommits })
    const { dueAtMs } = schedule
    await clearDue(session, { ...identity, expectedDueAtMs: dueAtMs })
    const next = await nextRequest(session, { identity, end }, options)
    if (next !== undefined) await requestJob(session, { ...identity, ...next })
    return true
  })
}

/** When the job comes again. Commits that the run did not see make it due even where their time was cleared. */
async function nextRequest(
  session: SqlSession,
  { identity, end }: { readonly identity: JobIdentity; readonly end: JobOutcome },
  { nowMs, retryFirstMs }: RunJobOptions,
): Promise<{ readonly dueAtMs: number; readonly reason: string } | undefined> {
  if (end.state === 'failed') {
    return { dueAtMs: nowMs() + retryFirstMs, reason: 'the last run failed' }
  }
  const left = await findSchedule(session, identity)
  if (left !== undefined && left.dueAtMs === undefined && left.pendingCommits > 0n) {
    return { dueAtMs: nowMs(), reason: 'commits came while the last run worked' }
  }
  return end.nextDueAtMs === undefined
    ? undefined
    : { dueAtMs: end.nextDueAtMs, reason: end.reason }
}

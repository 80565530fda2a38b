import {
  noteCommits,
  scheduleJobs,
  type JobIdentity,
  type JobRequest,
  type ScheduleRow,
} from '@timelake/database/maintenance-schedule'
import {
  markEventsDispatched,
  takeUndispatchedEvents,
  type OutboxEvent,
} from '@timelake/database/outbox'
import type { Database, SqlSession } from '@timelake/database/sql-session'
import { parseJson } from '@timelake/iceberg/spec/json'
import { COMMIT_JOB_KINDS } from '@timelake/timelake/contract/job-kinds'
import { printDurationMs } from '@timelake/timelake/contract/quantity'
import type { JobQueue } from './queue/job-queue.ts'
import { sendJob, type SentJobs } from './send-job.ts'

export interface RelayOptions {
  readonly database: Database
  readonly queue: JobQueue
  readonly batchMax: number
  readonly quietMs: number
  readonly commitCountMax: number
  readonly purgeGraceMs: number
  readonly sentJobs: SentJobs
  nowMs(): number
}

export interface Relayed {
  readonly eventCount: number
  /** Messages that the queue refused to take; the survey sends them again. */
  readonly unsentCount: number
}

/** The kinds of event after which a table may have something to do. */
const TABLE_CHANGES: readonly OutboxEvent['kind'][] = [
  'table-created',
  'table-committed',
  'table-registered',
]

/**
 * Takes one batch of events from the outbox: counts the commits of each table, sets when its jobs are due (a purge when
 * the grace after the drop is over), and marks the events, in one transaction; then sends what is due already. A crash
 * before the end of the transaction repeats the batch, one after it loses messages, which the survey makes up for: the
 * due times are in the database then. Several relays take different batches.
 */
export async function relayEvents(options: RelayOptions): Promise<Relayed> {
  const { database, batchMax, nowMs } = options
  // Most looks find nothing; those need no transaction.
  const [next] = await takeUndispatchedEvents(database, { limit: 1 })
  if (next === undefined) return { eventCount: 0, unsentCount: 0 }
  const { eventCount, rows } = await database.transaction(async (session) => {
    const events = await takeUndispatchedEvents(session, { limit: batchMax })
    if (events.length === 0) return { eventCount: 0, rows: [] }
    const rows = [
      ...(await scheduleTables(session, events, options)),
      ...(await schedulePurges(session, events, options)),
    ]
    const seqs = events.map(({ seq }) => seq)
    await markEventsDispatched(session, seqs, nowMs())
    return { eventCount: events.length, rows }
  })
  // What is due later is handed over by the survey then: most of it is put off by further commits before it is due.
  const due = rows.filter(({ dueAtMs }) => dueAtMs <= nowMs())
  const sent = await Promise.allSettled(due.map((row) => sendJob(row, options)))
  const unsentCount = sent.filter(({ status }) => status === 'rejected').length
  return { eventCount, unsentCount }
}

type DueJob = JobRequest

async function scheduleTables(
  session: SqlSession,
  events: readonly OutboxEvent[],
  options: RelayOptions,
): Promise<readonly DueJob[]> {
  const byTable = new Map<string, OutboxEvent[]>()
  for (const event of events) {
    if (event.tableId === undefined || !TABLE_CHANGES.includes(event.kind)) continue
    const known = byTable.get(event.tableId)
    if (known === undefined) byTable.set(event.tableId, [event])
    else known.push(event)
  }
  if (byTable.size === 0) return []
  const commits = [...byTable].flatMap(([tableId, changes]) =>
    COMMIT_JOB_KINDS.map((jobKind) => ({ tableId, jobKind, ...countCommits(changes) })),
  )
  const rows = await noteCommits(session, commits.sort(byIdentity))
  const jobs = rows.map((row) => ({ ...row, ...whenDue(row, options) }))
  await scheduleJobs(session, jobs.sort(byIdentity))
  return jobs
}

function countCommits(changes: readonly OutboxEvent[]) {
  const times = changes.map(({ createdAtMs }) => createdAtMs)
  return {
    commitCount: BigInt(changes.length),
    firstCommitAtMs: times.reduce((a, b) => Math.min(a, b)),
    lastCommitAtMs: times.reduce((a, b) => Math.max(a, b)),
  }
}

/** Rows are locked in one order everywhere. */
function byIdentity(a: JobIdentity, b: JobIdentity): number {
  if (a.tableId !== b.tableId) return a.tableId < b.tableId ? -1 : 1
  return a.jobKind < b.jobKind ? -1 : 1
}

/** A pause after the last commit, or at once when many wait. A time that has come already stands. */
function whenDue(
  { pendingCommits, lastCommitAtMs, dueAtMs, reason }: ScheduleRow,
  { commitCountMax, quietMs, nowMs }: RelayOptions,
): { readonly dueAtMs: number; readonly reason: string } {
  const now = nowMs()
  if (dueAtMs !== undefined && dueAtMs <= now) return { dueAtMs, reason: reason ?? 'due' }
  if (pendingCommits >= BigInt(commitCountMax)) {
    return { dueAtMs: now, reason: `${pendingCommits} commits wait` }
  }
  const quietAtMs = (lastCommitAtMs ?? now) + quietMs
  return { dueAtMs: quietAtMs, reason: `no commit for ${printDurationMs(quietMs)}` }
}

/** The last drop of a table counts; whether the table is still dropped then is for the run to find out. */
async function schedulePurges(
  session: SqlSession,
  events: readonly OutboxEvent[],
  { purgeGraceMs }: RelayOptions,
): Promise<readonly DueJob[]> {
  const jobs = new Map<string, DueJob>()
  for (const { tableId, kind, payload, createdAtMs } of events) {
    if (tableId === undefined || kind !== 'table-dropped' || !asksForPurge(payload)) continue
    const reason = `dropped with a purge, ${printDurationMs(purgeGraceMs)} of grace`
    const dueAtMs = createdAtMs + purgeGraceMs
    jobs.set(tableId, { tableId, jobKind: 'purge-table', dueAtMs, reason })
  }
  const requests = [...jobs.values()].sort(byIdentity)
  if (requests.length > 0) await scheduleJobs(session, requests)
  return requests
}

/** The payload is JSON that the catalog wrote. */
function asksForPurge(payload: string): boolean {
  const drop = parseJson(payload)
  const isObject = typeof drop === 'object' && drop !== null && !Array.isArray(drop)
  return isObject && 'purge-requested' in drop && drop['purge-requested'] === true
}

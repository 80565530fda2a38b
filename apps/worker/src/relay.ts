import { noteCommits, scheduleJob, type ScheduleRow } from '@timelake/database/maintenance-schedule'
import {
  markEventsDispatched,
  takeUndispatchedEvents,
  type OutboxEvent,
} from '@timelake/database/outbox'
import type { Database, SqlSession } from '@timelake/database/sql-session'
import { JOB_KINDS, type JobKind } from '@timelake/timelake/contract/job-kinds'
import type { JobQueue } from './queue/job-queue.ts'

export interface RelayOptions {
  readonly database: Database
  readonly queue: JobQueue
  readonly batchMax: number
  readonly quietMs: number
  readonly commitCountMax: number
  nowMs(): number
}

export interface Relayed {
  readonly eventCount: number
  /** Messages that the queue refused to take; the survey sends those jobs when they are due. */
  readonly unsentCount: number
}

/** The kinds of event after which a table may have something to do. */
const TABLE_CHANGES: readonly OutboxEvent['kind'][] = [
  'table-created',
  'table-committed',
  'table-registered',
]

/**
 * Takes one batch of events from the outbox: counts the commits of each table, sets when its jobs are due, and marks the
 * events, in one transaction; then sends the messages. A crash before the end of the transaction repeats the batch, one
 * after it loses messages, which the survey makes up for.
 */
export async function relayEvents(options: RelayOptions): Promise<Relayed> {
  const { database, batchMax, nowMs } = options
  const events = await takeUndispatchedEvents(database, { limit: batchMax })
  if (events.length === 0) return { eventCount: 0, unsentCount: 0 }
  const rows = await database.transaction(async (session) => {
    const scheduled = await scheduleTables(session, events, options)
    await markEventsDispatched(
      session,
      events.map(({ seq }) => seq),
      nowMs(),
    )
    return scheduled
  })
  const sent = await Promise.allSettled(rows.map((row) => send(row, options)))
  const unsentCount = sent.filter(({ status }) => status === 'rejected').length
  return { eventCount: events.length, unsentCount }
}

interface DueJob {
  readonly tableId: string
  readonly kind: JobKind
  readonly dueAtMs: number
}

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
  const jobs: DueJob[] = []
  for (const [tableId, changes] of [...byTable].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const kind of JOB_KINDS) {
      jobs.push(await scheduleTable(session, { tableId, kind, changes }, options))
    }
  }
  return jobs
}

async function scheduleTable(
  session: SqlSession,
  { tableId, kind, changes }: { tableId: string; kind: JobKind; changes: readonly OutboxEvent[] },
  options: RelayOptions,
): Promise<DueJob> {
  const times = changes.map(({ createdAtMs }) => createdAtMs)
  const row = await noteCommits(session, {
    tableId,
    jobKind: kind,
    commitCount: BigInt(changes.length),
    firstCommitAtMs: times.reduce((a, b) => Math.min(a, b)),
    lastCommitAtMs: times.reduce((a, b) => Math.max(a, b)),
  })
  const { dueAtMs, reason } = whenDue(row, options)
  await scheduleJob(session, { tableId, jobKind: kind, dueAtMs, reason })
  return { tableId, kind, dueAtMs }
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
  return { dueAtMs: quietAtMs, reason: `no commit for ${quietMs} ms` }
}

function send({ kind, tableId, dueAtMs }: DueJob, { queue, nowMs }: RelayOptions): Promise<void> {
  return queue.enqueue({ kind, tableId }, { delayMs: dueAtMs - nowMs() })
}

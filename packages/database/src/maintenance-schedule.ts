/*
 * What is due: one row per table and kind of job, made by the first commit or request. A queue message carries only
 * that identity. `noteCommits` counts, `requestJob` and `scheduleJobs` set the time, `recordDecision` and `clearDue`
 * are written by the run. Times are epoch milliseconds of the caller.
 */
import type { SqlSession } from './sql-session.ts'

export interface JobIdentity {
  readonly tableId: string
  readonly jobKind: string
}

export interface ScheduleRow extends JobIdentity {
  /** Absent while nothing is asked for. */
  readonly dueAtMs: number | undefined
  readonly reason: string | undefined
  /** Commits since the last decision took them into account. */
  readonly pendingCommits: bigint
  readonly firstPendingAtMs: number | undefined
  readonly lastCommitAtMs: number | undefined
  /** JSON text of the last decision with its inputs. */
  readonly lastDecision: string | undefined
  readonly decidedAtMs: number | undefined
}

interface ScheduleRecord {
  readonly table_id: string
  readonly job_kind: string
  readonly due_at_ms: bigint | null
  readonly reason: string | null
  readonly pending_commits: bigint
  readonly first_pending_at_ms: bigint | null
  readonly last_commit_at_ms: bigint | null
  readonly last_decision: string | null
  readonly decided_at_ms: bigint | null
}

const NOTE_COMMITS = `
insert into maintenance_schedule as s
  (table_id, job_kind, pending_commits, first_pending_at_ms, last_commit_at_ms)
select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
on conflict (table_id, job_kind) do update set
  pending_commits = s.pending_commits + excluded.pending_commits,
  first_pending_at_ms = least(s.first_pending_at_ms, excluded.first_pending_at_ms),
  last_commit_at_ms = greatest(s.last_commit_at_ms, excluded.last_commit_at_ms)
returning *`

export interface NotedCommits extends JobIdentity {
  readonly commitCount: bigint
  readonly firstCommitAtMs: number
  readonly lastCommitAtMs: number
}

/**
 * Adds commits that no decision has seen yet, each table and kind at most once; answers the rows, by which the caller
 * sets the times, in no particular order.
 */
export async function noteCommits(
  session: SqlSession,
  commits: readonly NotedCommits[],
): Promise<ScheduleRow[]> {
  const records = await session.query<ScheduleRecord>(NOTE_COMMITS, [
    commits.map(({ tableId }) => tableId),
    commits.map(({ jobKind }) => jobKind),
    commits.map(({ commitCount }) => commitCount),
    commits.map(({ firstCommitAtMs }) => firstCommitAtMs),
    commits.map(({ lastCommitAtMs }) => lastCommitAtMs),
  ])
  return records.map(scheduleRowOf)
}

export interface JobRequest extends JobIdentity {
  readonly dueAtMs: number
  readonly reason: string
}

const REQUEST = `
insert into maintenance_schedule as s (table_id, job_kind, due_at_ms, reason, pending_commits)
values ($1, $2, $3::bigint, $4::text, 0)
on conflict (table_id, job_kind) do update set due_at_ms = excluded.due_at_ms, reason = excluded.reason
where s.due_at_ms is null or s.due_at_ms > excluded.due_at_ms`

/** Asks for a run at this time at the latest; an earlier request stands. */
export async function requestJob(session: SqlSession, request: JobRequest): Promise<void> {
  const { tableId, jobKind, dueAtMs, reason } = request
  await session.query(REQUEST, [tableId, jobKind, dueAtMs, reason])
}

const SCHEDULE = `
insert into maintenance_schedule (table_id, job_kind, due_at_ms, reason, pending_commits)
select table_id, job_kind, due_at_ms, reason, 0
from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) as r (table_id, job_kind, due_at_ms, reason)
on conflict (table_id, job_kind) do update set due_at_ms = excluded.due_at_ms, reason = excluded.reason`

/** Sets the times of the next runs, earlier or later than before; each table and kind at most once. */
export async function scheduleJobs(
  session: SqlSession,
  requests: readonly JobRequest[],
): Promise<void> {
  await session.query(SCHEDULE, [
    requests.map(({ tableId }) => tableId),
    requests.map(({ jobKind }) => jobKind),
    requests.map(({ dueAtMs }) => dueAtMs),
    requests.map(({ reason }) => reason),
  ])
}

/** What is due by now, longest due first. */
export async function dueJobs(
  session: SqlSession,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Promise<ScheduleRow[]> {
  const records = await session.query<ScheduleRecord>(
    'select * from maintenance_schedule where due_at_ms <= $1 order by due_at_ms limit $2',
    [nowMs, limit],
  )
  return records.map(scheduleRowOf)
}

/** The earliest time that anything is due; undefined when nothing is asked for. */
export async function nextDueAtMs(session: SqlSession): Promise<number | undefined> {
  const [row] = await session.query<{ due: bigint | null }>(
    'select min(due_at_ms) as due from maintenance_schedule where due_at_ms is not null',
  )
  return numberOf(row?.due ?? null)
}

/** The rows of one table, by kind. */
export async function listSchedules(session: SqlSession, tableId: string): Promise<ScheduleRow[]> {
  const records = await session.query<ScheduleRecord>(
    'select * from maintenance_schedule where table_id = $1 order by job_kind',
    [tableId],
  )
  return records.map(scheduleRowOf)
}

/** The row of one table and kind; undefined until the first commit or request. */
export async function findSchedule(
  session: SqlSession,
  { tableId, jobKind }: JobIdentity,
): Promise<ScheduleRow | undefined> {
  const [record] = await session.query<ScheduleRecord>(
    'select * from maintenance_schedule where table_id = $1 and job_kind = $2',
    [tableId, jobKind],
  )
  return record && scheduleRowOf(record)
}

export interface Decision extends JobIdentity {
  /** JSON text; kept byte for byte. */
  readonly decision: string
  readonly nowMs: number
  /** How many of the pending commits the decision took into account; those that came meanwhile stay. */
  readonly seenCommits: bigint
}

const DECIDE = `
insert into maintenance_schedule as s (table_id, job_kind, pending_commits, last_decision, decided_at_ms)
values ($1, $2, 0, $3, $4::bigint)
on conflict (table_id, job_kind) do update set
  last_decision = excluded.last_decision, decided_at_ms = excluded.decided_at_ms,
  pending_commits = greatest(s.pending_commits - $5::bigint, 0),
  first_pending_at_ms = case when s.pending_commits > $5::bigint then s.last_commit_at_ms end`

/** Keeps the last decision, also one to do nothing, and takes the commits that it saw off the count. */
export async function recordDecision(session: SqlSession, decision: Decision): Promise<void> {
  const { tableId, jobKind, nowMs, seenCommits } = decision
  await session.query(DECIDE, [tableId, jobKind, decision.decision, nowMs, seenCommits])
}

/** Ends a request that was served, unless it was changed since `expectedDueAtMs` was read. */
export async function clearDue(
  session: SqlSession,
  request: JobIdentity & { readonly expectedDueAtMs: number },
): Promise<'cleared' | 'changed'> {
  const rows = await session.query(
    `update maintenance_schedule set due_at_ms = null, reason = null
     where table_id = $1 and job_kind = $2 and due_at_ms = $3 returning 1`,
    [request.tableId, request.jobKind, request.expectedDueAtMs],
  )
  return rows.length === 1 ? 'cleared' : 'changed'
}

function scheduleRowOf(record: ScheduleRecord): ScheduleRow {
  return {
    tableId: record.table_id,
    jobKind: record.job_kind,
    dueAtMs: numberOf(record.due_at_ms),
    reason: record.reason ?? undefined,
    pendingCommits: record.pending_commits,
    firstPendingAtMs: numberOf(record.first_pending_at_ms),
    lastCommitAtMs: numberOf(record.last_commit_at_ms),
    lastDecision: record.last_decision ?? undefined,
    decidedAtMs: numberOf(record.decided_at_ms),
  }
}

function numberOf(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value)
}

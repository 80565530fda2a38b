/*
 * Runs of jobs: at most one of a kind per table, held by a lease. A run whose lease is over is abandoned by the next
 * one; whatever it may have written is in its outputs. Every write by a run answers `lost` once the run is no longer
 * its own: it must stop then. The end of a run is an event of its table (job-events.ts), written in the same transaction.
 * Times are epoch milliseconds of the caller.
 */
import { invariant } from './invariant.ts'
import { writeJobEvent } from './job-events.ts'
import { type DatabaseOrTransaction, inTransaction } from './lock-locations.ts'
import type { SqlSession } from './sql-session.ts'

export type JobRunState =
  'running' | 'succeeded' | 'nothing-to-do' | 'skipped' | 'failed' | 'abandoned'

export interface JobRun {
  readonly id: string
  readonly jobKind: string
  readonly tableId: string
  readonly workerId: string
  readonly state: JobRunState
  readonly reason: string | undefined
  /** JSON text. */
  readonly outcome: string | undefined
  readonly startedAtMs: number
  readonly leaseUntilMs: number
  readonly deadlineMs: number
  readonly finishedAtMs: number | undefined
}

interface JobRunRecord {
  readonly id: string
  readonly job_kind: string
  readonly table_id: string
  readonly worker_id: string
  readonly state: JobRunState
  readonly reason: string | null
  readonly outcome: string | null
  readonly started_at_ms: bigint
  readonly lease_until_ms: bigint
  readonly deadline_ms: bigint
  readonly finished_at_ms: bigint | null
}

export interface NewJobRun {
  readonly id: string
  readonly jobKind: string
  readonly tableId: string
  readonly workerId: string
  readonly nowMs: number
  readonly leaseMs: number
  readonly deadlineMs: number
}

const ABANDON_EXPIRED = `
update job_run set state = 'abandoned', reason = 'its lease ran out', finished_at_ms = $3
where table_id = $1 and job_kind = $2 and state = 'running' and lease_until_ms <= $3
returning id, table_id`

const BEGIN = `
with begun as (
  insert into job_run (id, job_kind, table_id, worker_id, state, started_at_ms, lease_until_ms, deadline_ms)
  values ($1, $2, $3, $4, 'running', $5::bigint, $5::bigint + $6::bigint, $7::bigint)
  on conflict (table_id, job_kind) where state = 'running' do nothing
  returning 1
)
select exists (select from begun) as begun, (
  select lease_until_ms from job_run where table_id = $3 and job_kind = $2 and state = 'running'
) as lease_until_ms`

/** `busy`: a run of this kind holds the table until then. An expired run becomes `abandoned` first. */
export async function beginJobRun(
  database: { transaction<T>(run: (session: SqlSession) => Promise<T>): Promise<T> },
  run: NewJobRun,
): Promise<
  { readonly outcome: 'begun' } | { readonly outcome: 'busy'; readonly leaseUntilMs: number }
> {
  const { id, jobKind, tableId, workerId, nowMs, leaseMs, deadlineMs } = run
  return database.transaction(async (session) => {
    const abandoned = await session.query<EndedRun>(ABANDON_EXPIRED, [tableId, jobKind, nowMs])
    await writeEnds(session, abandoned)
    const [row] = await session.query<{ begun: boolean; lease_until_ms: bigint | null }>(BEGIN, [
      id,
      jobKind,
      tableId,
      workerId,
      nowMs,
      leaseMs,
      deadlineMs,
    ])
    invariant(row !== undefined, 'beginning a run answers one row')
    if (row.begun) return { outcome: 'begun' }
    return { outcome: 'busy', leaseUntilMs: Number(row.lease_until_ms ?? BigInt(nowMs + leaseMs)) }
  })
}

/** Holds the table for `leaseMs` from now on. `lost`: the run was ended by others and must stop. */
export async function renewJobRunLease(
  session: SqlSession,
  {
    runId,
    nowMs,
    leaseMs,
  }: { readonly runId: string; readonly nowMs: number; readonly leaseMs: number },
): Promise<'renewed' | 'lost'> {
  const rows = await session.query(
    `update job_run set lease_until_ms = $2::bigint + $3::bigint where id = $1 and state = 'running' returning 1`,
    [runId, nowMs, leaseMs],
  )
  return rows.length === 1 ? 'renewed' : 'lost'
}

const RECORD_OUTPUTS = `
with own as (select id from job_run where id = $1 and state = 'running' for update), recorded as (
  insert into job_output (run_id, location) select own.id, location from own, unnest($2::text[]) as location
  on conflict do nothing
)
select 1 from own`

/** Before an object is written: so that it can be found if the run dies. */
export async function recordJobOutputs(
  session: SqlSession,
  { runId, locations }: { readonly runId: string; readonly locations: readonly string[] },
): Promise<'recorded' | 'lost'> {
  const rows = await session.query(RECORD_OUTPUTS, [runId, locations])
  return rows.length === 1 ? 'recorded' : 'lost'
}

export interface JobRunEnd {
  readonly runId: string
  readonly state: 'succeeded' | 'nothing-to-do' | 'skipped' | 'failed'
  readonly reason: string
  /** JSON text; kept byte for byte. */
  readonly outcome: string
  readonly nowMs: number
}

const FINISH = `
with ended as (
  update job_run set state = $2::text, reason = $3, outcome = $4, finished_at_ms = $5::bigint
  where id = $1 and state = 'running' returning id, table_id
), settled as (
  delete from job_output where $2::text <> 'failed' and run_id in (select id from ended)
)
select id, table_id from ended`

/** Ends a run. Its recorded outputs are settled with it, except those of a failed one, which await clean-up. */
export function finishJobRun(
  session: DatabaseOrTransaction,
  end: JobRunEnd,
): Promise<'finished' | 'lost'> {
  return inTransaction(session, async (held) => {
    const { runId, state, reason, outcome, nowMs } = end
    const ended = await held.query<EndedRun>(FINISH, [runId, state, reason, outcome, nowMs])
    await writeEnds(held, ended)
    return ended.length === 1 ? 'finished' : 'lost'
  })
}

interface EndedRun {
  readonly id: string
  readonly table_id: string
}

async function writeEnds(session: SqlSession, ended: readonly EndedRun[]): Promise<void> {
  // Everybody locks tables in the order of their ids.
  const inOrder = [...ended].sort((a, b) => (a.table_id < b.table_id ? -1 : 1))
  for (const { id, table_id: tableId } of inOrder) {
    await writeJobEvent(session, { runId: id, tableId })
  }
}

/** The newest runs of a table, newest first. */
export async function listJobRuns(
  session: SqlSession,
  { tableId, limit }: { readonly tableId: string; readonly limit: number },
): Promise<JobRun[]> {
  const records = await session.query<JobRunRecord>(
    'select * from job_run where table_id = $1 order by started_at_ms desc, id desc limit $2',
    [tableId, limit],
  )
  return records.map(jobRunOf)
}

export interface UnsettledRun {
  readonly runId: string
  readonly tableId: string
  readonly jobKind: string
  readonly state: JobRunState
  readonly locations: string[]
}

/**
 * Runs that ended, abandoned or failed, with outputs of unknown fate: each may or may not exist and may or may not be
 * referenced. Up to `limit` runs, oldest first.
 */
export async function abandonedRunsWithOutputs(
  session: SqlSession,
  { limit = 100 }: { readonly limit?: number } = {},
): Promise<UnsettledRun[]> {
  const records = await session.query<{
    id: string
    table_id: string
    job_kind: string
    state: JobRunState
    locations: string[]
  }>(
    `select r.id, r.table_id, r.job_kind, r.state, array_agg(o.location order by o.location) as locations
     from job_run r join job_output o on o.run_id = r.id
     where r.state <> 'running' group by r.id order by r.started_at_ms limit $1`,
    [limit],
  )
  return records.map((record) => ({
    runId: record.id,
    tableId: record.table_id,
    jobKind: record.job_kind,
    state: record.state,
    locations: record.locations,
  }))
}

/** After clean-up: these outputs are referenced or deleted. Without locations, all of the run. */
export async function forgetJobOutputs(
  session: SqlSession,
  {
    runId,
    locations,
  }: { readonly runId: string; readonly locations?: readonly string[] | undefined },
): Promise<void> {
  await session.query(
    'delete from job_output where run_id = $1 and ($2::text[] is null or location = any($2::text[]))',
    [runId, locations ?? null],
  )
}

/**
 * Ends the runs whose lease was over by this time: their processes are dead, or have lost the right to go on. Without it
 * a dead run of a table that never has another one would be shown as running for ever. Answers how many.
 */
export function abandonExpiredRuns(
  session: DatabaseOrTransaction,
  { expiredByMs, nowMs }: { readonly expiredByMs: number; readonly nowMs: number },
): Promise<number> {
  return inTransaction(session, async (held) => {
    const ended = await held.query<EndedRun>(
      `update job_run set state = 'abandoned', reason = 'its lease ran out', finished_at_ms = $2
       where state = 'running' and lease_until_ms <= $1 returning id, table_id`,
      [expiredByMs, nowMs],
    )
    await writeEnds(held, ended)
    return ended.length
  })
}

/** Ends every running run: right only where this process owns the database alone and none of its jobs has begun. */
export function abandonRunningJobs(
  session: DatabaseOrTransaction,
  { nowMs }: { readonly nowMs: number },
): Promise<JobRun[]> {
  return inTransaction(session, async (held) => {
    const records = await held.query<JobRunRecord>(
      `update job_run set state = 'abandoned', reason = 'its process ended', finished_at_ms = $1
       where state = 'running' returning *`,
      [nowMs],
    )
    await writeEnds(held, records)
    return records.map(jobRunOf)
  })
}

/** Deletes up to `limit` ended runs without outputs that began before the given time; answers how many. */
export async function pruneJobRuns(
  session: SqlSession,
  { startedBeforeMs, limit }: { readonly startedBeforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await session.query(
    `delete from job_run where id in (
       select r.id from job_run r where r.state <> 'running' and r.started_at_ms < $1
         and not exists (select from job_output o where o.run_id = r.id)
       order by r.started_at_ms limit $2 for update skip locked
     ) returning 1`,
    [startedBeforeMs, limit],
  )
  return rows.length
}

function jobRunOf(record: JobRunRecord): JobRun {
  return {
    id: record.id,
    jobKind: record.job_kind,
    tableId: record.table_id,
    workerId: record.worker_id,
    state: record.state,
    reason: record.reason ?? undefined,
    outcome: record.outcome ?? undefined,
    startedAtMs: Number(record.started_at_ms),
    leaseUntilMs: Number(record.lease_until_ms),
    deadlineMs: Number(record.deadline_ms),
    finishedAtMs: record.finished_at_ms === null ? undefined : Number(record.finished_at_ms),
  }
}

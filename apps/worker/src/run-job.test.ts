import { beginJobRun, listJobRuns } from '@timelake/database/job-runs'
import { findSchedule, noteCommits, requestJob } from '@timelake/database/maintenance-schedule'
import { noFaults } from '@timelake/timelake/contract/fault-points'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestLake, type TestLake } from './open-test-lake.ts'
import { runJob, type JobHandler, type JobOutcome, type RunJobOptions } from './run-job.ts'

const SUCCEEDED: JobOutcome = {
  state: 'succeeded',
  reason: 'done',
  outcome: { n: 1n },
  decision: { why: 'x' },
}

let lake: TestLake
let identity: { tableId: string; jobKind: 'compact-table' }

beforeAll(async () => {
  lake = await openTestLake()
})

beforeEach(async () => {
  await lake.reset()
  identity = { tableId: (await lake.table()).id, jobKind: 'compact-table' }
})

afterAll(() => lake.close())

function run(handler: JobHandler, changes: Partial<RunJobOptions> = {}) {
  const { database, clock, context } = lake
  const options: RunJobOptions = {
    database,
    handlers: { 'compact-table': handler, 'purge-table': handler },
    workerId: 'w',
    leaseMs: 60_000,
    deadlineMs: 60_000,
    retryFirstMs: 5000,
    retryMsMax: 600_000,
    nowMs: clock.nowMs,
    newUuid: context.newUuid,
    reachFaultPoint: noFaults,
    ...changes,
  }
  const job = { kind: identity.jobKind, tableId: identity.tableId } as const
  return runJob(options, job, new AbortController().signal)
}

async function due(dueAtMs = lake.clock.nowMs()): Promise<void> {
  await noteCommits(lake.database, [
    {
      ...identity,
      commitCount: 3n,
      firstCommitAtMs: 1,
      lastCommitAtMs: 2,
    },
  ])
  await requestJob(lake.database, { ...identity, dueAtMs, reason: 'test' })
}

const schedule = () => findSchedule(lake.database, identity)
const runs = () => listJobRuns(lake.database, { tableId: identity.tableId, limit: 10 })
const fails: JobHandler = () =>
  Promise.reject(new Error('broken', { cause: new Error('disk full') }))

describe('runJob', () => {
  it('runs a due job once and records how it ended, why, and what comes next', async () => {
    await due()
    expect(await run(async () => SUCCEEDED)).toMatchObject({ outcome: 'ran' })
    expect(await runs()).toMatchObject([{ state: 'succeeded', reason: 'done', outcome: '{"n":1}' }])
    expect(await schedule()).toMatchObject({
      dueAtMs: undefined,
      pendingCommits: 0n,
      lastDecision: '{"why":"x"}',
    })
    expect(await run(async () => SUCCEEDED)).toEqual({ outcome: 'not-due' })
    expect(await runs()).toHaveLength(1)
  })

  it('does not run a job before its time', async () => {
    const dueAtMs = lake.clock.nowMs() + 1000
    await due(dueAtMs)
    expect(await run(async () => SUCCEEDED)).toEqual({ outcome: 'not-due', dueAtMs })
  })

  it('keeps a request that came while it ran, and the commits that it did not see', async () => {
    await due()
    const laterMs = lake.clock.nowMs() + 500
    await run(async () => {
      await noteCommits(lake.database, [
        {
          ...identity,
          commitCount: 2n,
          firstCommitAtMs: 5,
          lastCommitAtMs: 6,
        },
      ])
      await lake.database.query('update maintenance_schedule set due_at_ms = $1', [laterMs])
      return SUCCEEDED
    })
    expect(await schedule()).toMatchObject({ dueAtMs: laterMs, pendingCommits: 2n })
  })

  it('is due again for commits that came while it ran, even when their time was the same', async () => {
    await due()
    await run(async () => {
      const commits = { commitCount: 2n, firstCommitAtMs: 5, lastCommitAtMs: 6 }
      await noteCommits(lake.database, [{ ...identity, ...commits }])
      return SUCCEEDED
    })
    expect(await schedule()).toMatchObject({ dueAtMs: lake.clock.nowMs(), pendingCommits: 2n })
  })

  it('looks again when the handler says so', async () => {
    await due()
    const nextDueAtMs = lake.clock.nowMs() + 9000
    await run(async () => ({ ...SUCCEEDED, state: 'nothing-to-do', nextDueAtMs }))
    expect(await schedule()).toMatchObject({ dueAtMs: nextDueAtMs })
  })

  it('never counts a failed run as progress, says what failed and waits longer each time (B148)', async () => {
    await due()
    const { clock } = lake
    expect(await run(fails)).toMatchObject({ outcome: 'ran', end: { state: 'failed' } })
    expect(await runs()).toMatchObject([
      { state: 'failed', reason: 'Error: broken: Error: disk full' },
    ])
    expect(await schedule()).toMatchObject({ pendingCommits: 3n, dueAtMs: clock.nowMs() + 5000 })
    clock.advance(5000)
    expect(await run(fails)).toMatchObject({ outcome: 'ran' })
    const dueAtMs = clock.nowMs() + 10_000
    clock.advance(5000)
    expect(await run(fails)).toEqual({ outcome: 'not-due', dueAtMs })
    expect(await schedule()).toMatchObject({ dueAtMs, reason: 'the last run failed' })
  })

  it('does not let new commits hurry a job that failed, but a person may', async () => {
    await due()
    await run(fails)
    await lake.database.query('update maintenance_schedule set due_at_ms = 1')
    expect(await run(fails)).toMatchObject({ outcome: 'not-due' })
    const dueAtMs = lake.clock.nowMs()
    await requestJob(lake.database, { ...identity, dueAtMs, reason: 'asked for by an operator' })
    expect(await run(async () => SUCCEEDED)).toMatchObject({ outcome: 'ran' })
  })

  it('leaves a table alone that another run holds (B154)', async () => {
    await due()
    const nowMs = lake.clock.nowMs()
    await beginJobRun(lake.database, {
      id: 'other',
      ...identity,
      workerId: 'v',
      nowMs,
      leaseMs: 1000,
      deadlineMs: nowMs + 1,
    })
    expect(await run(async () => SUCCEEDED)).toEqual({ outcome: 'busy' })
    lake.clock.advance(1000)
    expect(await run(async () => SUCCEEDED)).toMatchObject({ outcome: 'ran' })
    expect((await runs()).map(({ state }) => state).sort()).toEqual(['abandoned', 'succeeded'])
  })

  it('records nothing when its run was taken over (B154)', async () => {
    await due()
    const ran = await run(async ({ runId }) => {
      await lake.database.query(`update job_run set state = 'abandoned' where id = $1`, [runId])
      return SUCCEEDED
    })
    expect(ran).toEqual({ outcome: 'lost' })
    expect(await schedule()).toMatchObject({ pendingCommits: 3n, lastDecision: undefined })
  })

  it('aborts a run at its deadline and says so', async () => {
    await due()
    const ran = await run(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        }),
      { deadlineMs: 20 },
    )
    expect(ran).toMatchObject({
      end: { state: 'failed', reason: 'Error: the run took longer than 20 ms: Error: aborted' },
    })
  })

  it('aborts a run that loses its lease', async () => {
    await due()
    const ran = await run(
      async ({ runId, signal }) => {
        await lake.database.query(`update job_run set state = 'abandoned' where id = $1`, [runId])
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        throw signal.reason
      },
      { leaseMs: 60 },
    )
    expect(ran).toEqual({ outcome: 'lost' })
  })
})

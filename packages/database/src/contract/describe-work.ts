import { describe, expect, it } from 'vitest'
import {
  abandonedRunsWithOutputs,
  abandonExpiredRuns,
  abandonRunningJobs,
  beginJobRun,
  finishJobRun,
  forgetJobOutputs,
  listJobRuns,
  pruneJobRuns,
  recordJobOutputs,
  renewJobRunLease,
} from '../job-runs.ts'
import {
  clearDue,
  dueJobs,
  findSchedule,
  listSchedules,
  nextDueAtMs,
  noteCommits,
  recordDecision,
  requestJob,
  scheduleJobs,
} from '../maintenance-schedule.ts'
import { markEventsDispatched, outboxDepth, takeUndispatchedEvents } from '../outbox.ts'
import {
  newId,
  newNamespace,
  newTable,
  newWarehouse,
  NOW_MS,
  type UseDatabase,
} from './contract-world.ts'

/** What outbox.ts, maintenance-schedule.ts and job-runs.ts promise. */
export function describeWork(useDatabase: UseDatabase): void {
  describe('the outbox', () => {
    const drain = async () => {
      const database = useDatabase()
      const waiting = await takeUndispatchedEvents(database, { limit: 100_000 })
      await markEventsDispatched(
        database,
        waiting.map((row) => row.seq),
        NOW_MS,
      )
    }

    it('hands out events in order until they are marked', async () => {
      const database = useDatabase()
      await drain()
      const namespace = await newNamespace(database, await newWarehouse(database), ['a'])
      const table = await newTable(database, namespace)
      const [first, second] = await takeUndispatchedEvents(database, { limit: 10 })
      expect(first).toMatchObject({
        eventId: `${namespace.id}-1`,
        kind: 'namespace-created',
        levels: ['a'],
        tableId: undefined,
        name: undefined,
        dispatchedAtMs: undefined,
      })
      expect(second).toMatchObject({
        eventId: `${table.id}-1`,
        warehouseId: namespace.warehouseId,
        kind: 'table-created',
        tableId: table.id,
        tableUuid: table.tableUuid,
        eventNumber: 1n,
        levels: ['a'],
        name: 't',
        payload: '{}',
        createdAtMs: NOW_MS,
      })
      expect(await takeUndispatchedEvents(database, { limit: 1 })).toEqual([first])
      await markEventsDispatched(database, [first?.seq ?? 0n], NOW_MS)
      expect(await takeUndispatchedEvents(database, { limit: 10 })).toEqual([second])
    })

    it('tells how much waits and since when', async () => {
      const database = useDatabase()
      await drain()
      expect(await outboxDepth(database)).toEqual({ waitingCount: 0, oldestCreatedAtMs: undefined })
      await newNamespace(database, await newWarehouse(database))
      expect(await outboxDepth(database)).toEqual({ waitingCount: 1, oldestCreatedAtMs: NOW_MS })
    })
  })

  describe('the maintenance schedule', () => {
    const newJob = () => ({ tableId: newId(), jobKind: 'compact' })

    it('counts commits and remembers the first and the last', async () => {
      const database = useDatabase()
      const job = newJob()
      const note = (commitCount: bigint, firstCommitAtMs: number, lastCommitAtMs: number) =>
        noteCommits(database, [
          { ...job, commitCount, firstCommitAtMs, lastCommitAtMs },
          { ...newJob(), commitCount, firstCommitAtMs, lastCommitAtMs },
        ])
      await note(2n, 100, 110)
      const rows = await note(3n, 120, 130)
      expect(rows.find(({ tableId }) => tableId === job.tableId)).toEqual({
        ...job,
        dueAtMs: undefined,
        reason: undefined,
        pendingCommits: 5n,
        firstPendingAtMs: 100,
        lastCommitAtMs: 130,
        lastDecision: undefined,
        decidedAtMs: undefined,
      })
    })

    it('takes the earlier of two requests, and any time from scheduleJobs', async () => {
      const database = useDatabase()
      const job = newJob()
      const dueAtMs = async () => (await findSchedule(database, job))?.dueAtMs
      await requestJob(database, { ...job, dueAtMs: 500, reason: 'first' })
      await requestJob(database, { ...job, dueAtMs: 900, reason: 'later' })
      expect(await dueAtMs()).toBe(500)
      await requestJob(database, { ...job, dueAtMs: 400, reason: 'sooner' })
      expect(await findSchedule(database, job)).toMatchObject({ dueAtMs: 400, reason: 'sooner' })
      await scheduleJobs(database, [{ ...job, dueAtMs: 800, reason: 'calm' }])
      expect(await findSchedule(database, job)).toMatchObject({ dueAtMs: 800, reason: 'calm' })
      await clearDue(database, { ...job, expectedDueAtMs: 800 })
    })

    it('lists what is due, longest due first, and when the next is', async () => {
      const database = useDatabase()
      const [first, second, third] = [newJob(), newJob(), newJob()]
      await requestJob(database, { ...second, dueAtMs: -20, reason: 'r' })
      await requestJob(database, { ...first, dueAtMs: -30, reason: 'r' })
      await requestJob(database, { ...third, dueAtMs: -10, reason: 'r' })
      const due = async (nowMs: number, limit = 10) =>
        (await dueJobs(database, { nowMs, limit })).map((row) => row.tableId)
      expect(await due(-20)).toEqual([first.tableId, second.tableId])
      expect(await due(-10, 1)).toEqual([first.tableId])
      expect(await due(-31)).toEqual([])
      expect(await nextDueAtMs(database)).toBe(-30)
      await clearDue(database, { ...first, expectedDueAtMs: -30 })
      expect(await nextDueAtMs(database)).toBe(-20)
      await clearDue(database, { ...second, expectedDueAtMs: -20 })
      await clearDue(database, { ...third, expectedDueAtMs: -10 })
    })

    it('does not clear a request that was changed meanwhile', async () => {
      const database = useDatabase()
      const job = newJob()
      await requestJob(database, { ...job, dueAtMs: 500, reason: 'read' })
      await requestJob(database, { ...job, dueAtMs: 300, reason: 'new' })
      expect(await clearDue(database, { ...job, expectedDueAtMs: 500 })).toBe('changed')
      expect(await findSchedule(database, job)).toMatchObject({ dueAtMs: 300, reason: 'new' })
      expect(await clearDue(database, { ...job, expectedDueAtMs: 300 })).toBe('cleared')
      expect(await findSchedule(database, job)).toMatchObject({ dueAtMs: undefined })
    })

    it('keeps the last decision, and the commits that it did not see', async () => {
      const database = useDatabase()
      const job = newJob()
      await noteCommits(database, [
        { ...job, commitCount: 5n, firstCommitAtMs: 1, lastCommitAtMs: 9 },
      ])
      const decision = { ...job, decision: '{"small":9151314442816847871}', nowMs: 10 }
      await recordDecision(database, { ...decision, seenCommits: 3n })
      expect(await listSchedules(database, job.tableId)).toMatchObject([
        {
          pendingCommits: 2n,
          firstPendingAtMs: 9,
          lastDecision: '{"small":9151314442816847871}',
          decidedAtMs: 10,
        },
      ])
      await recordDecision(database, { ...decision, seenCommits: 7n })
      expect(await findSchedule(database, job)).toMatchObject({
        pendingCommits: 0n,
        firstPendingAtMs: undefined,
        lastCommitAtMs: 9,
      })
    })

    it('keeps a decision about a table that has no row yet', async () => {
      const database = useDatabase()
      const job = newJob()
      await recordDecision(database, { ...job, decision: '{}', nowMs: 1, seenCommits: 0n })
      expect(await findSchedule(database, job)).toMatchObject({ lastDecision: '{}' })
    })
  })

  describe('job runs', () => {
    const LEASE_MS = 100
    const runOf = (tableId: string, nowMs = NOW_MS) => ({
      id: newId(),
      jobKind: 'compact',
      tableId,
      workerId: 'worker-1',
      nowMs,
      leaseMs: LEASE_MS,
      deadlineMs: nowMs + 10_000,
    })
    const end = (runId: string, state: 'succeeded' | 'failed' | 'skipped' = 'succeeded') => ({
      runId,
      state,
      reason: 'because',
      outcome: '{"rows":1}',
      nowMs: NOW_MS + 50,
    })

    it('I23 lets one run of a kind hold a table', async () => {
      const database = useDatabase()
      const tableId = newId()
      const first = runOf(tableId)
      expect(await beginJobRun(database, first)).toEqual({ outcome: 'begun' })
      const busy = { outcome: 'busy', leaseUntilMs: NOW_MS + LEASE_MS }
      expect(await beginJobRun(database, runOf(tableId))).toEqual(busy)
      const other = { ...runOf(tableId), jobKind: 'expire' }
      expect(await beginJobRun(database, other)).toEqual({ outcome: 'begun' })
      expect(await finishJobRun(database, end(first.id))).toBe('finished')
      expect(await beginJobRun(database, runOf(tableId))).toEqual({ outcome: 'begun' })
    })

    it('lets exactly one of many workers begin', async () => {
      const database = useDatabase()
      const tableId = newId()
      const verdicts = await Promise.all(
        Array.from({ length: 10 }, () => beginJobRun(database, runOf(tableId))),
      )
      expect(verdicts.filter(({ outcome }) => outcome === 'begun')).toHaveLength(1)
      expect(verdicts.filter(({ outcome }) => outcome === 'busy')).toHaveLength(9)
    })

    it('I23 abandons a run whose lease is over; it is told at its next write', async () => {
      const database = useDatabase()
      const tableId = newId()
      const dead = runOf(tableId)
      await beginJobRun(database, dead)
      await recordJobOutputs(database, { runId: dead.id, locations: ['file:///a', 'file:///b'] })
      const nextRun = runOf(tableId, NOW_MS + LEASE_MS)
      expect(await beginJobRun(database, nextRun)).toEqual({ outcome: 'begun' })
      const renewal = { runId: dead.id, nowMs: NOW_MS + LEASE_MS, leaseMs: LEASE_MS }
      expect(await renewJobRunLease(database, renewal)).toBe('lost')
      const outputs = { runId: dead.id, locations: ['file:///c'] }
      expect(await recordJobOutputs(database, outputs)).toBe('lost')
      expect(await finishJobRun(database, end(dead.id))).toBe('lost')
      const [newest, oldest] = await listJobRuns(database, { tableId, limit: 10 })
      expect(newest).toMatchObject({ id: nextRun.id, state: 'running' })
      expect(oldest).toMatchObject({
        id: dead.id,
        state: 'abandoned',
        finishedAtMs: NOW_MS + LEASE_MS,
      })
      const mine = (await abandonedRunsWithOutputs(database)).filter(
        (run) => run.tableId === tableId,
      )
      expect(mine).toEqual([
        {
          runId: dead.id,
          tableId,
          jobKind: 'compact',
          state: 'abandoned',
          locations: ['file:///a', 'file:///b'],
        },
      ])
    })

    it('keeps a run alive as long as it renews its lease', async () => {
      const database = useDatabase()
      const tableId = newId()
      const run = runOf(tableId)
      await beginJobRun(database, run)
      const renewal = { runId: run.id, nowMs: NOW_MS + 90, leaseMs: LEASE_MS }
      expect(await renewJobRunLease(database, renewal)).toBe('renewed')
      expect(await beginJobRun(database, runOf(tableId, NOW_MS + 150))).toEqual({
        outcome: 'busy',
        leaseUntilMs: NOW_MS + 190,
      })
    })

    it('settles the outputs of a success and keeps those of a failure for clean-up', async () => {
      const database = useDatabase()
      const [good, bad] = [runOf(newId()), runOf(newId())]
      for (const run of [good, bad]) {
        await beginJobRun(database, run)
        const outputs = { runId: run.id, locations: [`file:///${run.id}/1`, `file:///${run.id}/2`] }
        expect(await recordJobOutputs(database, outputs)).toBe('recorded')
        expect(await recordJobOutputs(database, outputs)).toBe('recorded')
      }
      await finishJobRun(database, end(good.id))
      await finishJobRun(database, end(bad.id, 'failed'))
      const unsettled = async () =>
        (await abandonedRunsWithOutputs(database)).filter(({ runId }) =>
          [good.id, bad.id].includes(runId),
        )
      expect(await unsettled()).toMatchObject([{ runId: bad.id, state: 'failed' }])
      await forgetJobOutputs(database, { runId: bad.id, locations: [`file:///${bad.id}/1`] })
      expect(await unsettled()).toMatchObject([{ locations: [`file:///${bad.id}/2`] }])
      await forgetJobOutputs(database, { runId: bad.id })
      expect(await unsettled()).toEqual([])
    })

    it('tells what a run did', async () => {
      const database = useDatabase()
      const tableId = newId()
      const run = runOf(tableId)
      await beginJobRun(database, run)
      await finishJobRun(database, end(run.id, 'skipped'))
      expect(await listJobRuns(database, { tableId, limit: 1 })).toEqual([
        {
          id: run.id,
          jobKind: 'compact',
          tableId,
          workerId: 'worker-1',
          state: 'skipped',
          reason: 'because',
          outcome: '{"rows":1}',
          startedAtMs: NOW_MS,
          leaseUntilMs: NOW_MS + LEASE_MS,
          deadlineMs: NOW_MS + 10_000,
          finishedAtMs: NOW_MS + 50,
        },
      ])
    })

    it('abandons everything that ran in an earlier life of this process', async () => {
      const database = useDatabase()
      const run = runOf(newId())
      await beginJobRun(database, run)
      const abandoned = await abandonRunningJobs(database, { nowMs: NOW_MS + 1 })
      expect(abandoned).toContainEqual(expect.objectContaining({ id: run.id, state: 'abandoned' }))
      expect(await abandonRunningJobs(database, { nowMs: NOW_MS + 1 })).toEqual([])
    })

    it('abandons what stopped renewing its lease, and nothing else', async () => {
      const database = useDatabase()
      const tableId = newId()
      await beginJobRun(database, runOf(tableId))
      const untilMs = NOW_MS + LEASE_MS
      const states = async () =>
        (await listJobRuns(database, { tableId, limit: 1 })).map(({ state }) => state)
      await abandonExpiredRuns(database, { expiredByMs: untilMs - 1, nowMs: untilMs })
      expect(await states()).toEqual(['running'])
      await abandonExpiredRuns(database, { expiredByMs: untilMs, nowMs: untilMs })
      expect(await states()).toEqual(['abandoned'])
    })

    it('prunes old runs, but none that runs or has unsettled outputs', async () => {
      const database = useDatabase()
      const old = NOW_MS - 1_000_000
      const [done, failed, running] = [
        runOf(newId(), old),
        runOf(newId(), old),
        runOf(newId(), old),
      ]
      for (const run of [done, failed, running]) await beginJobRun(database, run)
      await recordJobOutputs(database, { runId: failed.id, locations: ['file:///x'] })
      await finishJobRun(database, end(done.id))
      await finishJobRun(database, end(failed.id, 'failed'))
      expect(await pruneJobRuns(database, { startedBeforeMs: old + 1, limit: 100 })).toBe(1)
      expect(await listJobRuns(database, { tableId: done.tableId, limit: 1 })).toEqual([])
      expect(await listJobRuns(database, { tableId: failed.tableId, limit: 1 })).toHaveLength(1)
      expect(await listJobRuns(database, { tableId: running.tableId, limit: 1 })).toHaveLength(1)
    })
  })
}

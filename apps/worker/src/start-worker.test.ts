import { findSchedule } from '@timelake/database/maintenance-schedule'
import { abandonRunningJobs, beginJobRun, listJobRuns } from '@timelake/database/job-runs'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestLake, type TestLake } from './open-test-lake.ts'
import { openBullmqPostgresQueue } from './queue/bullmq-postgres.ts'
import { startWorker, type RunningWorker } from './start-worker.ts'

const WAIT = { timeoutMs: 50_000 }
const TEST = { timeout: 60_000 }

let lake: TestLake

beforeAll(async () => {
  lake = await openTestLake()
})

beforeEach(() => lake.reset())

afterAll(() => lake.close())

function start(): Promise<RunningWorker> {
  lake.context.registry.clear()
  const jobsDirectory = `${lake.files.directory}/jobs`
  const intervals = { relayIntervalMs: 10, surveyIntervalMs: 20, cleanupIntervalMs: 60_000 }
  const config = { jobsDirectory, quietMs: 0, threadCount: 1, ...intervals }
  return startWorker({
    config,
    queue: { kind: 'embedded', pool: lake.database.queuePool() },
    context: { ...lake.context, nowMs: Date.now },
  })
}

const runs = async () => {
  const { id } = await lake.table()
  return listJobRuns(lake.database, { tableId: id, limit: 10 })
}

describe('startWorker', () => {
  it('compacts a table by itself after its commits, and stops cleanly', TEST, async () => {
    const worker = await start()
    await lake.append(1, 2, 3, 4, 5, 6)
    await waitFor(async () => (await runs()).some(({ state }) => state === 'succeeded'), WAIT)
    expect(await lake.read()).toEqual({ values: [1, 2, 3, 4, 5, 6], fileCount: 1 })
    await worker.stop()
    expect(await lake.context.registry.metrics()).toContain(
      'timelake_compaction_files_total{direction="in"} 6',
    )
  })

  it(
    'I27 finishes after a restart what a killed worker had begun, without waiting for its lock',
    TEST,
    async () => {
      await lake.append(1, 2, 3, 4, 5, 6)
      const { id: tableId } = await lake.table()
      // What a kill leaves behind: a job that is active in the queue, a run that is running, a request that is due.
      const dead = await openBullmqPostgresQueue({
        pool: lake.database.queuePool(),
        concurrency: 1,
        isOnlyUser: true,
        onError: () => {},
      })
      const taken = new Promise<void>((resolve) => {
        dead.start(async () => {
          resolve()
          await new Promise(() => {})
        })
      })
      await dead.enqueue({ kind: 'compact-table', tableId })
      await taken
      await dead.stop({ waitMsMax: 0 })
      const nowMs = Date.now()
      const times = { nowMs, leaseMs: 600_000, deadlineMs: nowMs + 600_000 }
      await beginJobRun(lake.database, {
        id: 'dead',
        jobKind: 'compact-table',
        tableId,
        workerId: 'dead',
        ...times,
      })
      await abandonRunningJobs(lake.database, { nowMs: nowMs - 60_000 })
      const worker = await start()
      await waitFor(async () => (await runs()).some(({ state }) => state === 'succeeded'), WAIT)
      await waitFor(
        async () =>
          (await findSchedule(lake.database, { tableId, jobKind: 'compact-table' }))?.dueAtMs ===
          undefined,
        WAIT,
      )
      await worker.stop()
      expect(await lake.read()).toEqual({ values: [1, 2, 3, 4, 5, 6], fileCount: 1 })
    },
  )
})

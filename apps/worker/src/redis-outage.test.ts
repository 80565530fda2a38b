import { listJobRuns } from '@timelake/database/job-runs'
import { findSchedule } from '@timelake/database/maintenance-schedule'
import { outboxDepth } from '@timelake/database/outbox'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { openTestLake, type TestLake } from './open-test-lake.ts'
import { hasRedisServer, openTestRedis, type TestRedis } from './open-test-redis.ts'
import { startWorker, type RunningWorker } from './start-worker.ts'

const WAIT = { timeoutMs: 30_000 }
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let lake: TestLake
let redis: TestRedis
let worker: RunningWorker | undefined

beforeAll(async () => {
  lake = await openTestLake()
})
beforeEach(async () => {
  await lake.reset()
  redis = await openTestRedis()
})
afterEach(async () => {
  await worker?.stop()
  worker = undefined
  await redis.close()
})
afterAll(() => lake.close())

async function start(): Promise<RunningWorker> {
  lake.context.registry.clear()
  worker = await startWorker({
    config: {
      jobsDirectory: `${lake.files.directory}/jobs`,
      quietMs: 0,
      threadCount: 1,
      relayIntervalMs: 10,
      surveyIntervalMs: 20,
    },
    queue: { kind: 'redis', url: redis.url },
    context: { ...lake.context, nowMs: Date.now },
  })
  return worker
}

const tableId = async () => (await lake.table()).id
const succeededCount = async () => {
  const runs = await listJobRuns(lake.database, { tableId: await tableId(), limit: 100 })
  return runs.filter(({ state }) => state === 'succeeded').length
}
const schedule = async () =>
  findSchedule(lake.database, { tableId: await tableId(), jobKind: 'compact-table' })
/** Every event has become a due time; nothing of it is in the outbox any more. */
const isRelayed = async () => (await outboxDepth(lake.database)).waitingCount === 0
const gauge = async () =>
  /^timelake_queue_up (\d)$/m.exec(await lake.context.registry.metrics())?.[1]

// Skipped on a machine without redis-server.
describe.skipIf(!hasRedisServer())('a worker whose Redis is away', () => {
  it('I25 starts, says so, keeps what is due, and does it once Redis is there', async () => {
    const { isQueueUp } = await start()
    await lake.append(1, 2, 3, 4, 5, 6)
    await waitFor(isRelayed, WAIT)
    expect(await schedule()).toMatchObject({ dueAtMs: expect.any(Number), pendingCommits: 2n })
    expect(await gauge()).toBe('0')
    expect(isQueueUp()).toBe(false)
    await redis.start()
    await waitFor(async () => (await succeededCount()) === 1, WAIT)
    expect(await lake.read()).toEqual({ values: [1, 2, 3, 4, 5, 6], fileCount: 1 })
    expect(await gauge()).toBe('1')
  })

  it('I25 loses no work to a Redis that dies under events and comes back empty', async () => {
    await redis.start()
    const { isQueueUp } = await start()
    for (let outage = 1; outage <= 3; outage++) {
      const values = Array.from({ length: 6 }, (_, n) => outage * 100 + n)
      await waitFor(isQueueUp, WAIT)
      await lake.append(...values.slice(0, 3))
      await redis.kill()
      await lake.append(...values.slice(3))
      await waitFor(isRelayed, WAIT)
      await redis.start()
      await waitFor(async () => (await schedule())?.dueAtMs === undefined, WAIT)
      expect(await schedule()).toMatchObject({ pendingCommits: 0n })
    }
    expect((await lake.read()).values).toHaveLength(18)
    expect(await succeededCount()).toBeGreaterThanOrEqual(3)
  })
})

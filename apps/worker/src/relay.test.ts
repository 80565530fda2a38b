import { findSchedule } from '@timelake/database/maintenance-schedule'
import { outboxDepth } from '@timelake/database/outbox'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestLake, type TestLake } from './open-test-lake.ts'
import type { JobQueue } from './queue/job-queue.ts'
import type { Job } from './queue/job.ts'
import { relayEvents, type RelayOptions } from './relay.ts'
import { surveyDueJobs } from './survey.ts'

let lake: TestLake
let sent: { job: Job; delayMs: number }[]
let tableId: string

beforeAll(async () => {
  lake = await openTestLake()
})

beforeEach(async () => {
  await lake.reset()
  sent = []
  tableId = (await lake.table()).id
})

afterAll(() => lake.close())

/** Keeps what is sent; it is the database that counts. */
const queue: JobQueue = {
  enqueue: async (job, { delayMs }) => void sent.push({ job, delayMs }),
  start: () => {},
  stop: async () => {},
}

function relay(changes: Partial<RelayOptions> = {}) {
  const { database, clock } = lake
  const limits = { batchMax: 100, quietMs: 3000, commitCountMax: 4 }
  return relayEvents({ database, queue, ...limits, nowMs: clock.nowMs, ...changes })
}

const schedule = () => findSchedule(lake.database, { tableId, jobKind: 'compact-table' })
const setProperty = (value: string) =>
  lake.commit({ requirements: [], updates: [{ action: 'set-properties', updates: { value } }] })

describe('relayEvents', () => {
  it('makes a table due when its commits have paused', async () => {
    expect(await relay()).toEqual({ eventCount: 1, unsentCount: 0 })
    const createdMs = lake.clock.nowMs()
    lake.clock.advance(1000)
    await setProperty('a')
    expect(await relay()).toEqual({ eventCount: 1, unsentCount: 0 })
    expect(await schedule()).toMatchObject({
      dueAtMs: createdMs + 4000,
      pendingCommits: 2n,
      reason: 'no commit for 3000 ms',
    })
    expect(sent.at(-1)).toEqual({ job: { kind: 'compact-table', tableId }, delayMs: 3000 })
    expect(await relay()).toEqual({ eventCount: 0, unsentCount: 0 })
  })

  it('makes a table due at once when many commits wait', async () => {
    for (const value of ['a', 'b', 'c']) await setProperty(value)
    await relay()
    expect(await schedule()).toMatchObject({
      dueAtMs: lake.clock.nowMs(),
      reason: '4 commits wait',
    })
  })

  it('takes bounded batches, oldest first', async () => {
    await setProperty('a')
    await setProperty('b')
    expect(await relay({ batchMax: 2 })).toMatchObject({ eventCount: 2 })
    expect(await schedule()).toMatchObject({ pendingCommits: 2n })
    expect(await relay({ batchMax: 2 })).toMatchObject({ eventCount: 1 })
    expect(await schedule()).toMatchObject({ pendingCommits: 3n })
  })

  it('leaves the batch in the outbox when it dies before the end of the transaction', async () => {
    const { database } = lake
    const dying = {
      ...lake.database,
      query: database.query.bind(database),
      transaction: async () => Promise.reject(new Error('killed')),
    }
    await expect(relay({ database: dying })).rejects.toThrow('killed')
    expect((await outboxDepth(database)).waitingCount).toBe(1)
    expect(await relay()).toMatchObject({ eventCount: 1 })
    expect(await schedule()).toMatchObject({ pendingCommits: 1n })
  })

  it('loses no job when the queue takes no message: the survey sends it once it is due', async () => {
    const broken = { ...queue, enqueue: () => Promise.reject(new Error('queue is gone')) }
    expect(await relay({ queue: broken })).toEqual({ eventCount: 1, unsentCount: 1 })
    const { database, clock } = lake
    const survey = () => surveyDueJobs({ database, queue, batchMax: 10, nowMs: clock.nowMs })
    expect(await survey()).toBe(0)
    clock.advance(3000)
    expect(await survey()).toBe(1)
    expect(sent).toEqual([{ job: { kind: 'compact-table', tableId }, delayMs: 0 }])
  })
})

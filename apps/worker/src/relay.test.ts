import { findSchedule } from '@timelake/database/maintenance-schedule'
import { outboxDepth } from '@timelake/database/outbox'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestLake, type TestLake } from './open-test-lake.ts'
import type { JobQueue } from './queue/job-queue.ts'
import type { Job } from './queue/job.ts'
import { relayEvents, type RelayOptions } from './relay.ts'
import type { SentJobs } from './send-job.ts'
import { surveyDueJobs } from './survey.ts'

let lake: TestLake
let sent: Job[]
let sentJobs: SentJobs
let tableId: string

beforeAll(async () => {
  lake = await openTestLake()
})

beforeEach(async () => {
  await lake.reset()
  sent = []
  sentJobs = new Map()
  tableId = (await lake.table()).id
})

afterAll(() => lake.close())

/** Keeps what is sent; it is the database that counts. */
const queue: JobQueue = {
  isUp: () => true,
  enqueue: async (job) => void sent.push(job),
  start: () => {},
  stop: async () => {},
}

function relay(changes: Partial<RelayOptions> = {}) {
  const { database, clock } = lake
  const limits = { batchMax: 100, quietMs: 3000, commitCountMax: 4, purgeGraceMs: 10_000 }
  return relayEvents({ database, queue, sentJobs, ...limits, nowMs: clock.nowMs, ...changes })
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
      reason: 'no commit for 3s',
    })
    expect(sent).toEqual([])
    expect(await relay()).toEqual({ eventCount: 0, unsentCount: 0 })
  })

  it('makes a table due at once when many commits wait', async () => {
    for (const value of ['a', 'b', 'c']) await setProperty(value)
    await relay()
    expect(await schedule()).toMatchObject({
      dueAtMs: lake.clock.nowMs(),
      reason: '4 commits wait',
    })
    expect(sent).toEqual([{ kind: 'compact-table', tableId }])
  })

  it('takes bounded batches, oldest first', async () => {
    await setProperty('a')
    await setProperty('b')
    expect(await relay({ batchMax: 2 })).toMatchObject({ eventCount: 2 })
    expect(await schedule()).toMatchObject({ pendingCommits: 2n })
    expect(await relay({ batchMax: 2 })).toMatchObject({ eventCount: 1 })
    expect(await schedule()).toMatchObject({ pendingCommits: 3n })
  })

  it('I25 counts an event once when several relays look at the same time', async () => {
    for (const value of ['a', 'b', 'c']) await setProperty(value)
    const relayed = await Promise.all([relay(), relay(), relay()])
    expect(relayed.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(4)
    expect(await schedule()).toMatchObject({ pendingCommits: 4n })
  })

  it('I25 leaves the batch in the outbox when it dies before the end of the transaction', async () => {
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

  it.each([
    [true, { dueAtMs: 10_000, reason: 'dropped with a purge, 10s of grace' }],
    [false, undefined],
  ])('B079: a drop with purgeRequested=%s makes the purge due: %j', async (purge, expected) => {
    await relay()
    const nowMs = lake.clock.nowMs()
    await lake.drop({ purgeRequested: purge })
    sent = []
    await relay()
    const due = expected && { ...expected, dueAtMs: nowMs + expected.dueAtMs }
    const purgeJob = { tableId, jobKind: 'purge-table' } as const
    const row = await findSchedule(lake.database, purgeJob)
    expect(row && { dueAtMs: row.dueAtMs, reason: row.reason }).toEqual(due)
    expect(sent).toEqual([])
    expect(await schedule()).toBeUndefined()
  })

  const survey = () => {
    const { database, clock } = lake
    return surveyDueJobs({ database, queue, sentJobs, batchMax: 10, nowMs: clock.nowMs })
  }

  it('leaves what is due later to the survey, which sends it once', async () => {
    await relay()
    expect(await survey()).toBe(0)
    lake.clock.advance(3000)
    expect(await survey()).toBe(1)
    expect(sent).toEqual([{ kind: 'compact-table', tableId }])
    expect(await survey()).toBe(0)
  })

  it('I25 loses no job when the queue takes no message: the survey sends it', async () => {
    const broken = { ...queue, enqueue: () => Promise.reject(new Error('queue is gone')) }
    const relayed = await relay({ queue: broken, commitCountMax: 1 })
    expect(relayed).toEqual({ eventCount: 1, unsentCount: 1 })
    expect(await survey()).toBe(1)
  })

  it('sends nothing while the queue is away, and all of it afterwards', async () => {
    await relay()
    lake.clock.advance(3000)
    const away = { ...queue, isUp: () => false }
    const { database, clock } = lake
    const options = { database, queue: away, sentJobs, batchMax: 10, nowMs: clock.nowMs }
    expect(await surveyDueJobs(options)).toBe(0)
    expect(sent).toEqual([])
    expect(await survey()).toBe(1)
  })

  it('I25 sends a message again that came to nothing', async () => {
    await relay({ commitCountMax: 1 })
    expect(await survey()).toBe(0)
    lake.clock.advance(15_000)
    expect(await survey()).toBe(1)
    expect(sent).toHaveLength(2)
  })
})

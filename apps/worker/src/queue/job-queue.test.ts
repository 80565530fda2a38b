import { randomUUID } from 'node:crypto'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { testServices } from '@timelake/testing/test-services'
import { waitFor } from '@timelake/testing/wait-for'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, it } from 'vitest'
import type { JobQueue } from './job-queue.ts'
import type { Job } from './job.ts'
import { openJobQueue, type QueueOptions } from './open-job-queue.ts'

const WAIT = { timeoutMs: 10_000 }
const TEST = { timeout: 30_000 }
const { redisUrl } = testServices()
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function embedded(): Promise<QueueOptions> {
  const database = await openTestDatabase()
  closers.push(() => database.close())
  return { kind: 'embedded', pool: database.queuePool() }
}

async function redis(): Promise<QueueOptions> {
  const url = redisUrl ?? ''
  const prefix = `test-${randomUUID()}`
  closers.push(async () => {
    const client = new Redis(url)
    const keys = await client.keys(`${prefix}*`)
    if (keys.length > 0) await client.del(keys)
    client.disconnect()
  })
  return { kind: 'redis', url, prefix }
}

async function open(options: QueueOptions, concurrency = 1): Promise<JobQueue> {
  const errors: Error[] = []
  const use = { concurrency, isOnlyUser: false, onError: (error: Error) => errors.push(error) }
  const queue = await openJobQueue(options, use)
  closers.push(async () => {
    await queue.stop({ waitMsMax: 0 })
    expect(errors).toEqual([])
  })
  await waitFor(() => queue.isUp(), WAIT)
  return queue
}

const compact = (tableId: string): Job => ({ kind: 'compact-table', tableId })

const BACKENDS = [
  { name: 'the embedded database', options: embedded, isThere: true },
  // Skipped where TEST_REDIS_URL is not set.
  { name: 'Redis', options: redis, isThere: redisUrl !== undefined },
]

describe.each(BACKENDS)('a job queue on $name', ({ options, isThere }) => {
  it.skipIf(!isThere)('runs each job once', TEST, async () => {
    const queue = await open(await options())
    const ran: Job[] = []
    queue.start(async (job) => void ran.push(job))
    for (const id of ['a', 'b', 'c']) await queue.enqueue(compact(id))
    await waitFor(() => ran.length === 3, WAIT)
    expect(ran).toEqual([compact('a'), compact('b'), compact('c')])
  })

  it.skipIf(!isThere)(
    'keeps one waiting message of a job, beside one that runs',
    TEST,
    async () => {
      const queue = await open(await options())
      for (let n = 0; n < 5; n++) await queue.enqueue(compact('a'))
      const ran: string[] = []
      const gate: { open?: () => void } = {}
      queue.start(async ({ tableId }) => {
        ran.push(tableId)
        if (ran.length === 1) await new Promise<void>((resolve) => (gate.open = resolve))
      })
      await waitFor(() => gate.open, WAIT)
      for (let n = 0; n < 5; n++) await queue.enqueue(compact('a'))
      await queue.enqueue(compact('b'))
      gate.open?.()
      await waitFor(() => ran.includes('b') && ran.length === 3, WAIT)
      expect([...ran].sort()).toEqual(['a', 'a', 'b'])
    },
  )

  it.skipIf(!isThere)('hands each message to one of its workers', TEST, async () => {
    const shared = await options()
    const [one, two] = [await open(shared), await open(shared)]
    const ran: string[] = []
    for (const queue of [one, two]) queue.start(async ({ tableId }) => void ran.push(tableId))
    const ids = Array.from({ length: 20 }, (_, n) => `t${n}`)
    await Promise.all(ids.map((id) => one.enqueue(compact(id))))
    await waitFor(() => ran.length >= ids.length, WAIT)
    expect([...ran].sort()).toEqual([...ids].sort())
  })

  it.skipIf(!isThere)('aborts a running job when it is stopped, after the wait', TEST, async () => {
    const queue = await open(await options())
    const aborted: unknown[] = []
    const started: string[] = []
    queue.start(async ({ tableId }, signal) => {
      started.push(tableId)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      aborted.push(signal.reason)
    })
    await queue.enqueue(compact('a'))
    await waitFor(() => started.length === 1, WAIT)
    await queue.stop({ waitMsMax: 10 })
    expect(aborted).toEqual([new Error('the worker is stopping')])
  })
})

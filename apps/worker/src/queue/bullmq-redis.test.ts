import { waitFor } from '@timelake/testing/wait-for'
import { afterEach, describe, expect, it } from 'vitest'
import { hasRedisServer, openTestRedis, type TestRedis } from '../open-test-redis.ts'
import { openBullmqRedisQueue } from './bullmq-redis.ts'
import type { JobQueue } from './job-queue.ts'
import type { Job } from './job.ts'
import { RedisUrlError } from './redis-address.ts'

const WAIT = { timeoutMs: 15_000 }
const TEST = { timeout: 60_000 }
// Skipped on a machine without redis-server.
const isThere = hasRedisServer()
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function server(...settings: readonly string[]): Promise<TestRedis> {
  const redis = await openTestRedis(settings)
  closers.push(() => redis.close())
  return redis
}

async function open(url: string): Promise<JobQueue & { readonly errors: Error[] }> {
  const errors: Error[] = []
  const queue = await openBullmqRedisQueue({
    url,
    concurrency: 1,
    onError: (error) => void errors.push(error),
  })
  closers.push(() => queue.stop({ waitMsMax: 0 }))
  return { ...queue, errors }
}

const compact = (tableId: string): Job => ({ kind: 'compact-table', tableId })

describe('openBullmqRedisQueue', () => {
  it.skipIf(!isThere)(
    'starts while the server is away, refuses messages at once, and works once it is there',
    TEST,
    async () => {
      const redis = await server()
      const queue = await open(redis.url)
      const ran: Job[] = []
      queue.start(async (job) => void ran.push(job))
      expect(queue.isUp()).toBe(false)
      await expect(queue.enqueue(compact('a'))).rejects.toThrow()
      await waitFor(() => queue.errors.length > 0, WAIT)
      await redis.start()
      await waitFor(() => queue.isUp(), WAIT)
      await queue.enqueue(compact('b'))
      await waitFor(() => ran.length === 1, WAIT)
      expect(ran).toEqual([compact('b')])
    },
  )

  it.skipIf(!isThere)('goes on with a server that came back empty', TEST, async () => {
    const redis = await server()
    await redis.start()
    const queue = await open(redis.url)
    const ran: string[] = []
    queue.start(async ({ tableId }) => void ran.push(tableId))
    await waitFor(() => queue.isUp(), WAIT)
    await queue.enqueue(compact('a'))
    await waitFor(() => ran.includes('a'), WAIT)
    for (const id of ['b', 'c']) {
      await redis.kill()
      await waitFor(() => !queue.isUp(), WAIT)
      await expect(queue.enqueue(compact(id))).rejects.toThrow()
      await redis.start()
      await waitFor(() => queue.isUp(), WAIT)
      await queue.enqueue(compact(id))
      await waitFor(() => ran.includes(id), WAIT)
    }
  })

  it.skipIf(!isThere)(
    'takes messages again after the server died under a running job',
    TEST,
    async () => {
      const redis = await server()
      await redis.start()
      const queue = await open(redis.url)
      const ran: string[] = []
      const gate: { open?: () => void } = {}
      queue.start(async ({ tableId }) => {
        ran.push(tableId)
        if (tableId === 'a') await new Promise<void>((resolve) => (gate.open = resolve))
      })
      await waitFor(() => queue.isUp(), WAIT)
      await queue.enqueue(compact('a'))
      await waitFor(() => gate.open, WAIT)
      await redis.kill()
      gate.open?.()
      await redis.start()
      await waitFor(() => queue.isUp(), WAIT)
      await queue.enqueue(compact('b'))
      await waitFor(() => ran.includes('b'), WAIT)
    },
  )

  it.skipIf(!isThere)(
    'refuses a message when the server does not answer in time',
    TEST,
    async () => {
      const redis = await server()
      await redis.start()
      const queue = await open(redis.url)
      await waitFor(() => queue.isUp(), WAIT)
      redis.pause()
      await expect(queue.enqueue(compact('a'))).rejects.toThrow('Command timed out')
      redis.resume()
      await waitFor(async () => {
        await queue.enqueue(compact('a'))
        return true
      }, WAIT)
    },
  )

  it.skipIf(!isThere)('stops within a bounded time while the server is away', TEST, async () => {
    const redis = await server()
    await redis.start()
    const queue = await open(redis.url)
    queue.start(async () => {})
    await waitFor(() => queue.isUp(), WAIT)
    await redis.kill()
    const startedMs = performance.now()
    await queue.stop({ waitMsMax: 60_000 })
    expect(performance.now() - startedMs).toBeLessThan(30_000)
  })

  it.skipIf(!isThere)('says that a server evicts keys', TEST, async () => {
    const redis = await server('--maxmemory', '10mb', '--maxmemory-policy', 'allkeys-lru')
    await redis.start()
    const queue = await open(redis.url)
    await waitFor(() => queue.errors.length > 0, WAIT)
    expect(queue.errors[0]?.message).toBe(
      'the server evicts keys: expected maxmemory-policy noeviction, got allkeys-lru',
    )
  })

  it.skipIf(!isThere)('I29 keeps the password out of every error', TEST, async () => {
    const redis = await server()
    await redis.start()
    const password = 'wrong-secret'
    const queue = await open(redis.url.replace(/:[^:@/]+@/, `:${password}@`))
    queue.start(async () => {})
    await waitFor(() => queue.errors.some(({ message }) => message.includes('WRONGPASS')), WAIT)
    const failure = await queue.enqueue(compact('a')).catch((error: unknown) => error)
    for (const error of [...queue.errors, failure]) {
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(password)
      expect(JSON.stringify(error)).not.toContain(password)
    }
  })

  it.each(['redis://:hidden@[', 'http://:hidden@h', 'redis://:hidden@h/table', 'nothing'])(
    'refuses the URL %s without repeating it',
    async (url) => {
      const opening = openBullmqRedisQueue({ url, concurrency: 1, onError: () => {} })
      const error: unknown = await opening.catch((cause: unknown) => cause)
      expect(error).toBeInstanceOf(RedisUrlError)
      expect(String(error)).not.toContain('hidden')
    },
  )
})

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { abandonedRunsWithOutputs, listJobRuns, type JobRun } from '@timelake/database/job-runs'
import { findSchedule } from '@timelake/database/maintenance-schedule'
import {
  openPostgresTestDatabase,
  type PostgresTestDatabase,
} from '@timelake/testing/open-postgres-test-database'
import { testServices } from '@timelake/testing/test-services'
import { waitFor } from '@timelake/testing/wait-for'
import type { FaultPoint } from '@timelake/timelake/contract/fault-points'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openTestLakeOn, type TestLake } from './open-test-lake.ts'
import type { DoomedWorker } from './run-doomed-worker.ts'
import { startWorker, type RunningWorker, type WorkerOptions } from './start-worker.ts'

const { databaseUrl, redisUrl } = testServices()
const WAIT = { timeoutMs: 60_000 }
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let lake: TestLake<PostgresTestDatabase>
let queue: Extract<WorkerOptions['queue'], { kind: 'redis' }>
const closers: (() => Promise<unknown>)[] = []

/** Everything happens soon, and the dead are found soon. */
const CONFIG = {
  quietMs: 0,
  threadCount: 1,
  relayIntervalMs: 10,
  surveyIntervalMs: 20,
  cleanupIntervalMs: 50,
  cleanupGraceMs: 100,
  leaseMs: 1_500,
  retryFirstMs: 1,
  retryMsMax: 1,
  isOnlyWorker: false,
}

// Skipped where TEST_DATABASE_URL or TEST_REDIS_URL is not set.
describe.skipIf(databaseUrl === undefined || redisUrl === undefined)('several workers', () => {
  beforeEach(async () => {
    lake = await openTestLakeOn(await openPostgresTestDatabase())
    closers.push(() => lake.close())
    queue = { kind: 'redis', url: redisUrl ?? '', prefix: `test-${randomUUID()}` }
  })

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  const config = () => ({ ...CONFIG, jobsDirectory: `${lake.files.directory}/jobs` })

  async function start(newUuid = randomUUID): Promise<RunningWorker> {
    const context = { ...lake.context, nowMs: Date.now, newUuid, registry: new Registry() }
    const worker = await startWorker({ config: config(), queue, context })
    closers.push(() => worker.stop())
    return worker
  }

  const runs = async (): Promise<readonly JobRun[]> =>
    listJobRuns(lake.database, { tableId: (await lake.table()).id, limit: 100 })
  const succeeded = async () => (await runs()).filter(({ state }) => state === 'succeeded')
  const isAtRest = async () => {
    const identity = { tableId: (await lake.table()).id, jobKind: 'compact-table' }
    const schedule = await findSchedule(lake.database, identity)
    return schedule?.dueAtMs === undefined && schedule?.pendingCommits === 0n
  }

  it('I23 never compact one table at the same time, and count each event once', async () => {
    await Promise.all([start(), start(), start()])
    const expected: number[] = []
    for (let round = 0; round < 5; round++) {
      const values = Array.from({ length: 5 }, (_, n) => round * 5 + n)
      expected.push(...values)
      const before = (await succeeded()).length
      for (const value of values) await lake.append(value)
      await waitFor(async () => (await succeeded()).length > before || (await isAtRest()), WAIT)
    }
    await waitFor(isAtRest, WAIT)
    const { values } = await lake.read()
    expect(values).toEqual(expected)
    const inOrder = [...(await runs())].sort((a, b) => a.startedAtMs - b.startedAtMs)
    expect(inOrder.every(({ state }) => state === 'succeeded' || state === 'nothing-to-do')).toBe(
      true,
    )
    for (const [index, run] of inOrder.entries()) {
      const next = inOrder[index + 1]
      if (next === undefined) continue
      expect(run.finishedAtMs).toBeLessThanOrEqual(next.startedAtMs)
    }
    expect(await abandonedRunsWithOutputs(lake.database)).toEqual([])
  })

  async function catalogServer(): Promise<string> {
    const server = createServer((request, response) => {
      void buffer(request).then(async (body) => {
        const { method = 'GET', url = '/' } = request
        const init = method === 'GET' ? { method } : { method, body: body.toString('utf8') }
        const answer = await lake.answer(new Request(`http://catalog${url}`, init))
        response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(async () => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo // `as`: a TCP server has no other kind of address
    return `http://127.0.0.1:${port}`
  }

  /** Starts a worker as a process of its own and waits until it has killed itself. */
  async function startAndDie(dieAt: FaultPoint): Promise<void> {
    const told: DoomedWorker = {
      databaseUrl: lake.database.url,
      queue,
      catalogUri: await catalogServer(),
      config: config(),
      dieAt,
    }
    const module = JSON.stringify(new URL('run-doomed-worker.ts', import.meta.url).href)
    const program = `const { runDoomedWorker } = await import(${module})
      await runDoomedWorker(${JSON.stringify(told)})`
    const args = ['--import', 'tsx', '--input-type=module', '-e', program]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGKILL')
  }

  it.each<[FaultPoint, number]>([
    ['compaction.data-uploaded', 1],
    ['compaction.manifests-uploaded', 1],
    ['compaction.committed', 0],
  ])(
    'I27 a worker killed at %s is replaced: its job is done, its leftovers are gone',
    async (dieAt, leftOverCount) => {
      await lake.append(1, 2, 3, 4, 5, 6)
      await startAndDie(dieAt)
      const [dead] = await runs()
      expect(dead).toMatchObject({ state: 'running' })
      const { location } = await lake.table()
      const data = () => readdir(new URL(`${location}/data`))
      expect(
        (await data()).filter((name) => name.startsWith('compacted-')).length,
      ).toBeGreaterThanOrEqual(leftOverCount)
      const [deadDirectory] = await readdir(config().jobsDirectory)
      await start()
      await waitFor(isAtRest, WAIT)
      expect(await lake.read()).toEqual({ values: [1, 2, 3, 4, 5, 6], fileCount: 1 })
      await waitFor(async () => (await abandonedRunsWithOutputs(lake.database)).length === 0, WAIT)
      const merged = (await data()).filter((name) => name.startsWith('compacted-'))
      expect(merged).toHaveLength(1)
      expect((await runs()).map(({ state }) => state)).toContain('abandoned')
      expect(await readdir(config().jobsDirectory)).not.toContain(deadDirectory)
    },
  )
})

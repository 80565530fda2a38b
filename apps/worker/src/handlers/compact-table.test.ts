import { sameStoreForAll } from '@timelake/storage/warehouse-stores'
import {
  abandonedRunsWithOutputs,
  abandonRunningJobs,
  beginJobRun,
} from '@timelake/database/job-runs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { cleanUpOutputs } from '../clean-up-outputs.ts'
import { normalizedStore } from '../normalized-store.ts'
import { openTestLake, type TestLake, type Wire } from '../open-test-lake.ts'
import type { JobOutcome } from '../run-job.ts'
import { catalogsOf } from '../table-catalogs.ts'
import { makeWorkerMetrics } from '../worker-metrics.ts'
import { compactTableHandler } from './compact-table.ts'

const RUN_ID = '11111111-1111-4111-8111-111111111111'
let diskBytesMax: number
const isCommit = (request: Request): boolean => request.method === 'POST'

let lake: TestLake

beforeAll(async () => {
  lake = await openTestLake()
})

beforeEach(async () => {
  diskBytesMax = 1_000_000_000
  await lake.reset()
  await lake.append(1, 2, 3)
  await lake.append(4, 5, 6)
})

afterAll(() => lake.close())

/** Runs the handler in a run that has begun. */
async function compact(
  signal = new AbortController().signal,
  context = lake.context,
): Promise<JobOutcome> {
  const table = await lake.table()
  const nowMs = lake.clock.nowMs()
  const times = { nowMs, leaseMs: 60_000, deadlineMs: nowMs + 60_000 }
  const run = { id: RUN_ID, jobKind: 'compact-table', tableId: table.id, workerId: 'w', ...times }
  expect(await beginJobRun(lake.database, run)).toEqual({ outcome: 'begun' })
  lake.context.registry.clear()
  const handler = compactTableHandler({
    context,
    catalogOf: catalogsOf(context),
    borrowEngine: () => ({ engine: lake.engine, giveBack: () => {} }),
    jobsDirectory: `${lake.files.directory}/jobs`,
    diskBytesMax,
    metrics: makeWorkerMetrics(context),
    waitMs: async (_, stop) => stop.throwIfAborted(),
  })
  return handler({ runId: RUN_ID, table, signal })
}

/** The names of the objects of the table, data and Avro files only. */
async function objects(): Promise<string[]> {
  const names: string[] = []
  for await (const { location } of lake.files.store.list((await lake.table()).location)) {
    if (!location.endsWith('.json')) names.push(location)
  }
  return names.sort()
}

const operations = async (): Promise<(string | undefined)[]> =>
  (await lake.metadata()).snapshots.map(({ summary }) => summary?.['operation'])

/** Lets something happen right before the first commit is sent. */
function beforeFirstCommit(happening: () => Promise<void>): Wire {
  let happened = false
  return async (request, send) => {
    if (isCommit(request) && !happened) {
      happened = true
      await happening()
    }
    return send(request)
  }
}

describe('compact-table', () => {
  it('replaces small files by one with the same rows, and leaves the inputs in place', async () => {
    const before = await objects()
    expect(await compact()).toMatchObject({ state: 'succeeded', reason: '6 files became 1' })
    expect(await lake.read()).toEqual({ values: [1, 2, 3, 4, 5, 6], fileCount: 1 })
    const { snapshots } = await lake.metadata()
    expect(snapshots.at(-1)?.summary).toMatchObject({
      operation: 'replace',
      'timelake.run-id': RUN_ID,
      'total-records': '6',
      'total-data-files': '1',
    })
    expect(await objects()).toEqual(expect.arrayContaining(before))
  })

  it('has nothing to do the second time', async () => {
    await compact()
    await lake.database.query('delete from job_run')
    expect(await compact()).toMatchObject({ state: 'nothing-to-do' })
  })

  it('keeps the rows of an append that came while it merged', async () => {
    lake.setWire(beforeFirstCommit(() => lake.append(7)))
    expect(await compact()).toMatchObject({ state: 'succeeded' })
    expect(await lake.read()).toEqual({ values: [1, 2, 3, 4, 5, 6, 7], fileCount: 2 })
    expect(await operations()).toEqual(['append', 'append', 'append', 'replace'])
  })

  it('I20 gives up and removes what it wrote when an input is gone (B142, B148)', async () => {
    const [first] = (await lake.metadata()).snapshots
    const before = await objects()
    const rollback = () =>
      lake.commit({
        requirements: [],
        updates: [
          {
            action: 'set-snapshot-ref',
            refName: 'main',
            ref: { type: 'branch', snapshotId: first!.snapshotId },
          },
        ],
      })
    lake.setWire(beforeFirstCommit(rollback))
    expect(await compact()).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('live') as string,
    })
    expect(await lake.read()).toEqual({ values: [1, 2, 3], fileCount: 3 })
    expect(await objects()).toEqual(before)
  })

  it('I20 looks at all that came between, not only at the last commit (B056)', async () => {
    const [first] = (await lake.metadata()).snapshots
    const ref = { type: 'branch' as const, snapshotId: first!.snapshotId }
    lake.setWire(
      beforeFirstCommit(async () => {
        await lake.commit({
          requirements: [],
          updates: [{ action: 'set-snapshot-ref', refName: 'main', ref }],
        })
        // By itself an append that a rewrite goes along with.
        await lake.append(9)
      }),
    )
    expect(await compact()).toMatchObject({ state: 'failed' })
    expect((await lake.read()).values).toEqual([1, 2, 3, 9])
  })

  it('gives up when the schema changed while it merged', async () => {
    const before = await objects()
    const change = () =>
      lake.commit({
        requirements: [],
        updates: [
          {
            action: 'add-schema',
            schema: {
              schemaId: 1,
              identifierFieldIds: [],
              fields: [{ id: 1, name: 'id', required: false, type: { kind: 'long' } }],
            },
          },
          { action: 'set-current-schema', schemaId: -1 },
        ],
      })
    lake.setWire(beforeFirstCommit(change))
    expect(await compact()).toMatchObject({ state: 'failed', reason: 'the schema has changed' })
    expect(await objects()).toEqual(before)
  })

  it('finds its commit when the answer was lost', async () => {
    let lost = 0
    lake.setWire(async (request, send) => {
      const response = await send(request)
      if (!isCommit(request) || lost++ > 0) return response
      throw new Error('connection reset')
    })
    expect(await compact()).toMatchObject({ state: 'succeeded' })
    expect(await operations()).toEqual(['append', 'append', 'replace'])
    expect(await lake.read()).toMatchObject({ values: [1, 2, 3, 4, 5, 6], fileCount: 1 })
  })

  it('commits once when the request was lost, with the same key', async () => {
    const keys: (string | null)[] = []
    lake.setWire(async (request, send) => {
      if (isCommit(request)) keys.push(request.headers.get('idempotency-key'))
      if (isCommit(request) && keys.length === 1)
        return new Response('bad gateway', { status: 502 })
      return send(request)
    })
    expect(await compact()).toMatchObject({ state: 'succeeded' })
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
    expect(await operations()).toEqual(['append', 'append', 'replace'])
  })

  it('I13 deletes nothing while it is unknown whether the commit landed; clean-up keeps what is referenced (B149)', async () => {
    const aborted = new AbortController()
    lake.setWire(async (request, send) => {
      if (aborted.signal.aborted) throw new Error('the catalog is gone')
      const response = await send(request)
      if (!isCommit(request)) return response
      aborted.abort(new Error('deadline'))
      throw new Error('connection reset')
    })
    await expect(compact(aborted.signal)).rejects.toMatchObject({ name: 'CommitStateUnknownError' })
    lake.setWire((request, send) => send(request))
    const before = await objects()
    expect(await cleanUp()).toEqual([{ outcome: 'settled', runId: RUN_ID, deletedCount: 0 }])
    expect(await objects()).toEqual(before)
    expect(await lake.read()).toMatchObject({ values: [1, 2, 3, 4, 5, 6], fileCount: 1 })
  })

  it('leaves the outputs of a run that died to the clean-up, which removes what no snapshot names (B148)', async () => {
    const before = await objects()
    lake.setWire(async (request, send) => {
      if (isCommit(request)) throw new Error('the catalog is gone')
      return send(request)
    })
    await expect(compact()).rejects.toMatchObject({ name: 'CommitStateUnknownError' })
    expect((await objects()).length).toBeGreaterThan(before.length)
    lake.setWire((request, send) => send(request))
    expect(await cleanUp()).toEqual([{ outcome: 'settled', runId: RUN_ID, deletedCount: 4 }])
    expect(await objects()).toEqual(before)
    expect(await abandonedRunsWithOutputs(lake.database)).toEqual([])
  })

  it('does not touch the outputs of a run that this process still works on, or that ended only now', async () => {
    const nowMs = lake.clock.nowMs()
    lake.setWire(async (request, send) => {
      if (isCommit(request)) throw new Error('the catalog is gone')
      return send(request)
    })
    await expect(compact()).rejects.toThrow()
    const before = await objects()
    await abandonRunningJobs(lake.database, { nowMs })
    expect(await cleanUp({ activeRunIds: new Set([RUN_ID]) })).toMatchObject([{ outcome: 'kept' }])
    expect(await cleanUp({ workerId: 'w' })).toMatchObject([{ outcome: 'kept' }])
    expect(await objects()).toEqual(before)
  })

  it('I24 records every object before its first byte is written', async () => {
    const early: string[] = []
    const late: string[] = []
    const note = async (location: string) => {
      const rows = await lake.database.query('select 1 from job_output where location = $1', [
        location,
      ])
      ;(rows.length === 1 ? early : late).push(location)
    }
    const { store } = lake.files
    const watched: typeof store = {
      ...store,
      async putIfAbsent(location, bytes) {
        await note(location)
        return store.putIfAbsent(location, bytes)
      },
      async putFileIfAbsent(location, localPath) {
        await note(location)
        return store.putFileIfAbsent(location, localPath)
      },
    }
    const context = { ...lake.context, stores: sameStoreForAll(watched) }
    expect(await compact(undefined, context)).toMatchObject({ state: 'succeeded' })
    expect(late).toEqual([])
    expect(early).toHaveLength(4)
  })

  it('I22 skips a group that needs more local disk than a job may take', async () => {
    diskBytesMax = 1000
    const before = await objects()
    expect(await compact()).toMatchObject({
      state: 'skipped',
      reason: expect.stringMatching(
        /^merging 6 files takes .* of local disk, and a job may take 1/,
      ),
    })
    expect(await objects()).toEqual(before)
  })

  it('I22 skips a table with the reason and writes nothing', async () => {
    await lake.commit({
      requirements: [],
      updates: [{ action: 'set-properties', updates: { 'timelake.compaction.enabled': 'false' } }],
    })
    const before = await objects()
    expect(await compact()).toMatchObject({
      state: 'skipped',
      reason: 'timelake.compaction.enabled is false',
    })
    expect(await objects()).toEqual(before)
  })
})

async function cleanUp(changes: { activeRunIds?: Set<string>; workerId?: string } = {}) {
  await abandonRunningJobs(lake.database, { nowMs: lake.clock.nowMs() })
  return cleanUpOutputs(
    {
      database: lake.database,
      storeOf: async () => normalizedStore(lake.files.store),
      catalogOf: catalogsOf(lake.context),
      workerId: 'another',
      activeRunIds: new Set(),
      isOnlyWorker: true,
      graceMs: 600_000,
      nowMs: lake.clock.nowMs,
      ...changes,
    },
    new AbortController().signal,
  )
}

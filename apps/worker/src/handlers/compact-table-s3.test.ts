import { readdir } from 'node:fs/promises'
import { abandonedRunsWithOutputs } from '@timelake/database/job-runs'
import { requestJob } from '@timelake/database/maintenance-schedule'
import { openS3ObjectStore } from '@timelake/storage/s3-object-store'
import { openS3Double, type Fault, type S3Double } from '@timelake/testing/open-s3-double'
import { openTestS3Store } from '@timelake/testing/open-test-s3'
import { noFaults } from '@timelake/timelake/contract/fault-points'
import { unreferencedOutputs } from '@timelake/timelake/unreferenced-outputs'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { cleanUpOutputs } from '../clean-up-outputs.ts'
import { normalizedStore } from '../normalized-store.ts'
import { openTestLake, type TestLake, type TestPlace } from '../open-test-lake.ts'
import { runJob, type JobOutcome } from '../run-job.ts'
import { catalogsOf } from '../table-catalogs.ts'
import { makeWorkerMetrics } from '../worker-metrics.ts'
import { compactTableHandler } from './compact-table.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const INPUT = /\/data\/(?!compacted-).*\.parquet$/
const OUTPUT = /\/data\/compacted-.*\.parquet$/

/** Every kind of file that a compaction reads or writes. */
const FILES = [
  { name: 'reading an input', operation: 'get', key: INPUT },
  { name: 'storing the output', operation: 'put', key: OUTPUT },
  { name: 'reading a manifest', operation: 'get', key: /-m\d+\.avro$/ },
  { name: 'storing a manifest', operation: 'put', key: /-m\d+\.avro$/ },
  { name: 'reading the manifest list', operation: 'get', key: /\/snap-.*\.avro$/ },
  { name: 'storing the manifest list', operation: 'put', key: /\/snap-.*\.avro$/ },
  { name: 'reading the metadata', operation: 'get', key: /\.metadata\.json$/ },
  { name: 'storing the metadata', operation: 'put', key: /\.metadata\.json$/ },
] as const

const FAULTS: readonly { readonly name: string; readonly fault: Fault }[] = [
  { name: 'the store answers 503 for long', fault: { kind: 'status' } },
  {
    name: 'the store answers 500 after it did it',
    fault: { kind: 'status-after', status: 500, times: 1 },
  },
  { name: 'a request is lost', fault: { kind: 'drop-request', times: 1 } },
  { name: 'an answer is lost', fault: { kind: 'drop-response', times: 1 } },
  { name: 'the store hangs after it did it', fault: { kind: 'hang-after', times: 1 } },
  { name: 'every answer is cut', fault: { kind: 'truncate' } },
]

/** Short patience, so that a hanging store costs a test little. */
function onDouble(double: S3Double): TestPlace & { close(): void } {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = double
  const store = openS3ObjectStore({
    profile: { type: 's3', endpoint, region, pathStyle: true },
    credentials: { accessKeyId, secretAccessKey },
    connectTimeoutMs: 500,
    firstByteTimeoutMs: 250,
    idleTimeoutMs: 250,
    // No pauses between attempts.
    random: () => 0,
  })
  return { store, location: `s3://${bucket}/w`, close: () => store.close() }
}

const VALUES = [1, 2, 3, 4, 5, 6]
let lake: TestLake

const jobsDirectory = () => `${lake.files.directory}/jobs`

/** Asks for a compaction and runs it, as a worker would. */
async function compact(): Promise<JobOutcome> {
  const { database, clock, context } = lake
  const { id: tableId } = await lake.table()
  clock.advance(1)
  const dueAtMs = clock.nowMs()
  await requestJob(database, { tableId, jobKind: 'compact-table', dueAtMs, reason: 'asked for' })
  context.registry.clear()
  const handler = compactTableHandler({
    context,
    catalogOf: catalogsOf(context),
    borrowEngine: () => ({ engine: lake.engine, giveBack: () => {} }),
    jobsDirectory: jobsDirectory(),
    diskBytesMax: 1_000_000_000,
    metrics: makeWorkerMetrics(context),
    waitMs: async (_, stop) => stop.throwIfAborted(),
  })
  const ran = await runJob(
    {
      database,
      handlers: { 'compact-table': handler, 'purge-table': handler },
      workerId: 'w',
      leaseMs: 60_000,
      deadlineMs: 60_000,
      retryFirstMs: 0,
      retryMsMax: 0,
      nowMs: clock.nowMs,
      newUuid: context.newUuid,
      reachFaultPoint: noFaults,
    },
    { kind: 'compact-table', tableId },
    new AbortController().signal,
  )
  if (ran.outcome !== 'ran') throw new Error(`the job was not run: ${ran.outcome}`)
  return ran.end
}

function cleanUp() {
  const { database, clock, context, place } = lake
  clock.advance(1)
  return cleanUpOutputs(
    {
      database,
      storeOf: async () => normalizedStore(place.store),
      catalogOf: catalogsOf(context),
      workerId: 'another',
      activeRunIds: new Set(),
      isOnlyWorker: false,
      graceMs: 0,
      nowMs: clock.nowMs,
    },
    new AbortController().signal,
  )
}

/** Data and Avro files of the table that no snapshot names. */
async function leftovers(): Promise<readonly string[]> {
  const { store } = lake.place
  const metadata = await lake.metadata()
  const locations: string[] = []
  for await (const { location } of store.list(metadata.location)) {
    if (!location.endsWith('.json')) locations.push(location)
  }
  const signal = new AbortController().signal
  const found = await unreferencedOutputs(store.get, metadata, { locations, signal })
  if (found.outcome === 'unknown') throw new Error(found.reason)
  return found.unreferenced
}

async function fill(): Promise<void> {
  await lake.reset()
  await lake.append(...VALUES.slice(0, 3))
  await lake.append(...VALUES.slice(3))
}

async function expectCompacted(): Promise<void> {
  expect(await lake.read()).toEqual({ values: VALUES, fileCount: 1 })
  expect(await leftovers()).toEqual([])
  expect(await abandonedRunsWithOutputs(lake.database)).toEqual([])
  // Nothing stays on the disk of the worker.
  expect(await readdir(jobsDirectory())).toEqual([])
}

const real = openTestS3Store()

// Skipped where no S3 server is set.
describe.skipIf(real === undefined)('compact-table on the real S3 server', () => {
  beforeAll(async () => {
    lake = await openTestLake(real)
    await fill()
  })
  afterAll(async () => {
    await lake.close()
    await real?.remove()
  })

  it('replaces small files by one with the same rows', async () => {
    expect(await compact()).toMatchObject({ state: 'succeeded', reason: '6 files became 1' })
    await expectCompacted()
    expect(await compact()).toMatchObject({ state: 'nothing-to-do' })
  })
})

describe('compact-table on S3', () => {
  let double: S3Double
  let place: TestPlace & { close(): void }

  beforeAll(async () => {
    double = await openS3Double()
    place = onDouble(double)
    lake = await openTestLake(place)
  })
  beforeEach(async () => {
    double.setFault(undefined)
    await fill()
  })
  afterAll(async () => {
    place.close()
    await lake.close()
    await double.close()
  })

  it('fetches each input once, stores one output, and keeps nothing on the local disk', async () => {
    double.forgetRequests()
    expect(await compact()).toMatchObject({ state: 'succeeded' })
    const seen = double.requests()
    const inputs = seen.filter(({ operation, key }) => operation === 'get' && INPUT.test(key))
    expect(new Set(inputs.map(({ key }) => key)).size).toBe(VALUES.length)
    expect(inputs).toHaveLength(VALUES.length)
    const outputs = seen.filter(({ operation, key }) => operation === 'put' && OUTPUT.test(key))
    expect(outputs).toHaveLength(1)
    await expectCompacted()
  })

  describe.each(FAULTS)('while $name', ({ fault }) => {
    it.each(FILES)('at $name: commits or leaves nothing, and succeeds afterwards', async (file) => {
      const { key, operation } = file
      // Some faults have no meaning for some requests; then nothing is hit and the run succeeds.
      double.setFault({ ...fault, match: { key, operation } })
      const first = await compact()
      expect(['succeeded', 'failed']).toContain(first.state)
      double.setFault(undefined)
      expect((await lake.read()).values).toEqual(VALUES)
      await cleanUp()
      if (first.state === 'failed') {
        expect(await leftovers()).toEqual([])
        const second = await compact()
        expect(second.state).toBe('succeeded')
      }
      await expectCompacted()
    })
  })
})

import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { abandonExpiredRuns } from '@timelake/database/job-runs'
import { cleanUpOutputs } from './clean-up-outputs.ts'
import type { WorkerContext } from './context.ts'
import { engineShelf } from './engine-shelf.ts'
import { compactTableHandler } from './handlers/compact-table.ts'
import { purgeTableHandler } from './handlers/purge-table.ts'
import { normalizedStore } from './normalized-store.ts'
import { patientSend } from './patient-send.ts'
import { pruneHistory } from './prune-history.ts'
import { queueErrorReporter } from './queue-errors.ts'
import { openOwnJobsDirectory } from './own-jobs-directory.ts'
import type { JobQueue } from './queue/job-queue.ts'
import { openJobQueue, type QueueOptions } from './queue/open-job-queue.ts'
import { relayEvents } from './relay.ts'
import { repeat, type Repetition } from './repeat.ts'
import { reportRun } from './report-run.ts'
import { runJob, type JobHandler, type RunJobOptions } from './run-job.ts'
import { forgetSent, type SentJobs } from './send-job.ts'
import { surveyDueJobs } from './survey.ts'
import { catalogsOf } from './table-catalogs.ts'
import { objectsOf } from './warehouse-objects.ts'
import { defaultWorkerConfig, type WorkerConfig } from './worker-config.ts'
import { makeWorkerMetrics, registerQueueState, type WorkerMetrics } from './worker-metrics.ts'

export interface WorkerOptions {
  /** Anything but the directory has a default. */
  readonly config: Partial<WorkerConfig> & Pick<WorkerConfig, 'jobsDirectory'>
  readonly context: WorkerContext
  /** What carries the messages of jobs. */
  readonly queue: QueueOptions
}

export interface RunningWorker {
  /** Whether the queue's server answers; while it does not, jobs wait in the database. */
  isQueueUp(): boolean
  /** Takes no new jobs, lets running ones finish within the configured time, then aborts them. */
  stop(): Promise<void>
}

interface Worker {
  readonly config: WorkerConfig
  readonly context: WorkerContext
  readonly queue: JobQueue
  readonly metrics: WorkerMetrics
  readonly workerId: string
  /** Runs that have begun and not ended in this process. */
  readonly activeRunIds: Set<string>
  readonly sentJobs: SentJobs
}

/**
 * Follows the outbox and runs the jobs that come due, until `stop`. Whatever was due when an earlier process died is
 * found by the first survey. The queue's server may be away, at the start too. Rejects when the embedded queue's tables
 * or the directory for jobs cannot be made, or when the address of the queue cannot be read.
 */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const catalogFetch = patientSend(options.context.catalogFetch, { pauseMs: pauseRealTime })
  const context = { ...options.context, catalogFetch }
  const config = { ...defaultWorkerConfig, ...options.config }
  const workerId = context.newUuid()
  const own = await openOwnJobsDirectory(config.jobsDirectory, { workerId, pid: process.pid })
  const metrics = makeWorkerMetrics(context)
  const queue = await openJobQueue(options.queue, {
    concurrency: config.concurrency,
    isOnlyUser: config.isOnlyWorker,
    onError: queueErrorReporter(context, metrics),
  })
  registerQueueState(context, queue)
  const worker: Worker = {
    config: { ...config, jobsDirectory: own.path },
    context,
    queue,
    metrics,
    workerId,
    activeRunIds: new Set(),
    sentJobs: new Map(),
  }
  const engines = engineShelf(worker.config)
  startQueue(worker, {
    'compact-table': trackRuns(worker, compactionHandler(worker, engines)),
    'purge-table': trackRuns(worker, purgeTableHandler({ context, config, metrics })),
  })
  const loops = startLoops(worker)
  return {
    isQueueUp: () => queue.isUp(),
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
      await queue.stop({ waitMsMax: config.drainTimeoutMs })
      await engines.stop()
      await own.remove()
    },
  }
}

async function pauseRealTime(durationMs: number, signal: AbortSignal): Promise<void> {
  await setTimeout(durationMs, undefined, { signal })
}

function compactionHandler(worker: Worker, engines: ReturnType<typeof engineShelf>): JobHandler {
  const { context, config, metrics } = worker
  return compactTableHandler({
    context,
    catalogOf: catalogsOf(context),
    borrowEngine: engines.borrow,
    jobsDirectory: join(config.jobsDirectory, 'runs'),
    diskBytesMax: config.diskBytesMax,
    metrics,
  })
}

function trackRuns({ activeRunIds }: Worker, handler: JobHandler): JobHandler {
  return async (run) => {
    activeRunIds.add(run.runId)
    try {
      return await handler(run)
    } finally {
      activeRunIds.delete(run.runId)
    }
  }
}

function startQueue(worker: Worker, handlers: RunJobOptions['handlers']): void {
  const { config, context, queue, metrics, workerId, sentJobs } = worker
  const { database, nowMs, newUuid, reachFaultPoint, log } = context
  const run = { ...config, database, handlers, workerId, nowMs, newUuid, reachFaultPoint }
  queue.start(async (job, signal) => {
    const startedMs = nowMs()
    const ran = await runJob(run, job, signal).finally(() => forgetSent(sentJobs, job))
    reportRun({ log, metrics, job, ran, tookMs: nowMs() - startedMs })
  })
}

function startLoops(worker: Worker): readonly Repetition[] {
  const { config, context } = worker
  const onError = (what: string) => (error: unknown) =>
    context.log.error({ err: error }, `${what} failed; it is tried again`)
  return [
    repeat(() => relayStep(worker), {
      intervalMs: config.relayIntervalMs,
      onError: onError('the relay'),
    }),
    repeat(() => surveyStep(worker), {
      intervalMs: config.surveyIntervalMs,
      onError: onError('the survey'),
    }),
    repeat((signal) => cleanUpStep(worker, signal), {
      intervalMs: config.cleanupIntervalMs,
      onError: onError('the clean-up'),
    }),
  ]
}

async function relayStep({
  config,
  context,
  queue,
  metrics,
  sentJobs,
}: Worker): Promise<'again' | 'wait'> {
  const { database, nowMs } = context
  const { relayBatchMax: batchMax } = config
  const relayed = await relayEvents({ ...config, database, queue, sentJobs, batchMax, nowMs })
  metrics.relayedEvents.inc(relayed.eventCount)
  return relayed.eventCount === batchMax ? 'again' : 'wait'
}

async function surveyStep({ config, context, queue, sentJobs }: Worker): Promise<'wait'> {
  const { database, nowMs } = context
  await surveyDueJobs({ database, queue, sentJobs, batchMax: config.surveyBatchMax, nowMs })
  return 'wait'
}

async function cleanUpStep(worker: Worker, signal: AbortSignal): Promise<'wait'> {
  const { config, context, metrics, workerId, activeRunIds } = worker
  const { database, nowMs, log } = context
  // One lease more than the owner has, because clocks of machines differ.
  await abandonExpiredRuns(database, { expiredByMs: nowMs() - config.leaseMs, nowMs: nowMs() })
  const cleaned = await cleanUpOutputs(
    {
      database,
      storeOf: async (warehouseId) => normalizedStore(await objectsOf(context, warehouseId)),
      catalogOf: catalogsOf(context),
      workerId,
      activeRunIds,
      isOnlyWorker: config.isOnlyWorker,
      graceMs: config.cleanupGraceMs,
      nowMs,
    },
    signal,
  )
  for (const run of cleaned) {
    if (run.outcome === 'settled') metrics.cleanedOutputs.inc(run.deletedCount)
    log.info(run, 'outputs of a dead run')
  }
  await pruneHistory(database, { ...config, nowMs: nowMs() }, signal)
  return 'wait'
}

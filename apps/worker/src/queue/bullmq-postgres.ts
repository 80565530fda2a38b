import type { QueuePool } from '@timelake/database/queue-pool'
import { createPostgresBackend, runMigrations, withBackend } from 'bullmq'
import type { JobQueue } from './job-queue.ts'
import { decodeJob, jobKey, type Job } from './job.ts'

const QUEUE_NAME = 'maintenance'
/** A crashed worker's message is taken over after about this and STALLED_INTERVAL_MS together. */
const LOCK_MS = 15_000
const STALLED_INTERVAL_MS = 15_000
/** A message whose worker died this often is given up; the survey sends the job again. */
const STALLED_COUNT_MAX = 10
const KEPT_FINISHED_COUNT = 100
const FORCED_CLOSE_WAIT_MS = 2_000

export interface BullmqOptions {
  readonly pool: QueuePool
  readonly concurrency: number
  /**
   * Whether no other process uses the queue. Then messages of an earlier process are dropped at the start: those that it
   * was working on would otherwise hold their job's place until they count as stalled.
   */
  readonly isOnlyUser: boolean
  /** Told of trouble inside the queue; it recovers by itself. */
  readonly onError: (error: Error) => void
}

/**
 * The queue on BullMQ's PostgreSQL backend, over the pool of the embedded database or a real server. Makes its tables
 * (schema `bullmq`) when they are missing; the pool's search path must contain that schema after `public`.
 */
export async function openBullmqPostgresQueue(options: BullmqOptions): Promise<JobQueue> {
  const client = await options.pool.connect()
  try {
    await runMigrations(client)
  } finally {
    client.release()
  }
  const { Queue, Worker } = withBackend(createPostgresBackend)

  const connection = options.pool
  const queue = new Queue<Job>(QUEUE_NAME, {
    connection,
    defaultJobOptions: {
      removeOnComplete: { count: KEPT_FINISHED_COUNT },
      removeOnFail: { count: KEPT_FINISHED_COUNT },
    },
  })
  queue.on('error', options.onError)
  if (options.isOnlyUser) await queue.obliterate({ force: true })
  const running = new Set<AbortController>()
  let worker: Closable | undefined
  return {
    async enqueue(job) {
      const deduplication = { id: jobKey(job), replace: true, keepLastIfActive: true }
      await queue.add(job.kind, job, { deduplication })
    },
    start(run) {
      const process = async ({ data }: { data: unknown }): Promise<void> => {
        const job = decodeJob(data)
        if (job === undefined) return
        const controller = new AbortController()
        running.add(controller)
        try {
          await run(job, controller.signal)
        } finally {
          running.delete(controller)
        }
      }
      const started = new Worker(QUEUE_NAME, process, {
        connection,
        concurrency: options.concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_INTERVAL_MS,
        maxStalledCount: STALLED_COUNT_MAX,
      })
      started.on('error', options.onError)
      worker = started
    },
    async stop({ waitMsMax }) {
      await closeWorker(worker, { waitMsMax, running })
      await queue.close()
    },
  }
}

interface Closable {
  close(): Promise<void>
}

/** Waits for running jobs, then aborts them and waits a little more. */
async function closeWorker(
  worker: Closable | undefined,
  { waitMsMax, running }: { waitMsMax: number; running: ReadonlySet<AbortController> },
): Promise<void> {
  if (worker === undefined) return
  const closed = worker.close()
  if (await endsWithin(closed, waitMsMax)) return
  for (const controller of running) controller.abort(new Error('the worker is stopping'))
  // A handler that ignores the abort is left behind: the process is ending, and the database knows that the run is open.
  await endsWithin(closed, FORCED_CLOSE_WAIT_MS)
}

function endsWithin(work: Promise<void>, waitMsMax: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), waitMsMax)
    work.then(
      () => {
        clearTimeout(timer)
        resolve(true)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error instanceof Error ? error : new Error(String(error)))
      },
    )
  })
}

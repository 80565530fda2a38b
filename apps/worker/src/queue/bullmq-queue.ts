import type { Job as Message, JobsOptions } from 'bullmq'
import type { JobQueue } from './job-queue.ts'
import { decodeJob, jobKey, type Job } from './job.ts'

export const QUEUE_NAME = 'maintenance'
/** A crashed worker's message is taken over after about this and STALLED_INTERVAL_MS together. */
const LOCK_MS = 10_000
const STALLED_INTERVAL_MS = 5_000
/** A message whose worker died this often is given up; the survey sends the job again. */
const STALLED_COUNT_MAX = 10
const KEPT_FINISHED_COUNT = 100
const FORCED_CLOSE_WAIT_MS = 2_000
/** Between attempts to take a message while the queue's server is away. */
const TAKE_AGAIN_MS = 1_000

/** What both backends give to a queue that sends. */
export const SENDER_OPTIONS = {
  defaultJobOptions: {
    removeOnComplete: { count: KEPT_FINISHED_COUNT },
    removeOnFail: { count: KEPT_FINISHED_COUNT },
  },
} as const

/** What both backends give to a worker that takes. */
export const TAKER_OPTIONS = {
  lockDuration: LOCK_MS,
  stalledInterval: STALLED_INTERVAL_MS,
  maxStalledCount: STALLED_COUNT_MAX,
  runRetryDelay: TAKE_AGAIN_MS,
} as const

/** The part of BullMQ's Queue that is used. */
export interface Sender {
  add(name: string, data: Job, options: JobsOptions): Promise<unknown>
  close(): Promise<void>
}

/** The part of BullMQ's Worker that is used. */
export interface Taker {
  close(force?: boolean): Promise<void>
}

/** One of BullMQ's backends, with its queue open. */
export interface BullmqBackend {
  readonly sender: Sender
  openTaker(process: (message: Pick<Message, 'data'>) => Promise<void>): Taker
  isUp(): boolean
  /** Ends every connection, at once. */
  disconnect(): void
}

/** The queue on one of BullMQ's backends; on all of them it behaves the same. */
export function bullmqQueue(backend: BullmqBackend): JobQueue {
  const running = new Set<AbortController>()
  let taker: Taker | undefined
  return {
    isUp: () => backend.isUp(),
    async enqueue(job) {
      const deduplication = { id: jobKey(job), replace: true, keepLastIfActive: true }
      await backend.sender.add(job.kind, job, { deduplication })
    },
    start(run) {
      taker = backend.openTaker(async ({ data }) => {
        const job = decodeJob(data)
        if (job === undefined) return
        const controller = new AbortController()
        running.add(controller)
        try {
          await run(job, controller.signal)
        } finally {
          running.delete(controller)
        }
      })
    },
    async stop({ waitMsMax }) {
      await closeTaker(taker, { waitMsMax, running })
      // A server that is away never answers a goodbye.
      await endsWithin(backend.sender.close(), FORCED_CLOSE_WAIT_MS)
      backend.disconnect()
    },
  }
}

/** Waits for running jobs, then aborts them and waits a little more. */
async function closeTaker(
  taker: Taker | undefined,
  { waitMsMax, running }: { waitMsMax: number; running: ReadonlySet<AbortController> },
): Promise<void> {
  if (taker === undefined) return
  const closed = taker.close()
  if (await endsWithin(closed, running.size === 0 ? FORCED_CLOSE_WAIT_MS : waitMsMax)) return
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

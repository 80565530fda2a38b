import type { QueuePool } from '@timelake/database/queue-pool'
import { createPostgresBackend, runMigrations, withBackend } from 'bullmq'
import { bullmqQueue, QUEUE_NAME, SENDER_OPTIONS, TAKER_OPTIONS } from './bullmq-queue.ts'
import type { JobQueue } from './job-queue.ts'
import type { Job } from './job.ts'

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
  const { pool: connection, concurrency, onError } = options
  const client = await connection.connect()
  try {
    await runMigrations(client)
  } finally {
    client.release()
  }
  const { Queue, Worker } = withBackend(createPostgresBackend)
  const queue = new Queue<Job>(QUEUE_NAME, { connection, ...SENDER_OPTIONS })
  queue.on('error', onError)
  if (options.isOnlyUser) await queue.obliterate({ force: true })
  return bullmqQueue({
    sender: queue,
    openTaker(process) {
      const worker = new Worker(QUEUE_NAME, process, { connection, concurrency, ...TAKER_OPTIONS })
      return worker.on('error', onError)
    },
    // It lives and dies with the database.
    isUp: () => true,
    disconnect: () => {},
  })
}

import type { QueuePool } from '@timelake/database/queue-pool'
import { openBullmqPostgresQueue } from './bullmq-postgres.ts'
import { openBullmqRedisQueue } from './bullmq-redis.ts'
import type { JobQueue } from './job-queue.ts'

/** What carries the messages: the embedded database of one process, or a Redis that several share. */
export type QueueOptions =
  | { readonly kind: 'embedded'; readonly pool: QueuePool }
  | {
      readonly kind: 'redis'
      readonly url: string
      /** Of every key: deployments that share one logical database need different ones. */
      readonly prefix?: string
    }

export interface QueueUse {
  readonly concurrency: number
  /** Whether no other process uses the queue; then an earlier process's messages are dropped. */
  readonly isOnlyUser: boolean
  readonly onError: (error: Error) => void
}

/** Opens the queue. Throws RedisUrlError, and what the embedded database throws; a Redis may be away. */
export function openJobQueue(options: QueueOptions, use: QueueUse): Promise<JobQueue> {
  const { concurrency, isOnlyUser, onError } = use
  switch (options.kind) {
    case 'embedded':
      return openBullmqPostgresQueue({ pool: options.pool, concurrency, isOnlyUser, onError })
    case 'redis':
      return openBullmqRedisQueue({ ...options, concurrency, onError })
  }
}

import type { Settings } from '@timelake/timelake/contract/settings'
import type { WorkerOptions } from '@timelake/worker/start-worker'
import { CommandError, EXIT_CODES } from './exit-code.ts'
import type { OpenState } from './open-state.ts'

/**
 * What carries the messages of jobs: the embedded database, or Redis where several processes work. Throws CommandError
 * when Redis is needed and not set.
 */
export function workerQueue(
  { redisUrl }: Pick<Settings, 'redisUrl'>,
  state: OpenState,
): WorkerOptions['queue'] {
  if (redisUrl !== undefined) return { kind: 'redis', url: redisUrl }
  if (state.kind === 'embedded') return { kind: 'embedded', pool: state.database.queuePool() }
  throw new CommandError(
    EXIT_CODES.wrongUsage,
    'maintenance on PostgreSQL needs TIMELAKE_REDIS_URL: set it, or set TIMELAKE_MAINTENANCE=off and run workers elsewhere',
  )
}

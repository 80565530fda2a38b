import { randomUUID } from 'node:crypto'
import { openPostgresDatabase } from '@timelake/database/open-postgres-database'
import { openLocalObjectStore } from '@timelake/storage/local-object-store'
import { sameStoreForAll } from '@timelake/storage/warehouse-stores'
import type { FaultPoint } from '@timelake/timelake/contract/fault-points'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { startWorker, type WorkerOptions } from './start-worker.ts'

/** What a doomed worker is told, as JSON. */
export interface DoomedWorker {
  readonly databaseUrl: string
  readonly queue: Extract<WorkerOptions['queue'], { kind: 'redis' }>
  readonly catalogUri: string
  readonly config: WorkerOptions['config']
  readonly dieAt: FaultPoint
}

/** For tests: a worker in this process on PostgreSQL, Redis and local files, which kills itself at a step. */
export async function runDoomedWorker(told: DoomedWorker): Promise<void> {
  const database = await openPostgresDatabase({ url: told.databaseUrl, connectionsMax: 4 })
  await startWorker({
    config: told.config,
    queue: told.queue,
    context: {
      database,
      stores: sameStoreForAll(openLocalObjectStore()),
      catalogFetch: (request) => fetch(request),
      catalogUri: told.catalogUri,
      nowMs: Date.now,
      newUuid: randomUUID,
      log: pino({ level: 'silent' }),
      registry: new Registry(),
      reachFaultPoint(point) {
        if (point === told.dieAt) process.kill(process.pid, 'SIGKILL')
      },
    },
  })
}

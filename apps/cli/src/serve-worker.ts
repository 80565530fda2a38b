import type { Settings } from '@timelake/timelake/contract/settings'
import { startWorker } from '@timelake/worker/start-worker'
import { startWebhooks } from '@timelake/worker/webhooks/start-webhooks'
import { webhookConfig, workerConfig } from './app-configs.ts'
import { closeAll, type Closer } from './close-all.ts'
import { makeContext, makeLog, openStores } from './context.ts'
import { dataDirectoryAt, makeDataDirectory } from './data-directory.ts'
import { CommandError, EXIT_CODES } from './exit-code.ts'
import { startHealthServer } from './health-server.ts'
import { openState } from './open-state.ts'
import type { RunningServer } from './serve.ts'
import { workerQueue } from './worker-queue.ts'

/**
 * A worker alone: it shares the database with catalogs, commits through the catalog at TIMELAKE_URI, and answers health
 * checks and metrics on its own port. Errors: CommandError without a shared database or a queue, those of the database,
 * and that of the network when the address is taken. After an error nothing is left running.
 */
export async function serveWorker(settings: Settings): Promise<RunningServer> {
  const closers: Closer[] = []
  const stop = (): Promise<void> => closeAll(closers)
  try {
    const url = await start(settings, closers)
    return {
      url,
      greeting: `Timelake's worker is running; health and metrics at ${url}.\nStop it with Ctrl-C.`,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(settings: Settings, closers: Closer[]): Promise<string> {
  if (settings.databaseUrl === undefined) {
    throw new CommandError(
      EXIT_CODES.wrongUsage,
      'a worker of its own needs TIMELAKE_DATABASE_URL: an embedded database belongs to one process, which runs jobs itself',
    )
  }
  const log = makeLog(settings)
  const directory = dataDirectoryAt(settings.dataDirectory)
  makeDataDirectory(directory)
  const stores = openStores(settings, directory)
  closers.push(async () => stores.close())
  const state = await openState({
    settings,
    directory,
    log,
    closers,
    beforeFirstStart: async () => {},
  })
  const queue = workerQueue(settings, state)
  const context = makeContext(settings, { database: state.database, stores, log })
  const health = await startHealthServer({ ...context, settings })
  closers.push(() => health.close())
  const world = {
    ...context,
    catalogFetch: (request: Request) => fetch(request),
    catalogUri: settings.uri,
    ...(settings.token === undefined ? {} : { catalogToken: settings.token }),
  }
  const worker = await startWorker({
    config: workerConfig(settings, { directory, isOnlyWorker: false }),
    queue,
    context: world,
  })
  closers.push(() => worker.stop())
  if (settings.isWebhooksEnabled) {
    const webhooks = await startWebhooks({
      config: webhookConfig(settings, { isOnlySender: false }),
      context: world,
    })
    closers.push(() => webhooks.stop())
  }
  return health.url
}

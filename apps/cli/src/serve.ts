import { getHeapStatistics } from 'node:v8'
import { delay } from '@timelake/catalog/delay'
import { startCatalog } from '@timelake/catalog/start-catalog'
import { abandonRunningJobs } from '@timelake/database/job-runs'
import type { WarehouseRow } from '@timelake/database/warehouses'
import { openNameRecords } from '@timelake/storage/name-records'
import type { WarehouseStores } from '@timelake/storage/warehouse-stores'
import type { Settings } from '@timelake/timelake/contract/settings'
import type { Logger } from 'pino'
import { catalogConfig, webhookConfig, workerConfig } from './app-configs.ts'
import { closeAll, type Closer } from './close-all.ts'
import { makeContext, makeLog, openStores, type ProcessContext } from './context.ts'
import { dataDirectoryAt, makeDataDirectory, type DataDirectory } from './data-directory.ts'
import { CommandError, EXIT_CODES } from './exit-code.ts'
import { greetingText } from './greeting.ts'
import {
  homeWarehouse,
  openHomeWarehouse,
  storedHome,
  type HomeWarehouse,
} from './home-warehouse.ts'
import { keepNames } from './keep-names.ts'
import { openState } from './open-state.ts'
import { workerQueue } from './worker-queue.ts'
import type { WorkerOptions } from '@timelake/worker/start-worker'
import type { WebhooksContext, WebhooksOptions } from '@timelake/worker/webhooks/start-webhooks'

export interface RunningServer {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string
  /** What to tell the user: addresses and snippets for clients. */
  readonly greeting: string
  /** Lets begun requests and jobs finish within the configured time, closes the database, frees the directory. */
  stop(): Promise<void>
}

const NAMES_INTERVAL_MS = 1_000

/**
 * Catalog and worker in this process, on the database, warehouse and data directory of the settings. Resolves once
 * requests are answered; the worker is loaded after that. Errors: CommandError (a warehouse without its database, a
 * worker without its queue), DataDirectoryInUseError, those of the database, and that of the network when the address is
 * taken. After an error nothing is left running.
 */
export async function serve(settings: Settings): Promise<RunningServer> {
  const directory = dataDirectoryAt(settings.dataDirectory)
  const closers: Closer[] = []
  const stop = (): Promise<void> => closeAll(closers)
  try {
    const { url, warehouse } = await start({ settings, directory, closers })
    const greeting = greetingText({
      uri: url,
      warehouse,
      needsToken: settings.token !== undefined,
      dataDirectory: directory.path,
    })
    return { url, greeting, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface StartOptions {
  readonly settings: Settings
  readonly directory: DataDirectory
  readonly closers: Closer[]
}

interface Started {
  readonly url: string
  readonly warehouse: WarehouseRow | undefined
}

async function start(options: StartOptions): Promise<Started> {
  const { settings, directory, closers } = options
  const log = makeLog(settings)
  makeDataDirectory(directory)
  const home = homeWarehouse(settings, directory)
  const stores = openStores(settings, directory)
  closers.push(async () => stores.close())
  const state = await openState({
    ...options,
    log,
    beforeFirstStart: () =>
      refuseOrphanedWarehouse(stores, { home, directory, databaseUrl: settings.databaseUrl }),
  })
  const { database } = state
  const context = makeContext(settings, { database, stores, log })
  const warehouse = await openHomeWarehouse(context, home)
  const queue = settings.isMaintenanceEnabled ? workerQueue(settings, state) : undefined
  // Without other processes, a run that is still marked as running died with its process.
  if (state.kind === 'embedded') await abandonRunningJobs(database, { nowMs: context.nowMs() })
  const config = catalogConfig(settings, {
    heapBytesMax: getHeapStatistics().heap_size_limit,
    isOnlyWriter: state.kind === 'embedded',
  })
  noteSmallHeap(settings, config.metadataBytesMax, log)
  const catalog = await startCatalog({ config, context: { ...context, delay } })
  closers.push(() => catalog.stop())
  closers.push(startNames(context))
  if (queue !== undefined) {
    const isOnlyWorker = state.kind === 'embedded'
    const worker = { config: workerConfig(settings, { directory, isOnlyWorker }), queue }
    closers.push(startMaintenance(worker, { ...context, catalogFetch: catalog.fetch }))
  }
  if (settings.isWebhooksEnabled) {
    const sending = webhookConfig(settings, { isOnlySender: state.kind === 'embedded' })
    closers.push(startSending(sending, { ...context, catalogFetch: catalog.fetch }))
  }
  warnWhenOpen(settings, log)
  return { url: catalog.url, warehouse }
}

// Starting with an empty database would hide every table of the warehouse and forget their names.
async function refuseOrphanedWarehouse(
  stores: WarehouseStores,
  place: {
    readonly home: HomeWarehouse | undefined
    readonly directory: DataDirectory
    readonly databaseUrl: string | undefined
  },
): Promise<void> {
  const { home, directory, databaseUrl } = place
  if (home === undefined) return
  const missing =
    databaseUrl === undefined
      ? `the database ${directory.databasePath} is missing`
      : 'the database of TIMELAKE_DATABASE_URL does not know them'
  const names = openNameRecords(stores.storeOf(storedHome(home)), home.location)
  const { records, unreadable } = await names.readAll()
  if (records.length + unreadable.length === 0) return
  throw new CommandError(
    EXIT_CODES.refused,
    `${home.location} has tables or namespaces, but ${missing}: ` +
      'run `timelake recover`, or choose another place',
  )
}

function startNames({ database, log, stores }: ProcessContext): Closer {
  const keeper = keepNames({ database, stores, log, intervalMs: NAMES_INTERVAL_MS })
  return () => keeper.stop()
}

// Loaded once the port is open: the queue and its libraries take longer to load than the catalog does.
function startMaintenance(
  worker: Omit<WorkerOptions, 'context'>,
  context: WorkerOptions['context'],
): Closer {
  const starting = import('@timelake/worker/start-worker').then(({ startWorker }) =>
    startWorker({ ...worker, context }),
  )
  starting.catch((error: unknown) => {
    context.log.fatal({ err: error }, 'maintenance cannot start; the catalog goes on without it')
  })
  return async () => {
    const running = await starting.catch(() => undefined)
    await running?.stop()
  }
}

/** Needs neither Redis nor maintenance. */
function startSending(config: WebhooksOptions['config'], context: WebhooksContext): Closer {
  const starting = import('@timelake/worker/webhooks/start-webhooks').then(({ startWebhooks }) =>
    startWebhooks({ config, context }),
  )
  starting.catch((error: unknown) => {
    context.log.fatal({ err: error }, 'webhooks cannot be sent; the catalog goes on without them')
  })
  return async () => {
    const running = await starting.catch(() => undefined)
    await running?.stop()
  }
}

function noteSmallHeap(settings: Settings, affordableBytes: number, log: Logger): void {
  if (affordableBytes >= settings.metadataBytesMax) return
  log.info(
    `table metadata above ${affordableBytes} bytes is refused: this process has too small a heap for more`,
  )
}

function warnWhenOpen({ host, token }: Settings, log: Logger): void {
  const isLoopback = /^(127\.|localhost$|::1$|\[::1\]$)/.test(host)
  if (isLoopback || token !== undefined) return
  log.warn(
    `listening on ${host} without TIMELAKE_TOKEN: whoever reaches this port can change every table`,
  )
}

import { getHeapStatistics } from 'node:v8'
import { startCatalog } from '@timelake/catalog/start-catalog'
import { abandonRunningJobs } from '@timelake/database/job-runs'
import { lockDataDirectory } from '@timelake/database/data-directory-lock'
import { ensureWarehouse, type WarehouseRow } from '@timelake/database/warehouses'
import { openLocalObjectStore } from '@timelake/storage/local-object-store'
import { openNameRecords } from '@timelake/storage/name-records'
import type { Settings } from '@timelake/timelake/contract/settings'
import type { Logger } from 'pino'
import { catalogConfig, workerConfig } from './app-configs.ts'
import { makeContext, makeLog, type ProcessContext } from './context.ts'
import {
  dataDirectoryAt,
  hasDatabase,
  makeDataDirectory,
  WAREHOUSE_NAME,
  type DataDirectory,
} from './data-directory.ts'
import { CommandError, EXIT_CODES } from './exit-code.ts'
import { greetingText } from './greeting.ts'
import { keepNames } from './keep-names.ts'
import { openDatabaseAt } from './open-database.ts'

export interface RunningServer {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string
  /** What to tell the user: addresses and snippets for clients. */
  readonly greeting: string
  /** Lets begun requests and jobs finish within the configured time, closes the database, frees the directory. */
  stop(): Promise<void>
}

/** What was started and must be stopped, in the order of starting. */
type Closer = () => Promise<void>

const NAMES_INTERVAL_MS = 1_000

/**
 * Catalog and worker in this process, on the data directory of the settings. Resolves once requests are answered; the
 * worker is loaded after that. Errors: CommandError (a warehouse without its database), DataDirectoryInUseError, those
 * of the database, and that of the network when the address is taken. After an error nothing is left running.
 */
export async function serve(settings: Settings): Promise<RunningServer> {
  const directory = dataDirectoryAt(settings.dataDirectory)
  const closers: Closer[] = []
  const stop = (): Promise<void> => closeAll(closers)
  try {
    const url = await start({ settings, directory, closers })
    const address = {
      uri: url,
      warehouse: WAREHOUSE_NAME,
      needsToken: settings.token !== undefined,
    }
    return { url, greeting: greetingText({ ...address, dataDirectory: directory.path }), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

// The last one that was started first. Each gets its turn whatever happened to the others.
async function closeAll(closers: Closer[]): Promise<void> {
  const errors: unknown[] = []
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
    await close().catch((error: unknown) => errors.push(error))
  }
  if (errors.length > 0) throw new AggregateError(errors, 'the server did not stop cleanly')
}

interface StartOptions {
  readonly settings: Settings
  readonly directory: DataDirectory
  readonly closers: Closer[]
}

async function start({ settings, directory, closers }: StartOptions): Promise<string> {
  const log = makeLog(settings)
  makeDataDirectory(directory)
  const lock = lockDataDirectory(directory.path, { pid: process.pid })
  closers.push(async () => lock.release())
  await refuseOrphanedWarehouse(directory)
  const database = await openDatabaseAt(directory.databasePath, !hasDatabase(directory))
  closers.push(() => database.close())
  const context = makeContext(settings, { database, directory, log })
  const warehouse = await openWarehouse(context, directory)
  // This process owns the directory, so a run that is still marked as running died with its process.
  await abandonRunningJobs(database, { nowMs: context.nowMs() })
  const config = catalogConfig(settings, getHeapStatistics().heap_size_limit)
  noteSmallHeap(settings, config.metadataBytesMax, log)
  const catalog = await startCatalog({ config, context })
  closers.push(() => catalog.stop())
  closers.push(startNames(context, warehouse))
  if (settings.isMaintenanceEnabled) {
    closers.push(startMaintenance({ settings, directory, context, catalogFetch: catalog.fetch }))
  }
  warnWhenOpen(settings, log)
  return catalog.url
}

// Starting with an empty database would hide every table of the warehouse and forget their names.
async function refuseOrphanedWarehouse(directory: DataDirectory): Promise<void> {
  if (hasDatabase(directory)) return
  const names = openNameRecords(openLocalObjectStore(), directory.warehouseLocation)
  const { records, unreadable } = await names.readAll()
  if (records.length + unreadable.length === 0) return
  throw new CommandError(
    EXIT_CODES.refused,
    `${directory.warehousePath} has tables or namespaces, but the database ${directory.databasePath} is missing: ` +
      'run `timelake recover`, or choose another data directory',
  )
}

async function openWarehouse(
  { database, nowMs, newUuid }: ProcessContext,
  { warehouseLocation: location }: DataDirectory,
): Promise<WarehouseRow> {
  const wanted = { id: newUuid(), name: WAREHOUSE_NAME, location, nowMs: nowMs() }
  const warehouse = await ensureWarehouse(database, wanted)
  if (warehouse.location === location) return warehouse
  throw new CommandError(
    EXIT_CODES.refused,
    `the database belongs to the warehouse ${warehouse.location}, not to ${location}: ` +
      'tables name their files by absolute location, so move the data directory back',
  )
}

function startNames(context: ProcessContext, warehouse: WarehouseRow): Closer {
  const { database, log, stores } = context
  const records = openNameRecords(stores.storeOf(warehouse), warehouse.location)
  const keeper = keepNames({
    database,
    records,
    warehouseId: warehouse.id,
    log,
    intervalMs: NAMES_INTERVAL_MS,
  })
  return () => keeper.stop()
}

interface MaintenanceOptions {
  readonly settings: Settings
  readonly directory: DataDirectory
  readonly context: ProcessContext
  readonly catalogFetch: (request: Request) => Promise<Response>
}

// Loaded once the port is open: the queue and its libraries take longer to load than the catalog does.
function startMaintenance(options: MaintenanceOptions): Closer {
  const { settings, directory, context, catalogFetch } = options
  const starting = import('@timelake/worker/start-worker').then(({ startWorker }) =>
    startWorker({
      config: workerConfig(settings, directory),
      context: { ...context, catalogFetch },
    }),
  )
  starting.catch((error: unknown) => {
    context.log.fatal({ err: error }, 'maintenance cannot start; the catalog goes on without it')
  })
  return async () => {
    const worker = await starting.catch(() => undefined)
    await worker?.stop()
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

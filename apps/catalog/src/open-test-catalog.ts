import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { openPostgresDatabase } from '@timelake/database/open-postgres-database'
import type { Database } from '@timelake/database/sql-session'
import { ensureWarehouse, type WarehouseRow } from '@timelake/database/warehouses'
import { parseJson, printJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import type { ObjectStore } from '@timelake/storage/object-store'
import { openSecretBox, type SecretBox } from '@timelake/storage/secret-box'
import { sameStoreForAll, type WarehouseStores } from '@timelake/storage/warehouse-stores'
import { manualClock, type ManualClock } from '@timelake/testing/manual-clock'
import { openPostgresTestDatabase } from '@timelake/testing/open-postgres-test-database'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { openTestStore } from '@timelake/testing/open-test-store'
import { seededIds } from '@timelake/testing/seeded-ids'
import { testServices } from '@timelake/testing/test-services'
import { noFaults, type ReachFaultPoint } from '@timelake/timelake/contract/fault-points'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { defaultCatalogConfig, type CatalogConfig } from './catalog-config.ts'
import { delay } from './delay.ts'
import { startCatalog, type RunningCatalog } from './start-catalog.ts'

const SHARED_CONNECTIONS_MAX = 8

export interface TestAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The lossless JSON value of the text; undefined when there is no text. */
  readonly json: JsonValue | undefined
}

export interface TestCall {
  readonly body?: JsonValue | string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export interface TestCatalog {
  readonly running: RunningCatalog
  readonly database: Database
  /** Of the PostgreSQL database; undefined for one in memory. */
  readonly databaseUrl: string | undefined
  readonly store: ObjectStore
  readonly clock: ManualClock
  readonly warehouse: WarehouseRow
  /** The warehouse's directory. */
  readonly directory: string
  /** Every log line, as text. */
  readonly log: string[]
  /** Sends a request over the network, its path byte for byte. */
  call(method: string, path: string, call?: TestCall): Promise<TestAnswer>
  stop(): Promise<void>
}

/** 32 bytes. */
const TEST_SECRET_KEY = Buffer.alloc(32, 7).toString('base64')

export interface TestCatalogOptions {
  readonly config?: Partial<CatalogConfig>
  readonly reachFaultPoint?: ReachFaultPoint
  /** Puts a faulty store or database in front of the real one. */
  readonly wrapStore?: (store: ObjectStore) => ObjectStore
  readonly wrapDatabase?: (database: Database) => Database
  /** The stores of warehouses; by default the local one serves all of them. */
  readonly stores?: (store: ObjectStore) => WarehouseStores
  readonly secretBox?: SecretBox
  /** Default: what `testServices` says, usually a database in memory. */
  readonly on?: 'pglite' | 'postgres'
  /** Serves the database and the store of this catalog too, as another process does; that one runs on PostgreSQL. */
  readonly sharing?: TestCatalog
}

/** A catalog for one test file: a real server on a free port, a real database, a real local directory. */
export async function openTestCatalog(options: TestCatalogOptions = {}): Promise<TestCatalog> {
  const world = await openWorld(options)
  const log: string[] = []
  const { database, store, clock, newUuid, warehouse } = world
  const running = await startCatalog({
    config: {
      ...defaultCatalogConfig,
      port: 0,
      isOnlyWriter: world.databaseUrl === undefined,
      ...options.config,
    },
    context: {
      database: options.wrapDatabase?.(database) ?? database,
      stores: (options.stores ?? sameStoreForAll)(options.wrapStore?.(store) ?? store),
      secretBox: options.secretBox ?? openSecretBox({ key: TEST_SECRET_KEY }),
      nowMs: clock.nowMs,
      newUuid,
      delay,
      log: pino({ level: 'debug' }, { write: (line: string) => void log.push(line) }),
      registry: new Registry(),
      reachFaultPoint: options.reachFaultPoint ?? noFaults,
    },
  })
  return {
    running,
    database,
    databaseUrl: world.databaseUrl,
    store,
    clock,
    warehouse,
    directory: world.directory,
    log,
    call: (method, path, call = {}) => send(running.url, { method, path, ...call }),
    async stop() {
      await running.stop()
      await world.close()
    },
  }
}

interface TestWorld {
  readonly database: Database
  readonly databaseUrl: string | undefined
  readonly store: ObjectStore
  readonly clock: ManualClock
  readonly newUuid: () => string
  readonly warehouse: WarehouseRow
  readonly directory: string
  close(): Promise<void>
}

async function openWorld({ on, sharing }: TestCatalogOptions): Promise<TestWorld> {
  if (sharing !== undefined) return openSharedWorld(sharing)
  const isOnServer = (on ?? testServices().catalogDatabase) === 'postgres'
  const server = isOnServer ? await openPostgresTestDatabase() : undefined
  const database = server ?? (await openTestDatabase())
  const files = await openTestStore()
  const newUuid = seededIds('catalog')
  const clock = manualClock()
  const warehouse = await ensureWarehouse(database, {
    id: newUuid(),
    name: 'main',
    location: `${files.location}/warehouse`,
    nowMs: clock.nowMs(),
  })
  return {
    database,
    databaseUrl: server?.url,
    store: files.store,
    clock,
    newUuid,
    warehouse,
    directory: `${files.directory}/warehouse`,
    async close() {
      await database.close()
      await files.remove()
    },
  }
}

let sharedCount = 0

async function openSharedWorld(other: TestCatalog): Promise<TestWorld> {
  const { databaseUrl: url } = other
  if (url === undefined) throw new Error('only a catalog on PostgreSQL can be shared')
  sharedCount += 1
  const database = await openPostgresDatabase({ url, connectionsMax: SHARED_CONNECTIONS_MAX })
  return {
    ...other,
    database,
    newUuid: seededIds(`catalog ${sharedCount}`),
    close: () => database.close(),
  }
}

/** One request through Node's client, which leaves the path alone. */
export function send(
  url: string,
  { method, path, body, headers = {} }: TestCall & { method: string; path: string },
): Promise<TestAnswer> {
  const { hostname, port } = new URL(url)
  const content =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array
      ? body
      : printJson(body)
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ hostname, port, method, path, headers }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const isJson = incoming.headers['content-encoding'] === undefined && bytes[0] === 0x7b
        const text = bytes.toString()
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text,
          json: isJson ? parseJson(text) : undefined,
        })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(content)
  })
}

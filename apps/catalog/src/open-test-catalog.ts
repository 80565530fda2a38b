import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { Database } from '@timelake/database/sql-session'
import { ensureWarehouse, type WarehouseRow } from '@timelake/database/warehouses'
import { parseJson, printJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import type { ObjectStore } from '@timelake/storage/object-store'
import { sameStoreForAll } from '@timelake/storage/warehouse-stores'
import { manualClock, type ManualClock } from '@timelake/testing/manual-clock'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { openTestStore } from '@timelake/testing/open-test-store'
import { seededIds } from '@timelake/testing/seeded-ids'
import { noFaults, type ReachFaultPoint } from '@timelake/timelake/contract/fault-points'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { defaultCatalogConfig, type CatalogConfig } from './catalog-config.ts'
import { startCatalog, type RunningCatalog } from './start-catalog.ts'

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

export interface TestCatalogOptions {
  readonly config?: Partial<CatalogConfig>
  readonly reachFaultPoint?: ReachFaultPoint
  /** Puts a faulty store or database in front of the real one. */
  readonly wrapStore?: (store: ObjectStore) => ObjectStore
  readonly wrapDatabase?: (database: Database) => Database
}

/** A catalog for one test file: a real server on a free port, a real database in memory, a real local directory. */
export async function openTestCatalog(options: TestCatalogOptions = {}): Promise<TestCatalog> {
  const database = await openTestDatabase()
  const files = await openTestStore()
  const newUuid = seededIds('catalog')
  const clock = manualClock()
  const log: string[] = []
  const warehouse = await ensureWarehouse(database, {
    id: newUuid(),
    name: 'main',
    location: `${files.location}/warehouse`,
    nowMs: clock.nowMs(),
  })
  const running = await startCatalog({
    config: { ...defaultCatalogConfig, port: 0, ...options.config },
    context: {
      database: options.wrapDatabase?.(database) ?? database,
      stores: sameStoreForAll(options.wrapStore?.(files.store) ?? files.store),
      nowMs: clock.nowMs,
      newUuid,
      log: pino({ level: 'debug' }, { write: (line: string) => void log.push(line) }),
      registry: new Registry(),
      reachFaultPoint: options.reachFaultPoint ?? noFaults,
    },
  })
  return {
    running,
    database,
    store: files.store,
    clock,
    warehouse,
    directory: `${files.directory}/warehouse`,
    log,
    call: (method, path, call = {}) => send(running.url, { method, path, ...call }),
    async stop() {
      await running.stop()
      await database.close()
      await files.remove()
    },
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

import { createNamespace } from '@timelake/database/namespaces'
import { findTableById } from '@timelake/database/find-tables'
import { swapMetadataLocation } from '@timelake/database/swap-metadata-location'
import type { Database, EmbeddedDatabase } from '@timelake/database/sql-session'
import type { TableRow } from '@timelake/database/table-row'
import { createTable, dropTable } from '@timelake/database/tables'
import { ensureWarehouse } from '@timelake/database/warehouses'
import { applyCommit } from '@timelake/iceberg/commit/apply-commit'
import { newTableMetadata } from '@timelake/iceberg/commit/new-table-metadata'
import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import { readLiveFiles } from '@timelake/iceberg/io/snapshot-files'
import { decodeCommitRequest } from '@timelake/iceberg/rest/commit-json'
import { loadTableResultText } from '@timelake/iceberg/rest/load-table-json'
import { appendFiles } from '@timelake/iceberg/snapshot/append-files'
import { parseJson } from '@timelake/iceberg/spec/json'
import { CommitFailedError } from '@timelake/iceberg/spec/errors'
import { invariant } from '@timelake/iceberg/spec/invariant'
import type { Schema } from '@timelake/iceberg/spec/schema'
import {
  decodeTableMetadata,
  encodeTableMetadata,
} from '@timelake/iceberg/spec/table-metadata-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { StoreUnavailableError, type ObjectStore } from '@timelake/storage/object-store'
import { sameStoreForAll } from '@timelake/storage/warehouse-stores'
import { manualClock, type ManualClock } from '@timelake/testing/manual-clock'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { openTestStore, type TestStore } from '@timelake/testing/open-test-store'
import { seededIds } from '@timelake/testing/seeded-ids'
import { noFaults } from '@timelake/timelake/contract/fault-points'
import { snapshotIdOf } from '@timelake/timelake/contract/snapshot-id'
import { createMergeProcess, type MergeProcess } from '@timelake/timelake/data/merge-process'
import { readFooter } from '@timelake/timelake/data/read-footer'
import { mainSnapshot } from '@timelake/timelake/contract/compaction-input'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { WorkerContext } from './context.ts'

export const TEST_SCHEMA: Schema = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: [{ id: 1, name: 'id', required: false, type: { kind: 'int' } }],
}

const APPEND_ATTEMPTS_MAX = 20

/** What stands between the worker and the catalog: it may lose, delay or break requests. */
export type Wire = (
  request: Request,
  send: (request: Request) => Promise<Response>,
) => Promise<Response>

/** Where the objects of a lake are, when not in a local directory. */
export interface TestPlace {
  readonly store: ObjectStore
  /** Normalized, without a trailing slash. */
  readonly location: string
}

/** A real database, a real store and a catalog of one table that does what the protocol says and no more. */
export interface TestLake<D extends Database = EmbeddedDatabase> {
  readonly database: D
  /** Local files; the lake's objects too, unless it was opened on another place. */
  readonly files: TestStore
  readonly place: TestPlace
  readonly clock: ManualClock
  readonly engine: MergeProcess
  readonly context: WorkerContext
  /** Its catalog, past the wire. */
  readonly answer: (request: Request) => Promise<Response>
  /** A new empty table takes the place of the one before, whose runs and schedule are forgotten; the wire is whole. */
  reset(properties?: Readonly<Record<string, string>>): Promise<void>
  /** Changes how the worker reaches the catalog from now on. */
  setWire(wire: Wire): void
  table(): Promise<TableRow>
  metadata(): Promise<TableMetadata>
  commit(request: CommitRequest): Promise<void>
  /** Drops the table; only `reset` may follow. */
  drop(options: { readonly purgeRequested: boolean }): Promise<void>
  /** Appends one data file per value. */
  append(...values: readonly number[]): Promise<void>
  /** The values of the table, sorted, and how many files hold them. */
  read(): Promise<{ readonly values: readonly number[]; readonly fileCount: number }>
  close(): Promise<void>
}

/** Opens a lake with one empty table. Opening takes a second: open one per file and reset it. */
export async function openTestLake(place?: TestPlace): Promise<TestLake> {
  return openTestLakeOn(await openTestDatabase(), place)
}

/** The same on a database of the caller, which the lake closes. */
export async function openTestLakeOn<D extends Database>(
  database: D,
  elsewhere?: TestPlace,
): Promise<TestLake<D>> {
  const files = await openTestStore()
  const place = elsewhere ?? files
  const clock = manualClock()
  const newUuid = seededIds('lake')
  const engine = createMergeProcess({
    jobsDirectory: `${files.directory}/engine`,
    memoryBytesMax: 256_000_000,
    threadCount: 1,
    spillBytesMax: 1_000_000_000,
    idleMsMax: 60_000,
  })
  const parts = { database, files, place, clock, newUuid, engine }
  const world: World = { ...parts, ...(await makeHome(parts)), tableId: '' }
  await makeTable(world, {})
  let wire: Wire = (request, send) => send(request)
  const send = (request: Request): Promise<Response> => answer(world, request)
  return {
    ...parts,
    context: {
      database,
      stores: sameStoreForAll(place.store),
      catalogFetch: (request) => wire(request, send),
      nowMs: clock.nowMs,
      newUuid: seededIds('worker'),
      log: pino({ level: 'silent' }),
      registry: new Registry(),
      reachFaultPoint: noFaults,
    },
    answer: send,
    async reset(properties = {}) {
      wire = (request, next) => next(request)
      for (const name of ['job_run', 'maintenance_schedule', 'outbox_event']) {
        await database.query(`delete from ${name}`)
      }
      await makeTable(world, properties)
    },
    setWire: (next) => void (wire = next),
    table: () => rowOf(world),
    metadata: async () => load(world, await rowOf(world)),
    commit: (request) => apply(world, request),
    drop: ({ purgeRequested }) => drop(world, purgeRequested),
    append: (...values) => append(world, values),
    read: () => read(world),
    async close() {
      await engine.stop()
      await database.close()
      await files.remove()
    },
  }
}

interface World {
  readonly database: Database
  readonly files: TestStore
  readonly place: TestPlace
  readonly clock: ManualClock
  readonly newUuid: () => string
  readonly engine: MergeProcess
  readonly warehouseId: string
  readonly namespaceId: string
  /** The table that everything is about. */
  tableId: string
}

async function makeHome({
  database,
  place,
  clock,
  newUuid,
}: Pick<World, 'database' | 'place' | 'clock' | 'newUuid'>) {
  const nowMs = clock.nowMs()
  const location = `${place.location}/lake`
  const warehouse = await ensureWarehouse(database, {
    id: newUuid(),
    name: 'main',
    location,
    nowMs,
  })
  const event = { kind: 'namespace-created' as const, payload: '{}' }
  const namespaceId = newUuid()
  const namespace = { id: namespaceId, warehouseId: warehouse.id, levels: ['n'], properties: {} }
  await createNamespace(database, { ...namespace, nowMs, event })
  return { warehouseId: warehouse.id, namespaceId }
}

async function makeTable(
  world: World,
  properties: Readonly<Record<string, string>>,
): Promise<void> {
  const { database, place, clock, newUuid, warehouseId, namespaceId } = world
  const tableUuid = newUuid()
  const location = `${place.location}/lake/${tableUuid}`
  const at = { tableUuid, location, nowMs: clock.nowMs() }
  const metadata = newTableMetadata({ schema: TEST_SCHEMA, properties }, at)
  const metadataLocation = `${location}/metadata/00000-${newUuid()}.metadata.json`
  await place.store.putIfAbsent(metadataLocation, utf8(encodeTableMetadata(metadata)))
  world.tableId = newUuid()
  const event = { kind: 'table-created' as const, payload: '{}' }
  const table = { id: world.tableId, warehouseId, namespaceId, name: tableUuid, metadataLocation }
  await createTable(database, { ...table, ...at, event })
}

/** The three routes that the worker's client uses. */
async function answer(world: World, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/v1/config')
    return Response.json({ defaults: {}, overrides: { prefix: 'main' } })
  if (request.method === 'POST') {
    try {
      await apply(world, decodeCommitRequest(parseJson(await request.text())))
    } catch (cause) {
      return errorResponse(cause)
    }
  }
  const row = await rowOf(world)
  const { metadataLocation } = row
  const metadata = await load(world, row).catch((cause: unknown) => errorResponse(cause))
  if (metadata instanceof Response) return metadata
  const metadataText = encodeTableMetadata(metadata)
  return new Response(loadTableResultText({ metadataLocation, metadataText, config: {} }))
}

/** A store that is away leaves the client in doubt, as with the real catalog. */
function errorResponse(cause: unknown): Response {
  const message = cause instanceof Error ? cause.message : String(cause)
  const [code, type] =
    cause instanceof StoreUnavailableError
      ? [500, 'CommitStateUnknownException']
      : [409, 'CommitFailedException']
  return Response.json({ error: { message, type, code } }, { status: code })
}

async function rowOf({ database, tableId }: World): Promise<TableRow> {
  const row = await findTableById(database, tableId)
  invariant(row !== undefined, 'the table of a test lake stays')
  return row
}

async function load({ place }: World, row: TableRow): Promise<TableMetadata> {
  return decodeTableMetadata(await place.store.get(row.metadataLocation))
}

async function apply(world: World, request: CommitRequest): Promise<void> {
  const { database, place, clock, newUuid } = world
  const row = await rowOf(world)
  const nowMs = clock.nowMs()
  const context = { nowMs, baseMetadataLocation: row.metadataLocation }
  const next = applyCommit(await load(world, row), request, context)
  const nextLocation = `${row.location}/metadata/${newUuid()}.metadata.json`
  const put = await place.store.putIfAbsent(nextLocation, utf8(encodeTableMetadata(next)))
  if (put !== 'created') throw new StoreUnavailableError(`write ${nextLocation}: ${put}`)
  const swapped = await swapMetadataLocation(database, {
    tableId: row.id,
    expected: row.metadataLocation,
    next: nextLocation,
    tableUuid: row.tableUuid,
    location: row.location,
    nowMs,
    event: { kind: 'table-committed', payload: '{}' },
  })
  if (swapped !== 'swapped') throw new CommitFailedError(`the table is ${swapped}`)
}

async function drop(world: World, purgeRequested: boolean): Promise<void> {
  const { database, clock, tableId } = world
  const event = {
    kind: 'table-dropped' as const,
    payload: `{"purge-requested":${purgeRequested}}`,
  }
  await dropTable(database, { tableId, purgeRequested, nowMs: clock.nowMs(), event })
}

/** Like a writer with retries: a worker may commit first. */
async function append(world: World, values: readonly number[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await appendOnce(world, values)
    } catch (error) {
      if (!(error instanceof CommitFailedError) || attempt === APPEND_ATTEMPTS_MAX) throw error
    }
  }
}

async function appendOnce(world: World, values: readonly number[]): Promise<void> {
  const { files, place, clock, newUuid, engine } = world
  const row = await rowOf(world)
  const metadata = await load(world, row)
  const added = []
  for (const value of values) {
    const filePath = `${row.location}/data/${newUuid()}.parquet`
    const localPath = `${files.directory}/${newUuid()}.parquet`
    await engine.query(
      `COPY (SELECT ${value} AS id) TO '${localPath}' (FORMAT parquet, FIELD_IDS {id: 1})`,
    )
    const { footer, fileSizeBytes } = await readFooter(localPath)
    await place.store.putFileIfAbsent(filePath, localPath)
    added.push({
      content: 'data' as const,
      filePath,
      fileFormat: 'PARQUET',
      partition: [],
      recordCount: footer.rowCount,
      fileSizeBytes,
    })
  }
  const parent = mainSnapshot(metadata)
  const live = parent && (await readTable(world, metadata))
  const snapshot = appendFiles({
    metadata,
    ...(parent === undefined ? {} : { parent }),
    parentManifests: live?.manifests ?? [],
    files: added,
    identity: {
      snapshotId: snapshotIdOf(newUuid()),
      timestampMs: clock.nowMs(),
      commitUuid: newUuid(),
      fileLocation: (name) => `${row.location}/metadata/${name}`,
    },
  })
  for (const { location, bytes } of [...snapshot.manifests, snapshot.manifestList]) {
    await place.store.putIfAbsent(location, bytes)
  }
  const { snapshotId } = snapshot.snapshot
  await apply(world, {
    requirements: [],
    updates: [
      { action: 'add-snapshot', snapshot: snapshot.snapshot },
      { action: 'set-snapshot-ref', refName: 'main', ref: { type: 'branch', snapshotId } },
    ],
  })
}

async function readTable({ place }: World, metadata: TableMetadata) {
  const snapshot = mainSnapshot(metadata)
  invariant(snapshot !== undefined, 'the table has a snapshot')
  const allowedPrefixes = [metadata.location]
  const live = await readLiveFiles(place.store.get, { metadata, snapshot }, { allowedPrefixes })
  invariant(live.outcome === 'read', 'the table can be read')
  return live
}

async function read(world: World) {
  const live = await readTable(world, await load(world, await rowOf(world)))
  const values: number[] = []
  for (const { entry } of live.dataFiles) {
    const path = await world.place.store.localFile(entry.dataFile.filePath, world.files.directory)
    const rows = await world.engine.query(`SELECT id FROM read_parquet('${path}')`)
    values.push(...rows.map(({ id }) => Number(id)))
  }
  return { values: values.sort((a, b) => a - b), fileCount: live.dataFiles.length }
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

import { sameStoreForAll } from '@timelake/storage/warehouse-stores'
import { findDroppedTable, undropTable } from '@timelake/database/dropped-tables'
import { requestJob } from '@timelake/database/maintenance-schedule'
import { createNamespace } from '@timelake/database/namespaces'
import { createTable, dropTable, restoreTable } from '@timelake/database/tables'
import { ensureWarehouse } from '@timelake/database/warehouses'
import { newTableMetadata } from '@timelake/iceberg/commit/new-table-metadata'
import { appendFiles } from '@timelake/iceberg/snapshot/append-files'
import {
  decodeTableMetadata,
  encodeTableMetadata,
} from '@timelake/iceberg/spec/table-metadata-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { TableRow } from '@timelake/database/table-row'
import {
  StoreUnavailableError,
  type DeleteResult,
  type ObjectStore,
} from '@timelake/storage/object-store'
import { openS3ObjectStore } from '@timelake/storage/s3-object-store'
import { openS3Double } from '@timelake/testing/open-s3-double'
import { openTestS3Store } from '@timelake/testing/open-test-s3'
import { testServices } from '@timelake/testing/test-services'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestLake, TEST_SCHEMA, type TestLake, type TestPlace } from '../open-test-lake.ts'
import { runJob, type RanJob } from '../run-job.ts'
import { makeWorkerMetrics } from '../worker-metrics.ts'
import { purgeTableHandler } from './purge-table.ts'

const GRACE_MS = 10_000

let lake: TestLake
let row: TableRow

/** Asks for a purge of the table and runs it as the worker does. */
async function purge(store: Partial<ObjectStore> = {}, signal?: AbortSignal): Promise<RanJob> {
  const { database, context, clock } = lake
  const identity = { tableId: row.id, jobKind: 'purge-table' } as const
  const asked = { dueAtMs: clock.nowMs(), reason: 'asked for by a test' }
  await requestJob(database, { ...identity, ...asked })
  context.registry.clear()
  const handler = purgeTableHandler({
    context: { ...context, stores: sameStoreForAll({ ...lake.place.store, ...store }) },
    config: { purgeGraceMs: GRACE_MS, extraAllowedLocations: [] },
    metrics: makeWorkerMetrics(context),
  })
  const options = {
    ...context,
    handlers: { 'purge-table': handler, 'compact-table': handler },
    workerId: 'w',
    leaseMs: 60_000,
    deadlineMs: 60_000,
    retryFirstMs: 0,
    retryMsMax: 0,
  }
  const job = { kind: 'purge-table', tableId: row.id } as const
  return runJob(options, job, signal ?? new AbortController().signal)
}

const ended = (end: object) =>
  expect.objectContaining({ outcome: 'ran', end: expect.objectContaining(end) as unknown })

async function dropAndWait(purgeRequested = true): Promise<void> {
  await lake.drop({ purgeRequested })
  lake.clock.advance(GRACE_MS)
}

async function objectsBelow(location: string): Promise<string[]> {
  const locations: string[] = []
  for await (const entry of lake.place.store.list(location)) locations.push(entry.location)
  return locations.sort()
}

const put = async (location: string, text = 'x'): Promise<string> => {
  await lake.place.store.putIfAbsent(location, new TextEncoder().encode(text))
  return location
}

const purgedAtMs = async () => (await findDroppedTable(lake.database, row.id))?.purgedAtMs

/** Commits properties and whatever else the change makes of the metadata file, which it may rewrite by hand. */
async function rewriteMetadata(change: (metadata: TableMetadata) => Partial<TableMetadata>) {
  const metadata = await lake.metadata()
  const metadataLocation = `${row.location}/metadata/by-hand.metadata.json`
  const metadataLog = [
    ...metadata.metadataLog,
    { timestampMs: 1, metadataFile: row.metadataLocation },
  ]
  const next = { ...metadata, metadataLog, ...change(metadata) }
  await put(metadataLocation, encodeTableMetadata(next))
  await lake.database.query('update catalog_table set metadata_location = $2 where id = $1', [
    row.id,
    metadataLocation,
  ])
}

/** Commits a snapshot that lists these data files, whatever they are; answers its manifest list. */
async function commitFiles(filePaths: readonly string[]): Promise<string> {
  const { newUuid } = lake.context
  const sizes = { recordCount: 1n, fileSizeBytes: 1n }
  const { snapshot, manifests, manifestList } = appendFiles({
    metadata: await lake.metadata(),
    parentManifests: [],
    files: filePaths.map((filePath) => ({
      content: 'data' as const,
      filePath,
      fileFormat: 'PARQUET',
      partition: [],
      ...sizes,
    })),
    identity: {
      snapshotId: 7n,
      timestampMs: lake.clock.nowMs(),
      commitUuid: newUuid(),
      fileLocation: (name) => `${row.location}/metadata/${name}`,
    },
  })
  for (const { location, bytes } of [...manifests, manifestList]) {
    await lake.place.store.putIfAbsent(location, bytes)
  }
  const ref = { type: 'branch', snapshotId: 7n } as const
  await lake.commit({
    requirements: [],
    updates: [
      { action: 'add-snapshot', snapshot },
      { action: 'set-snapshot-ref', refName: 'main', ref },
    ],
  })
  return manifestList.location
}

/** Registers another table, with the last metadata file of this one or with a new one made from it. */
async function registerOther(
  change?: (metadata: TableMetadata) => TableMetadata,
  home: Pick<TableRow, 'warehouseId' | 'namespaceId'> = row,
): Promise<TableRow> {
  const from = (await findDroppedTable(lake.database, row.id)) ?? (await lake.table())
  const { metadataLocation: fromLocation } = from
  const last = decodeTableMetadata(await lake.place.store.get(fromLocation))
  const metadata = change === undefined ? last : change(last)
  const { tableUuid, location } = metadata
  const metadataLocation =
    change === undefined
      ? fromLocation
      : await put(`${location}/metadata/00000-b.metadata.json`, encodeTableMetadata(metadata))
  const id = lake.context.newUuid()
  const { warehouseId, namespaceId } = home
  const table = {
    id,
    warehouseId,
    namespaceId,
    name: 'other',
    tableUuid,
    location,
    metadataLocation,
  }
  const event = { kind: 'table-registered', payload: '{}' } as const
  expect(await createTable(lake.database, { ...table, nowMs: lake.clock.nowMs(), event })).toBe(
    'created',
  )
  return { ...table, kind: 'table', levels: ['n'], version: 0n, rootState: 'unknown' }
}

/** A second warehouse in the same store, beside the first. */
async function otherWarehouse() {
  const { database, context, place } = lake
  const [id, namespaceId] = [context.newUuid(), context.newUuid()]
  const location = `${place.location}/other-${id}`
  await ensureWarehouse(database, { id, name: `other-${id}`, location, nowMs: 1 })
  const event = { kind: 'namespace-created' as const, payload: '{}' }
  const namespace = { id: namespaceId, warehouseId: id, levels: ['n'], properties: {} }
  await createNamespace(database, { ...namespace, nowMs: 1, event })
  return { warehouseId: id, namespaceId, location }
}

interface OpenPlace extends TestPlace {
  close(): Promise<void>
}

async function inDouble(): Promise<OpenPlace> {
  const double = await openS3Double()
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = double
  const store = openS3ObjectStore({
    profile: { type: 's3', endpoint, region, pathStyle: true },
    credentials: { accessKeyId, secretAccessKey },
  })
  return {
    store,
    location: `s3://${bucket}/tests`,
    async close() {
      store.close()
      await double.close()
    },
  }
}

async function onServer(): Promise<OpenPlace | undefined> {
  const real = openTestS3Store()
  return real && { ...real, close: () => real.remove() }
}

const PLACES = [
  { name: 'local disk', open: async () => undefined, isThere: true },
  { name: 'S3', open: inDouble, isThere: true },
  // Skipped where no S3 server is set.
  { name: 'the real S3 server', open: onServer, isThere: testServices().s3 !== undefined },
]

describe.each(PLACES)('purge-table on $name', ({ open, isThere }) => {
  let place: OpenPlace | undefined
  if (!isThere) return it.skip('needs the server', () => {})

  beforeAll(async () => {
    place = await open()
    lake = await openTestLake(place)
  })
  beforeEach(async () => {
    await lake.database.query('delete from catalog_table')
    await lake.reset()
    row = await lake.table()
  })
  afterAll(async () => {
    await lake.close()
    await place?.close()
  })

  it('I30 deletes what the last metadata reaches, leaves the rest, and says so', async () => {
    await lake.append(1, 2, 3)
    await lake.append(4)
    const foreign = await put(`${row.location}/data/nobody-knows.parquet`)
    await dropAndWait()
    expect(await purge()).toEqual(ended({ state: 'succeeded', reason: '11 files deleted' }))
    expect(await objectsBelow(row.location)).toEqual([foreign])
    expect(await purgedAtMs()).toBe(lake.clock.nowMs())
    const again = { state: 'nothing-to-do', reason: 'its files were purged already' }
    expect(await purge()).toEqual(ended(again))
  })

  it('deletes statistics of both kinds and earlier metadata', async () => {
    const statisticsPath = await put(`${row.location}/metadata/s.puffin`)
    const path2 = await put(`${row.location}/metadata/p.parquet`)
    const sizes = { snapshotId: 1n, fileSizeBytes: 1n }
    await rewriteMetadata(() => ({
      statistics: [{ ...sizes, statisticsPath, fileFooterSizeBytes: 1n, blobMetadata: [] }],
      partitionStatistics: [{ ...sizes, statisticsPath: path2 }],
    }))
    await dropAndWait()
    expect(await purge()).toEqual(ended({ state: 'succeeded', reason: '4 files deleted' }))
    expect(await objectsBelow(row.location)).toEqual([])
  })

  it('B079: deletes nothing when the drop did not ask for it, or before the grace is over', async () => {
    await lake.append(1)
    const before = await objectsBelow(row.location)
    await dropAndWait(false)
    const reason = 'its drop did not ask for a purge'
    expect(await purge()).toEqual(ended({ state: 'nothing-to-do', reason }))
    expect(await objectsBelow(row.location)).toEqual(before)

    await lake.reset()
    row = await lake.table()
    await lake.drop({ purgeRequested: true })
    const nextDueAtMs = lake.clock.nowMs() + GRACE_MS
    expect(await purge()).toEqual(ended({ state: 'nothing-to-do', nextDueAtMs }))
    expect(await objectsBelow(row.location)).toHaveLength(1)
  })

  it('does nothing for a table that was restored', async () => {
    await dropAndWait()
    const event = { kind: 'table-registered', payload: '{}' } as const
    await restoreTable(lake.database, { ...row, nowMs: lake.clock.nowMs(), event })
    expect(await purge()).toEqual({ outcome: 'no-table' })
    expect(await objectsBelow(row.location)).toHaveLength(1)
  })

  it('stops when its metadata is registered as another table while it works', async () => {
    await lake.append(1, 2)
    const before = (await objectsBelow(row.location)).filter((each) => !each.endsWith('.parquet'))
    await dropAndWait()
    let isRegistered = false
    const deleteMany = async (locations: readonly string[]) => {
      if (!isRegistered) await registerOther()
      isRegistered = true
      return lake.place.store.deleteMany(locations)
    }
    const reason = 'table n.other has the same UUID, metadata file or folder'
    expect(await purge({ deleteMany })).toEqual(ended({ state: 'skipped', reason }))
    expect(await objectsBelow(row.location)).toEqual(before)
  })

  it('does not let the table come back once it deletes, and says when it began', async () => {
    await lake.append(1)
    await dropAndWait()
    const undrops: string[] = []
    const deleteMany = async (locations: readonly string[]) => {
      const { id: tableId, namespaceId, name } = row
      const event = { kind: 'table-registered', payload: '{}' } as const
      const undrop = { tableId, namespaceId, name, nowMs: lake.clock.nowMs(), event }
      undrops.push(await undropTable(lake.database, undrop))
      return lake.place.store.deleteMany(locations)
    }
    expect(await purge({ deleteMany })).toEqual(ended({ state: 'succeeded' }))
    expect(new Set(undrops)).toEqual(new Set(['purge-begun']))
    const begunAtMs = (await findDroppedTable(lake.database, row.id))?.purgeStartedAtMs
    expect(begunAtMs).toBe(lake.clock.nowMs())
  })

  it('leaves a table free to come back that it found it must not touch', async () => {
    await rewriteMetadata(() => ({ properties: { 'gc.enabled': 'false' } }))
    await dropAndWait()
    expect(await purge()).toEqual(ended({ state: 'skipped' }))
    expect((await findDroppedTable(lake.database, row.id))?.purgeStartedAtMs).toBeUndefined()
  })

  it('counts the grace from when the purge was asked for, if that was after the drop', async () => {
    await dropAndWait()
    const askedAtMs = lake.clock.nowMs()
    await lake.database.query('update dropped_table set purge_requested_at_ms = $1', [askedAtMs])
    const nextDueAtMs = askedAtMs + GRACE_MS
    const reason = 'its grace is not over'
    expect(await purge()).toEqual(ended({ state: 'nothing-to-do', reason, nextDueAtMs }))
    expect(await objectsBelow(row.location)).toHaveLength(1)
  })

  it('deletes nothing for a view', async () => {
    await dropAndWait()
    await lake.database.query(`update dropped_table set kind = 'view'`)
    expect(await purge()).toEqual(ended({ state: 'nothing-to-do' }))
    expect(await objectsBelow(row.location)).toHaveLength(1)
  })

  it.each(['false', 'no', 'FALSE'])(
    'B080: leaves a table alone whose gc.enabled is %s',
    async (gc) => {
      await lake.append(1)
      await rewriteMetadata(() => ({ properties: { 'gc.enabled': gc } }))
      const before = await objectsBelow(row.location)
      await dropAndWait()
      expect(await purge()).toEqual(ended({ state: 'skipped', reason: `gc.enabled is ${gc}` }))
      expect(await objectsBelow(row.location)).toEqual(before)
      expect(await purgedAtMs()).toBeUndefined()
    },
  )

  it('B080: leaves a table alone that was registered again', async () => {
    await lake.append(1)
    const before = await objectsBelow(row.location)
    await dropAndWait()
    await registerOther()
    const end = await purge()
    expect(end).toEqual(ended({ state: 'skipped' }))
    expect(await objectsBelow(row.location)).toEqual(before)
  })

  it('B080: leaves a table alone whose snapshots a table elsewhere still names', async () => {
    await lake.append(1)
    const before = await objectsBelow(row.location)
    await dropAndWait()
    const location = `${lake.place.location}/lake/${lake.context.newUuid()}`
    await registerOther((from) => ({ ...from, tableUuid: lake.context.newUuid(), location }))
    const reason = `table n.other uses files in ${row.location}`
    expect(await purge()).toEqual(ended({ state: 'skipped', reason }))
    expect(await objectsBelow(row.location)).toEqual(before)
  })

  it('B080: touches no file of the live table whose metadata the dropped one had copied', async () => {
    await lake.append(1, 2)
    const victim = row
    const location = `${lake.place.location}/lake/${lake.context.newUuid()}`
    const copy = await registerOther((from) => ({
      ...from,
      tableUuid: lake.context.newUuid(),
      location,
    }))
    const before = await objectsBelow(victim.location)
    row = copy
    const nowMs = lake.clock.nowMs()
    const event = { kind: 'table-dropped', payload: '{}' } as const
    await dropTable(lake.database, { tableId: copy.id, purgeRequested: true, nowMs, event })
    lake.clock.advance(GRACE_MS)
    const reason = '1 files deleted, 2 left alone (outside)'
    expect(await purge()).toEqual(ended({ state: 'succeeded', reason }))
    expect(await objectsBelow(victim.location)).toEqual(before)
    expect((await lake.read()).values).toEqual([1, 2])
    expect(await objectsBelow(location)).toEqual([])
  })

  it('B080: leaves a table alone whose files a table of another warehouse names', async () => {
    await lake.append(1)
    const before = await objectsBelow(row.location)
    await dropAndWait()
    const home = await otherWarehouse()
    const location = `${home.location}/${lake.context.newUuid()}`
    const changed = { tableUuid: lake.context.newUuid(), location }
    await registerOther((from) => ({ ...from, ...changed }), home)
    const reason = `table n.other uses files in ${row.location}`
    expect(await purge()).toEqual(ended({ state: 'skipped', reason }))
    expect(await objectsBelow(row.location)).toEqual(before)
  })

  it('B081: deletes nothing of another warehouse, whatever its own metadata names', async () => {
    const home = await otherWarehouse()
    const victims = [
      await put(`${home.location}/t/data/rows.parquet`),
      await put(`${home.location}/t/metadata/v1.metadata.json`),
      await put(`${home.location}/.timelake/names/n.json`),
    ]
    await commitFiles(victims)
    row = await lake.table()
    await rewriteMetadata(({ metadataLog }) => ({
      properties: { 'write.data.path': `${home.location}/t`, 'write.metadata.path': home.location },
      metadataLog: [
        ...metadataLog,
        ...[row.metadataLocation, ...victims].map((metadataFile) => ({
          timestampMs: 1,
          metadataFile,
        })),
      ],
    }))
    await dropAndWait()
    const end = await purge()
    expect(end).toEqual(ended({ state: 'succeeded' }))
    for (const victim of victims) expect(await lake.place.store.stat(victim), victim).toBeDefined()
    expect(await objectsBelow(row.location)).toEqual([])
  })

  it('B081: deletes no file elsewhere that its own manifests name', async () => {
    const victim = await put(`${lake.place.location}/lake/victim-${row.id}/data/rows.parquet`)
    const list = await commitFiles([victim, `${row.location}/data/../../x`, row.metadataLocation])
    await dropAndWait()
    const reason = '4 files deleted, 2 left alone (outside)'
    expect(await purge()).toEqual(ended({ state: 'succeeded', reason }))
    expect(await lake.place.store.stat(victim)).toBeDefined()
    expect(await lake.place.store.stat(list)).toBeUndefined()
  })

  it('B081: deletes below its data and metadata paths, and nothing in folders that are not its own', async () => {
    const root = `${lake.place.location}/lake`
    const [own, taken, victim] = ['own', 'taken', 'victim'].map(
      (name) => `${root}/${name}-${row.id}`,
    )
    const neighbour = await put(`${taken}/data/neighbour.parquet`)
    const event = { kind: 'table-created', payload: '{}' } as const
    const { warehouseId, namespaceId } = row
    const other = {
      id: lake.context.newUuid(),
      warehouseId,
      namespaceId,
      name: 'neighbour',
      nowMs: 1,
    }
    await createTable(lake.database, {
      ...other,
      tableUuid: other.id,
      location: `${taken}`,
      metadataLocation: `${taken}/metadata/absent.json`,
      event,
    })
    const files = [
      `${own}/a.json`,
      `${victim}/b.json`,
      `${lake.place.location}/c.json`,
      `${root}/.timelake/names/d.json`,
    ]
    for (const file of files) await put(file)
    await rewriteMetadata(({ metadataLog }) => ({
      properties: {
        'write.data.path': `${own}`,
        'write.metadata.path': `${taken}`,
        'write.object-storage.path': `${root}/.timelake`,
        'write.folder-storage.path': lake.place.location,
      },
      metadataLog: [...metadataLog, ...files, neighbour].map((each) =>
        typeof each === 'string' ? { timestampMs: 1, metadataFile: each } : each,
      ),
    }))
    await dropAndWait()
    const reason = '2 files deleted, 3 left alone (outside), 1 left alone (shared)'
    expect(await purge()).toEqual(ended({ state: 'succeeded', reason }))
    expect(await objectsBelow(`${own}`)).toEqual([])
    for (const file of [...files.slice(1), neighbour]) {
      expect(await lake.place.store.stat(file), file).toBeDefined()
    }
  })

  it.each(['a failure of the store', 'an abort'])('I31 B081: goes on after %s', async (how) => {
    await lake.append(1, 2)
    await lake.append(3)
    await dropAndWait()
    const current = (await findDroppedTable(lake.database, row.id))?.metadataLocation
    for (let allowed = 0; (await purgedAtMs()) === undefined; allowed++) {
      const stop = new AbortController()
      let count = 0
      const deleteOne = async (location: string): Promise<DeleteResult> => {
        if (count++ >= allowed) {
          return { location, outcome: 'failed', error: new StoreUnavailableError('slow down') }
        }
        await lake.place.store.delete(location)
        return { location, outcome: 'gone' }
      }
      const deleteMany = async (locations: readonly string[]) => {
        if (how === 'a failure of the store') return Promise.all(locations.map(deleteOne))
        if (count++ === allowed) stop.abort(new Error('stopped'))
        return lake.place.store.deleteMany(locations)
      }
      await purge({ deleteMany }, stop.signal)
      const left = await objectsBelow(row.location)
      expect(left.length === 0 || left.includes(current ?? '')).toBe(true)
    }
    expect(await objectsBelow(row.location)).toEqual([])
  })

  it('leaves a table alone that was made again under the same name', async () => {
    await lake.append(1)
    const { name } = row
    await dropAndWait()
    const location = `${lake.place.location}/lake/${lake.context.newUuid()}`
    const at = { tableUuid: lake.context.newUuid(), location, nowMs: 1 }
    const again = await registerOther(() =>
      newTableMetadata({ schema: TEST_SCHEMA, properties: {} }, at),
    )
    await lake.database.query('update catalog_table set name = $2 where id = $1', [again.id, name])
    expect(await purge()).toEqual(ended({ state: 'succeeded' }))
    expect(await objectsBelow(row.location)).toEqual([])
    expect(await objectsBelow(location)).toEqual([again.metadataLocation])
  })

  it('is done when the metadata file is gone', async () => {
    await dropAndWait()
    await lake.place.store.delete(row.metadataLocation)
    const reason = 'its metadata file is not there any more'
    expect(await purge()).toEqual(ended({ state: 'succeeded', reason }))
    expect(await purgedAtMs()).toBeDefined()
  })
})

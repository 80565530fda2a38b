import { WAREHOUSE_FOLDER } from '@timelake/storage/name-records'
import {
  beginPurge,
  findDroppedTable,
  findTableSharing,
  markTablePurged,
  type DroppedTableRow,
} from '@timelake/database/dropped-tables'
import type { SqlSession } from '@timelake/database/sql-session'
import { listWarehouses } from '@timelake/database/warehouses'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { joinLocation, normalizeLocation } from '@timelake/iceberg/spec/location'
import {
  LocationError,
  ObjectNotFoundError,
  type DeleteResult,
} from '@timelake/storage/object-store'
import type { ObjectStore } from '@timelake/storage/object-store'
import { locationsOfWarehouse } from '@timelake/storage/warehouse-stores'
import type { PurgeBounds } from '@timelake/timelake/contract/plan-purge'
import type { DeletedFile, PurgeCounts } from '@timelake/timelake/delete-files'
import { NOTHING_PURGED, purgeTable, type PurgeContext } from '@timelake/timelake/purge-table'
import type { ReadIfPresent } from '@timelake/timelake/read-table-metadata'
import type { WorkerContext } from '../context.ts'
import { liveReferences, type LiveReferences } from '../live-references.ts'
import type { JobHandler, JobOutcome } from '../run-job.ts'
import type { WorkerConfig } from '../worker-config.ts'
import { objectsOf } from '../warehouse-objects.ts'
import type { WorkerMetrics } from '../worker-metrics.ts'

export interface PurgeTableOptions {
  readonly context: Pick<WorkerContext, 'database' | 'stores' | 'nowMs'>
  readonly config: Pick<WorkerConfig, 'purgeGraceMs' | 'extraAllowedLocations'>
  readonly metrics: Pick<WorkerMetrics, 'purgedFiles'>
}

const NOT_DROPPED = 'the table is not dropped any more'

/**
 * The handler of `purge-table`: the files of a dropped table are deleted, if its drop asked for that and nothing came in
 * between. May run twice or go on where another run was interrupted.
 */
export function purgeTableHandler(options: PurgeTableOptions): JobHandler {
  const { database, nowMs } = options.context
  const references = liveReferences({
    database,
    readerOf: async (warehouseId) => readerOf(await objectsOf(options.context, warehouseId)),
  })
  return async ({ table: { id: tableId }, signal }) => {
    const dropped = await findDroppedTable(database, tableId)
    if (dropped === undefined) return nothingToDo('the table is not dropped any more')
    if (!dropped.purgeRequested) return nothingToDo('its drop did not ask for a purge')
    if (dropped.purgedAtMs !== undefined) return nothingToDo('its files were purged already')
    if (dropped.kind === 'view') return nothingToDo('views have no files that a purge would delete')
    const askedAtMs = dropped.purgeRequestedAtMs ?? dropped.droppedAtMs
    const graceUntilMs = askedAtMs + options.config.purgeGraceMs
    if (nowMs() < graceUntilMs) {
      return { ...nothingToDo('its grace is not over'), nextDueAtMs: graceUntilMs }
    }
    const context = await purgeContext(options, { dropped, references, signal })
    const { outcome, reason, counts } = await purgeTable(context, dropped)
    options.metrics.purgedFiles.inc(deletedCount(counts))
    if (outcome === 'succeeded') await markTablePurged(database, { tableId, nowMs: nowMs() })
    return jobOutcome(outcome, reason, counts)
  }
}

interface PurgeScene {
  readonly dropped: DroppedTableRow
  readonly references: LiveReferences
  readonly signal: AbortSignal
}

async function purgeContext(
  { context, config }: PurgeTableOptions,
  { dropped, references, signal }: PurgeScene,
): Promise<PurgeContext> {
  const { database } = context
  const store = await objectsOf(context, dropped.warehouseId)
  return {
    read: readerOf(store),
    deleteFiles: async (locations) => (await store.deleteMany(locations)).map(deletedFile),
    obstacle: (folders) => obstacleOf(database, dropped, folders),
    async beginBatch() {
      const begun = await beginPurge(database, { ...dropped, nowMs: context.nowMs() })
      return begun === 'begun' ? undefined : NOT_DROPPED
    },
    usersOf: references.usersOf,
    bounds: await boundsOf(database, config, dropped.warehouseId),
    signal,
  }
}

async function boundsOf(
  database: SqlSession,
  { extraAllowedLocations }: PurgeTableOptions['config'],
  warehouseId: string,
): Promise<PurgeBounds> {
  const warehouses = await listWarehouses(database)
  const home = warehouses.filter(({ id }) => id === warehouseId)
  return {
    allowedRoots: [...home.flatMap(locationsOfWarehouse), ...extraAllowedLocations],
    reserved: warehouses.map(({ location }) => joinLocation(location, WAREHOUSE_FOLDER)),
  }
}

/** What the database knows against a purge at this moment. */
async function obstacleOf(
  database: SqlSession,
  dropped: DroppedTableRow,
  folders: readonly string[],
): Promise<string | undefined> {
  const now = await findDroppedTable(database, dropped.id)
  if (now?.droppedAtMs !== dropped.droppedAtMs) return NOT_DROPPED
  const { tableUuid, metadataLocation } = dropped
  for (const folder of folders) {
    const other = await findTableSharing(database, { tableUuid, metadataLocation, folder })
    if (other === undefined) continue
    return `table ${[...other.levels, other.name].join('.')} has the same UUID, metadata file or folder`
  }
  return undefined
}

function readerOf(store: ObjectStore): ReadIfPresent {
  return async (location, options) => {
    try {
      return await store.get(normalizeLocation(location), options)
    } catch (cause) {
      if (cause instanceof ObjectNotFoundError) return undefined
      throw cause
    }
  }
}

function deletedFile(result: DeleteResult): DeletedFile {
  const { location } = result
  if (result.outcome === 'gone') return { outcome: 'gone', location }
  const { error } = result
  if (error instanceof LocationError) return { outcome: 'refused', location }
  return { outcome: 'failed', location, error }
}

function nothingToDo(reason: string): JobOutcome {
  return jobOutcome('nothing-to-do', reason, NOTHING_PURGED)
}

function jobOutcome(
  state: 'succeeded' | 'skipped' | 'nothing-to-do',
  reason: string,
  counts: PurgeCounts,
): JobOutcome {
  return { state, reason, outcome: describeCounts(counts), decision: { outcome: state, reason } }
}

function describeCounts({ deleted, left, leftExamples }: PurgeCounts): JsonObject {
  return {
    deleted: integers(deleted),
    left: integers(left),
    'left-examples': leftExamples,
  }
}

function integers(counts: Readonly<Record<string, number>>): JsonObject {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, BigInt(count)]))
}

function deletedCount({ deleted }: PurgeCounts): number {
  return Object.values(deleted).reduce((sum, count) => sum + count, 0)
}

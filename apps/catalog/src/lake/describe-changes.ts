import { findDroppedTable } from '@timelake/database/dropped-tables'
import { keepEventDetails } from '@timelake/database/event-details'
import type { FeedEvent } from '@timelake/database/feed'
import { findTableById } from '@timelake/database/find-tables'
import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import { readPartitionChanges } from '@timelake/iceberg/io/read-partition-changes'
import { encodePartitionChanges } from '@timelake/iceberg/snapshot/partition-changes-json'
import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import { isJsonArray, parseJson, printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { ObjectNotFoundError, ObjectTooLargeError } from '@timelake/storage/object-store'
import { UnusableManifestsError } from '../cache/manifest-lists.ts'
import { MetadataFileMissingError } from '../catalog/catalog-errors.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Warehouse } from '../catalog/warehouse.ts'

/** Events whose manifests are read at the same time. */
const EVENTS_AT_ONCE_MAX = 4

/**
 * The same events, commits with what they did to each partition: read from the manifests of their snapshots the first
 * time that anybody asks, and kept. Where the manifests cannot be read any more, the details say why; where the store does not
 * answer now, they are left out and read another time. Errors: those of the database.
 */
export async function describeChanges(
  catalog: Catalog,
  warehouse: Warehouse,
  events: readonly FeedEvent[],
): Promise<readonly FeedEvent[]> {
  const described = await mapBounded(events, EVENTS_AT_ONCE_MAX, async (event) => ({
    event,
    found: event.details === undefined ? await findChanges(catalog, warehouse, event) : undefined,
  }))
  const kept = described.flatMap(({ event, found }) =>
    found === undefined ? [] : [{ seq: event.seq, details: found }],
  )
  if (kept.length > 0) await keepEventDetails(catalog.context.database, kept)
  return described.map(({ event, found }) =>
    found === undefined ? event : { ...event, details: found },
  )
}

/** JSON text; undefined for an event that tells of no snapshot, and where the store does not answer. */
async function findChanges(
  catalog: Catalog,
  warehouse: Warehouse,
  event: FeedEvent,
): Promise<string | undefined> {
  if (event.kind !== 'table-committed' && event.kind !== 'table-created') return undefined
  const snapshots = addedSnapshots(parseJson(event.payload))
  if (snapshots.length === 0 || event.tableId === undefined) return undefined
  try {
    return printJson(await readChanges(catalog, warehouse, { tableId: event.tableId, snapshots }))
  } catch (error) {
    const reason = lastingReason(error)
    if (reason !== undefined) return printJson({ unavailable: reason })
    catalog.context.log.warn({ err: error, event: event.eventId }, 'cannot read what a commit did')
    return undefined
  }
}

interface AddedSnapshot {
  readonly snapshotId: bigint
  readonly manifestList: string
}

interface AddedSnapshots {
  readonly tableId: string
  readonly snapshots: readonly AddedSnapshot[]
}

async function readChanges(
  catalog: Catalog,
  warehouse: Warehouse,
  { tableId, snapshots }: AddedSnapshots,
): Promise<JsonObject> {
  const metadata = await metadataOf(catalog, warehouse, tableId)
  if (metadata === undefined) return { unavailable: 'the table is gone' }
  const listed = []
  for (const { snapshotId, manifestList } of snapshots) {
    const snapshot = { snapshotId, manifestList, sequenceNumber: 0n, timestampMs: 0 }
    const manifests = await catalog.manifestLists.get(warehouse, { metadata, snapshot })
    listed.push({ snapshotId, manifests })
  }
  const found = await readPartitionChanges(
    (file, options) => warehouse.store.get(normalizeLocation(file), options),
    { metadata, snapshots: listed },
    { allowedPrefixes: tableRoots(metadata) },
  )
  switch (found.outcome) {
    case 'read':
      return encodePartitionChanges(found.changes)
    case 'too-many':
      return { unavailable: `the commit has ${found.what}` }
    case 'outside':
      return { unavailable: `${found.location} lies outside the table` }
    case 'encrypted':
      return { unavailable: `${found.location} is encrypted` }
  }
}

/** The metadata that the table has now, or had when it was dropped; undefined when that is gone. */
async function metadataOf(
  catalog: Catalog,
  warehouse: Warehouse,
  tableId: string,
): Promise<TableMetadata | undefined> {
  const { database } = catalog.context
  const live = await findTableById(database, tableId)
  const row = live ?? (await findDroppedTable(database, tableId))
  if (row === undefined) return undefined
  try {
    return (await catalog.metadata.get(warehouse, row.metadataLocation)).metadata
  } catch (error) {
    // A purge deleted it. That of a live table may have been replaced just now: another time.
    if (error instanceof MetadataFileMissingError && live === undefined) return undefined
    throw error
  }
}

/** Snapshots with their manifest lists in the payload of a commit (commit-event.ts). */
function addedSnapshots(payload: JsonValue): readonly AddedSnapshot[] {
  if (payload === null || typeof payload !== 'object' || isJsonArray(payload)) return []
  const { 'further-snapshots': further } = payload
  const all = [payload, ...(isJsonArray(further) ? further : [])]
  return all.flatMap((one) => {
    if (one === null || typeof one !== 'object' || isJsonArray(one)) return []
    const { 'snapshot-id': snapshotId, 'manifest-list': manifestList } = one
    return typeof snapshotId === 'bigint' && typeof manifestList === 'string'
      ? [{ snapshotId, manifestList }]
      : []
  })
}

/** Why it will never be known; undefined when it may be another time. */
function lastingReason(error: unknown): string | undefined {
  if (error instanceof ObjectNotFoundError) return 'the manifests of the snapshot are gone'
  if (error instanceof ObjectTooLargeError) return 'a manifest of the snapshot is too large'
  if (error instanceof UnusableManifestsError) return error.message
  if (error instanceof CorruptFileError) return 'a manifest of the snapshot cannot be read'
  return undefined
}

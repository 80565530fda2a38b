import { findLandedCommit, type LandedCommit } from '@timelake/database/landed-commits'
import { readPointers } from '@timelake/database/read-pointers'
import { swapMetadataLocation } from '@timelake/database/swap-metadata-location'
import type { TableRow } from '@timelake/database/table-row'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { ViewMetadata } from '@timelake/iceberg/view/view-metadata'
import type { LoadedView } from '../cache/loaded-view.ts'
import { CommitStateUnknownError, NoSuchViewError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { idempotencyOf } from './mutation-scope.ts'
import { settleChange } from './settle-change.ts'
import { viewEventPayload } from './view-event-payloads.ts'
import type { ViewCommit } from './view-commit.ts'
import { movedViewRoots } from './view-location-rules.ts'
import { discardFile } from './write-metadata.ts'
import type { WrittenView } from './write-view.ts'

export interface PreparedView {
  readonly commit: ViewCommit
  /** As it was when the requirements were checked. */
  readonly row: TableRow
  readonly base: ViewMetadata
  readonly written: WrittenView
}

type SwapOutcome = 'swapped' | 'stale' | 'missing'

/**
 * Moves the view's pointer from the row's metadata to the written file, with the event and the idempotency outcome in the
 * same statement. `stale`: somebody else moved it first; the written file is deleted. Throws NoSuchViewError when the
 * view is gone meanwhile, and what `settleChange` throws; the file is kept only when the outcome is unknown.
 */
export async function publishView(
  catalog: Catalog,
  prepared: PreparedView,
): Promise<LoadedView | 'stale'> {
  const outcome = await swap(catalog, prepared)
  if (outcome === 'swapped') {
    catalog.context.reachFaultPoint('commit.swapped')
    return acknowledge(catalog, prepared)
  }
  await withdraw(catalog, prepared)
  if (outcome === 'stale') return 'stale'
  throw new NoSuchViewError(prepared.commit.identifier)
}

async function swap(catalog: Catalog, prepared: PreparedView): Promise<SwapOutcome> {
  try {
    return await settle(catalog, prepared)
  } catch (error) {
    const { row } = prepared
    if (error instanceof CommitStateUnknownError) catalog.pointers.forget(row.warehouseId, row)
    else await withdraw(catalog, prepared)
    throw error
  }
}

function settle(catalog: Catalog, prepared: PreparedView): Promise<SwapOutcome> {
  const { row, commit, written } = prepared
  const { location: next, metadata } = written.loaded
  const { database, nowMs } = catalog.context
  const change = {
    tableId: row.id,
    expected: row.metadataLocation,
    next,
    tableUuid: metadata.viewUuid,
    location: normalizeLocation(metadata.location),
    roots: movedViewRoots(prepared.base, metadata),
    nowMs: nowMs(),
    event: {
      kind: 'view-committed' as const,
      payload: viewEventPayload({
        metadataLocation: next,
        previousMetadataLocation: row.metadataLocation,
        metadata,
      }),
    },
    landed: landedRecord(prepared),
    ...idempotencyOf(commit, { status: 200, metadataLocation: next }),
  }
  return settleChange<SwapOutcome>({
    what: 'the commit',
    send: () => swapMetadataLocation(database, change),
    isApplied: (outcome) => outcome === 'swapped',
    findApplied: async () => ((await wasPublished(catalog, prepared)) ? 'swapped' : undefined),
  })
}

/** Far more commits than can pass between the loss of an answer and the look for what became of it. */
const LANDED_KEPT = 100n

/**
 * How a commit is found again when its answer was lost and later ones came after it: view metadata has no log of
 * earlier files. Views have no snapshots, so the number of the pointer's version stands in their place.
 */
function landedRecord({ row, commit }: PreparedView): LandedCommit {
  const version = row.version + 1n
  return {
    requestHash: commit.requestHash,
    snapshotIds: [version],
    forgetSnapshotIds: [version - LANDED_KEPT],
  }
}

/** Whether the pointer is at the written file, or was and is beyond it. */
async function wasPublished(
  catalog: Catalog,
  { row, commit, written }: PreparedView,
): Promise<boolean> {
  const { database } = catalog.context
  const { location } = written.loaded
  const pointer = (await readPointers(database, [row.id])).get(row.id)
  if (pointer?.metadataLocation === location) return true
  const { requestHash } = commit
  const landed = await findLandedCommit(database, { tableId: row.id, requestHash })
  return landed?.metadataLocation === location
}

/** Nothing was applied: our file goes, and what we knew of the view is not to be trusted. */
async function withdraw(catalog: Catalog, { row, commit, written }: PreparedView): Promise<void> {
  catalog.pointers.forget(row.warehouseId, row)
  await discardFile(catalog, commit.warehouse, written.loaded.location)
}

function acknowledge(catalog: Catalog, { row, commit, written }: PreparedView): LoadedView {
  const { loaded, textBytes } = written
  catalog.views.delete(commit.warehouse, row.metadataLocation)
  catalog.views.put(commit.warehouse, loaded, textBytes)
  catalog.pointers.remember({
    ...row,
    tableUuid: loaded.metadata.viewUuid,
    location: normalizeLocation(loaded.metadata.location),
    metadataLocation: loaded.location,
    version: row.version + 1n,
  })
  return loaded
}

import {
  IdempotencyKeyLostError,
  LocationTakenError,
  StatementError,
} from '@timelake/database/database-errors'
import { findTableById } from '@timelake/database/find-tables'
import { swapMetadataLocation } from '@timelake/database/swap-metadata-location'
import type { TableRow } from '@timelake/database/table-row'
import { snapshotsAdded } from '@timelake/iceberg/commit/snapshots-added'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { CommitStateUnknownError, NoSuchTableError, NotAppliedError } from './catalog-errors.ts'
import { idempotencyOf, type Catalog } from './catalog.ts'
import { commitEventPayload } from './commit-event.ts'
import type { TableCommit } from './table-commit.ts'
import type { Warehouse } from './warehouse.ts'
import { deleteOldMetadata } from './delete-old-metadata.ts'
import { landedRecord } from './landed-request.ts'
import { discardMetadata, type WrittenMetadata } from './write-metadata.ts'

export interface PreparedCommit {
  readonly commit: TableCommit
  readonly row: TableRow
  readonly base: LoadedMetadata
  readonly written: WrittenMetadata
}

/**
 * Moves the table's pointer from the base to the written file, with the event and the idempotency outcome in the same
 * statement. `stale`: somebody else moved it first; the written file is deleted. When the database gave no answer the
 * row is read again: throws NotAppliedError if the pointer did not move, CommitStateUnknownError
 * (nothing is deleted) if that cannot be told.
 */
export async function publishCommit(
  catalog: Catalog,
  prepared: PreparedCommit,
): Promise<LoadedMetadata | 'stale'> {
  const { row, written, commit } = prepared
  const outcome = await swap(catalog, prepared)
  switch (outcome) {
    case 'swapped':
      catalog.context.reachFaultPoint('commit.swapped')
      return acknowledge(catalog, prepared)
    case 'stale':
      await discardMetadata(catalog, commit.warehouse, written.loaded.location)
      return 'stale'
    case 'missing':
      await discardMetadata(catalog, commit.warehouse, written.loaded.location)
      catalog.pointers.forget(row.warehouseId, row)
      throw new NoSuchTableError(commit.identifier)
  }
}

type SwapOutcome = 'swapped' | 'stale' | 'missing'

async function swap(catalog: Catalog, prepared: PreparedCommit): Promise<SwapOutcome> {
  const { row, commit, written } = prepared
  const { location, metadata } = written.loaded
  try {
    return await swapMetadataLocation(catalog.context.database, {
      tableId: row.id,
      expected: row.metadataLocation,
      next: location,
      tableUuid: metadata.tableUuid,
      location: normalizeLocation(metadata.location),
      nowMs: catalog.context.nowMs(),
      event: {
        kind: 'table-committed',
        payload: commitEventPayload({
          metadataLocation: location,
          previousMetadataLocation: row.metadataLocation,
          metadata,
          addedSnapshotIds: snapshotsAdded(commit.request),
        }),
      },
      landed: landedRecord(commit.request, commit.requestHash),
      ...idempotencyOf(commit, { status: 200, metadataLocation: location }),
    })
  } catch (error) {
    return reconcile(catalog, prepared, error)
  }
}

function acknowledge(catalog: Catalog, prepared: PreparedCommit): LoadedMetadata {
  const { row, base, written, commit } = prepared
  const { loaded } = written
  // The old one first, or a large table would push every other table out on its way in.
  catalog.metadata.delete(commit.warehouse, row.metadataLocation)
  catalog.metadata.put(commit.warehouse, loaded, written.textBytes)
  catalog.pointers.remember({
    ...row,
    tableUuid: loaded.metadata.tableUuid,
    location: normalizeLocation(loaded.metadata.location),
    metadataLocation: loaded.location,
    version: row.version + 1n,
  })
  deleteOldMetadata(catalog, commit.warehouse, { previous: base, current: loaded })
  return loaded
}

/** Finds out what became of a swap that failed. */
async function reconcile(
  catalog: Catalog,
  prepared: PreparedCommit,
  error: unknown,
): Promise<SwapOutcome> {
  const { row, written, commit } = prepared
  const { location } = written.loaded
  catalog.pointers.forget(row.warehouseId, row)
  if (isRefusal(error)) {
    await discardMetadata(catalog, commit.warehouse, location)
    throw refusalOf(error)
  }
  const current = await readRow(catalog, row.id, error)
  if (current.metadataLocation === location) return 'swapped'
  if (current.metadataLocation === row.metadataLocation) {
    await discardMetadata(catalog, commit.warehouse, location)
    throw new NotAppliedError('the database did not take the commit', { cause: error })
  }
  return (await isInHistory(catalog, current, {
    warehouse: commit.warehouse,
    location,
    cause: error,
  }))
    ? 'swapped'
    : 'stale'
}

function isRefusal(error: unknown): error is Error {
  return (
    error instanceof StatementError ||
    error instanceof LocationTakenError ||
    error instanceof IdempotencyKeyLostError
  )
}

function refusalOf(error: Error): Error {
  if (error instanceof IdempotencyKeyLostError) return error
  if (error instanceof LocationTakenError) {
    return new InvalidInputError(error.message, undefined, { cause: error })
  }
  return new NotAppliedError('the database refused the commit', { cause: error })
}

async function readRow(catalog: Catalog, tableId: string, cause: unknown): Promise<TableRow> {
  try {
    const row = await findTableById(catalog.context.database, tableId)
    if (row !== undefined) return row
  } catch (second) {
    const causes = new AggregateError([cause, second])
    throw new CommitStateUnknownError('cannot tell whether the commit happened', { cause: causes })
  }
  throw new CommitStateUnknownError('the table was dropped during the commit', { cause })
}

/** Whether the file became the table's metadata and was then replaced by a later commit. */
async function isInHistory(
  catalog: Catalog,
  current: TableRow,
  {
    warehouse,
    location,
    cause,
  }: { readonly warehouse: Warehouse; readonly location: string; readonly cause: unknown },
): Promise<boolean> {
  try {
    const { metadata } = await catalog.metadata.get(warehouse, current.metadataLocation)
    return metadata.metadataLog.some(({ metadataFile }) => metadataFile === location)
  } catch (second) {
    const causes = new AggregateError([cause, second])
    throw new CommitStateUnknownError('cannot tell whether the commit happened', { cause: causes })
  }
}

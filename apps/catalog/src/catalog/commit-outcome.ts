import { findIdempotencyKey, type KeptIdempotencyKey } from '@timelake/database/idempotency'
import { findLandedSnapshot } from '@timelake/database/landed-commits'
import type { TableRow } from '@timelake/database/table-row'
import { isJsonArray, parseJson, printJson } from '@timelake/iceberg/spec/json'
import { isLocationBelow } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { NoSuchTableError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { IdempotencySlot } from './mutation-scope.ts'
import { findTableRow } from './find-row.ts'
import type { TableIdentifier } from './table-identifier.ts'
import type { Warehouse } from './warehouse.ts'

/** The commit that is meant: by the key that it was sent with, or by the snapshot that it adds. */
export type CommitSought = { readonly key: string } | { readonly snapshotId: bigint }

export interface OutcomeQuestion {
  readonly warehouse: Warehouse
  readonly identifier: TableIdentifier
  readonly commit: CommitSought
}

/**
 * `landed`: in the table, for good. `rejected`: certainly not, for a reason that the caller was told or would have been.
 * `pending`: on the way; ask again. `unknown`: there is no trace of it; it did not land unless it is on its way to
 * or in another process, or was forgotten since.
 */
export type CommitOutcome =
  | {
      readonly outcome: 'landed'
      /** Empty where it is not on record which ones the commit added. */
      readonly snapshotIds: readonly bigint[]
      /** Absent when it is not on record. */
      readonly metadataLocation: string | undefined
    }
  | { readonly outcome: 'rejected'; readonly refusal: Refusal }
  | { readonly outcome: 'pending' | 'unknown' }

/** An answer on record, or an error that becomes one. */
export type Refusal =
  { readonly status: number; readonly body: string | undefined } | { readonly error: Error }

/** What became of a commit of a table. Throws NoSuchTableError. */
export async function findCommitOutcome(
  catalog: Catalog,
  question: OutcomeQuestion,
): Promise<CommitOutcome> {
  const { warehouse, identifier, commit } = question
  const row = await findTableRow(catalog, warehouse, identifier)
  if (row === undefined) throw new NoSuchTableError(identifier)
  const { metadata } = await catalog.metadata.get(warehouse, row.metadataLocation)
  return 'key' in commit
    ? outcomeOfKey(catalog, question, { key: commit.key, metadata })
    : outcomeOfSnapshot(catalog, question, { snapshotId: commit.snapshotId, row, metadata })
}

async function outcomeOfKey(
  { context }: Catalog,
  { warehouse }: OutcomeQuestion,
  { key, metadata }: { readonly key: string; readonly metadata: TableMetadata },
): Promise<CommitOutcome> {
  const kept = await findIdempotencyKey(context.database, { warehouseId: warehouse.id, key })
  if (kept === undefined) return { outcome: 'unknown' }
  const { status, body, metadataLocation } = kept
  if (status === undefined) {
    // Whoever held it after that would have to take it over first.
    return { outcome: kept.leaseUntilMs > context.nowMs() ? 'pending' : 'unknown' }
  }
  if (status >= 400) return { outcome: 'rejected', refusal: { status, body } }
  const isElsewhere =
    metadataLocation !== undefined &&
    !tableRoots(metadata).some((root) => isLocationBelow(root, metadataLocation))
  if (isElsewhere) return { outcome: 'unknown' }
  return { outcome: 'landed', metadataLocation, snapshotIds: notedSnapshots(kept) }
}

async function outcomeOfSnapshot(
  { context, pending }: Catalog,
  { warehouse, identifier }: OutcomeQuestion,
  { snapshotId, row, metadata }: { snapshotId: bigint; row: TableRow; metadata: TableMetadata },
): Promise<CommitOutcome> {
  const wanted = { warehouseId: warehouse.id, identifier, snapshotId }
  // Asked first: what stops being pending now is looked up in the database afterwards.
  const isPending = pending.isPending(wanted)
  const landed = await findLandedSnapshot(context.database, { tableId: row.id, snapshotId })
  const isThere = metadata.snapshots.some((snapshot) => snapshot.snapshotId === snapshotId)
  if (landed !== undefined || isThere) {
    const metadataLocation = landed?.metadataLocation ?? row.metadataLocation
    return { outcome: 'landed', snapshotIds: [snapshotId], metadataLocation }
  }
  if (isPending) return { outcome: 'pending' }
  const error = pending.failure(wanted)
  return error === undefined ? { outcome: 'unknown' } : { outcome: 'rejected', refusal: { error } }
}

/**
 * The slot of a commit that adds these snapshots. Its outcome notes them beside the metadata location, because several
 * commits may land in one metadata file.
 */
export function notingSnapshots(
  slot: IdempotencySlot | undefined,
  snapshotIds: readonly bigint[],
): IdempotencySlot | undefined {
  if (slot === undefined) return undefined
  const body = printJson({ 'snapshot-ids': snapshotIds })
  return {
    ...slot,
    ticket: (outcome) =>
      slot.ticket(outcome.metadataLocation === undefined ? outcome : { ...outcome, body }),
  }
}

function notedSnapshots({ body, metadataLocation }: KeptIdempotencyKey): readonly bigint[] {
  if (body === undefined || metadataLocation === undefined) return []
  const note = parseJson(body)
  if (note === null || typeof note !== 'object' || isJsonArray(note)) return []
  const ids = note['snapshot-ids']
  return isJsonArray(ids) ? ids.filter((id) => typeof id === 'bigint') : []
}

import { findBatches, type LandedBatch } from '@timelake/database/append-batches'
import type { TableRow } from '@timelake/database/table-row'
import type { AppendRequest, AppendResult } from '@timelake/iceberg/rest/append-json'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { warmAppendBranch } from './append-branch.ts'
import { NoSuchTableError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { findTableRow } from './find-row.ts'
import type { AppendIntent } from './append-intent.ts'
import { appendIntent } from './queue-append.ts'
import { filesHash, resolveAppend } from './resolve-append.ts'
import type { TableIdentifier } from './table-identifier.ts'

/** One call of the append route. */
export interface AppendCall extends MutationScope {
  readonly identifier: TableIdentifier
  readonly request: AppendRequest
}

/**
 * Adds finished data files to a branch of a table, together with what others append at the same moment; answers once they
 * are durable and visible to every later load. A batch that landed before adds nothing and succeeds, for as long as it
 * is remembered, whatever its request says of files. Footers and manifests are read before the call takes its place in the
 * queue. Throws NoSuchTableError, what `resolveAppend`, `readAppendBranch` and `admitAppends` refuse with, all of them with
 * nothing applied, and what `appendIntent` throws.
 */
export async function appendDataFiles(catalog: Catalog, call: AppendCall): Promise<AppendResult> {
  const { described, named } = call.request
  const result = await append(catalog, call)
  catalog.metrics.appendBatches.inc({ outcome: result.outcome })
  if (result.outcome === 'added') {
    catalog.metrics.appendedFiles.inc(described.length + named.length)
  }
  return result
}

async function append(catalog: Catalog, call: AppendCall): Promise<AppendResult> {
  const { warehouse, identifier, request, slot } = call
  const row = await findTableRow(catalog, warehouse, identifier)
  if (row === undefined) throw new NoSuchTableError(identifier)
  const base = await catalog.metadata.get(warehouse, row.metadataLocation)
  const target = { row, base }
  // Of a batch that landed long ago the files may be merged and deleted by now.
  const known = request.named.length > 0 ? await findBatch(catalog, row, request) : undefined
  if (known !== undefined) return landedBefore(base, request, known)
  const intent = await prepareUnlessLanded(catalog, call, target)
  if ('outcome' in intent) return intent
  const { loaded, verdict } = await appendIntent(catalog, { warehouse, identifier, slot, intent })
  if (verdict.outcome === 'refused') throw verdict.error
  if (verdict.outcome === 'added') {
    return { outcome: 'added', ...whereItIs(loaded, request, verdict.snapshotId) }
  }
  return landedBefore(loaded, request, (await findBatch(catalog, row, request)) ?? verdict)
}

interface AppendTarget {
  readonly row: TableRow
  readonly base: LoadedMetadata
}

/** The intent, or the answer when the request is refused only because what it asks for landed before. */
async function prepareUnlessLanded(
  catalog: Catalog,
  { warehouse, request }: AppendCall,
  { row, base }: AppendTarget,
): Promise<AppendIntent | AppendResult> {
  const { metadata } = base
  try {
    const intent = await resolveAppend(catalog, { warehouse, metadata, request })
    await warmAppendBranch(catalog, { warehouse, metadata, branch: request.branch })
    return intent
  } catch (error) {
    const batch = await findBatch(catalog, row, request)
    if (batch === undefined) throw error
    return landedBefore(base, request, batch)
  }
}

async function findBatch(
  { context }: Catalog,
  { id: tableId }: TableRow,
  { batchId }: AppendRequest,
): Promise<LandedBatch | undefined> {
  const found = await findBatches(context.database, { tableId, batchIds: [batchId] })
  return found.get(batchId)
}

function landedBefore(
  loaded: LoadedMetadata,
  request: AppendRequest,
  batch: Pick<LandedBatch, 'snapshotId'> & Partial<LandedBatch>,
): AppendResult {
  const { requestHash, snapshotId } = batch
  return {
    outcome: 'landed-before',
    ...whereItIs(loaded, request, snapshotId),
    ...(requestHash === undefined ? {} : { isSameFiles: requestHash === filesHash(request) }),
  }
}

function whereItIs(
  { location, metadata }: LoadedMetadata,
  { batchId }: AppendRequest,
  snapshotId: bigint,
): Omit<AppendResult, 'outcome'> {
  const snapshot = metadata.snapshots.findLast((one) => one.snapshotId === snapshotId)
  return {
    batchId,
    snapshotId,
    ...(snapshot === undefined ? {} : { sequenceNumber: snapshot.sequenceNumber }),
    metadataLocation: location,
  }
}

/**
 * The answer to an append that was made earlier under the same idempotency key, from the batch that it landed; undefined
 * when the batch or the table is forgotten.
 */
export async function appendAgain(
  catalog: Catalog,
  call: Omit<AppendCall, 'slot'>,
): Promise<AppendResult | undefined> {
  const { warehouse, identifier, request } = call
  const row = await findTableRow(catalog, warehouse, identifier)
  if (row === undefined) return undefined
  const batch = await findBatch(catalog, row, request)
  if (batch === undefined) return undefined
  const loaded = await catalog.metadata.get(warehouse, row.metadataLocation)
  return { outcome: 'added', ...whereItIs(loaded, request, batch.snapshotId) }
}

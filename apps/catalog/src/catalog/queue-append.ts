import { invariant } from '@timelake/iceberg/spec/invariant'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { NoSuchTableError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { findTableRow } from './find-row.ts'
import type { AppendIntent, AppendVerdict } from './append-intent.ts'
import { queueMember } from './queue-member.ts'
import type { TableIdentifier } from './table-identifier.ts'

export interface QueuedIntent extends MutationScope {
  readonly identifier: TableIdentifier
  readonly intent: AppendIntent
}

/**
 * Lets an append wait in the queue of its table until it has landed with the others that wait there. Throws NoSuchTableError,
 * what the intent is refused with, NotAppliedError, CommitQueueFullError and CommitStateUnknownError.
 */
export async function appendIntent(
  catalog: Catalog,
  queued: QueuedIntent,
): Promise<{ readonly loaded: LoadedMetadata; readonly verdict: AppendVerdict }> {
  const { warehouse, slot, identifier, intent } = queued
  const row = await findTableRow(catalog, warehouse, identifier)
  if (row === undefined) throw new NoSuchTableError(identifier)
  const answer = await queueMember(catalog, row.id, {
    warehouse,
    slot,
    identifier,
    ask: { kind: 'append', intent },
    orderingClass: 'append',
    known: undefined,
  })
  invariant(answer.append !== undefined, 'an append that landed has a verdict')
  return { loaded: answer.loaded, verdict: answer.append }
}

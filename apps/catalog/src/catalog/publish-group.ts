import { findBatches } from '@timelake/database/append-batches'
import type { GroupSwap, SwapVerdict } from '@timelake/database/swap-many'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { Catalog } from './catalog.ts'
import { idempotencyOf, type StoredOutcome } from './mutation-scope.ts'
import { commitEventPayload } from './commit-event.ts'
import type { GroupMember } from './group-member.ts'
import type { GroupChange, GroupPlan, GroupTable } from './plan-group.ts'
import { acknowledgeSwap, findTrace, pointerSign } from './publish-changes.ts'
import { settleChange } from './settle-change.ts'
import type { WrittenGroup } from './write-group.ts'

export interface GroupPublication {
  readonly table: GroupTable
  readonly plan: GroupPlan
  readonly group: WrittenGroup
}

/**
 * Moves the pointer of the table to the metadata file of the group, with the events, the landed requests, the batches and the
 * idempotency outcomes of all its members, in one statement. Nothing was changed when the verdict is not `swapped`.
 * Throws what `settleChange` throws.
 */
export function publishGroup(
  catalog: Catalog,
  publication: GroupPublication,
): Promise<SwapVerdict> {
  const { table } = publication
  const swap = swapOf(catalog, publication)
  return settleChange<SwapVerdict>({
    what: 'the commit',
    send: () => catalog.swaps.swap(swap),
    isApplied: (answer) => answer === 'swapped',
    findApplied: async () => ((await wasSwapped(catalog, table, swap)) ? 'swapped' : undefined),
  })
}

function swapOf(catalog: Catalog, { table, plan, group }: GroupPublication): GroupSwap {
  const { row } = table
  const { metadata, location: next } = group.written.loaded
  const members = plan.changes.flatMap((change) => change.members)
  return {
    tableId: row.id,
    expected: row.metadataLocation,
    next,
    tableUuid: metadata.tableUuid,
    location: normalizeLocation(metadata.location),
    nowMs: catalog.context.nowMs(),
    events: plan.changes.map((change) => ({
      kind: 'table-committed',
      payload: payloadOf(table, next, change),
    })),
    landed: plan.changes.flatMap(({ landed }) => landed ?? []),
    idempotency: members.flatMap(
      (member) => idempotencyOf(member, outcomeOf(member, next)).idempotency ?? [],
    ),
    batches: plan.changes.flatMap(({ batches }) => batches),
  }
}

function payloadOf({ row }: GroupTable, next: string, change: GroupChange): string {
  return commitEventPayload({
    metadataLocation: next,
    previousMetadataLocation: row.metadataLocation,
    metadata: change.metadata,
    addedSnapshotIds: change.addedSnapshotIds,
    batchIds: change.batches.map(({ batchId }) => batchId),
  })
}

function outcomeOf({ ask }: GroupMember, metadataLocation: string): StoredOutcome {
  return ask.kind === 'request' && ask.answers === 'nothing'
    ? { status: 204 }
    : { status: 200, metadataLocation }
}

/** Throws when it cannot be told. */
async function wasSwapped(catalog: Catalog, table: GroupTable, swap: GroupSwap): Promise<boolean> {
  const { tableId, next, expected, landed, batches } = swap
  const sign = await pointerSign(catalog, table.warehouse, { tableId, expected, next })
  if (sign !== 'elsewhere') return sign === 'moved'
  const batchIds = batches.map(({ batchId }) => batchId)
  const known = await findBatches(catalog.context.database, { tableId, batchIds })
  if (batches.some((batch) => known.get(batch.batchId)?.snapshotId === batch.snapshotId))
    return true
  const requestHashes = landed.map(({ requestHash }) => requestHash)
  return (await findTrace(catalog, { tableId, next, requestHashes })) === 'moved'
}

/** What this process knows of the table after its pointer moved to the file of the group. */
export function acknowledgeGroup(
  catalog: Catalog,
  { warehouse, row, base }: GroupTable,
  group: WrittenGroup,
): void {
  for (const [location, manifests] of group.draft.manifestLists) {
    catalog.manifestLists.put(warehouse, location, manifests)
  }
  acknowledgeSwap(catalog, warehouse, { row, base, written: group.written })
}

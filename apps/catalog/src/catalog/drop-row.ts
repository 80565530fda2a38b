import { type DroppedTableRow, findDroppedTable } from '@timelake/database/dropped-tables'
import type { EventInput } from '@timelake/database/outbox'
import { readPointers } from '@timelake/database/read-pointers'
import type { RowKind, TableRow } from '@timelake/database/table-row'
import { dropTable as dropTableRow, type TableDrop } from '@timelake/database/tables'
import type { Catalog } from './catalog.ts'
import { idempotencyOf, type MutationScope } from './mutation-scope.ts'
import { findAnyRow } from './find-row.ts'
import { settleChange } from './settle-change.ts'
import type { TableIdentifier } from './table-identifier.ts'

export interface RowDrop extends MutationScope {
  readonly kind: RowKind
  readonly identifier: TableIdentifier
  readonly purgeRequested: boolean
  readonly eventOf: (row: TableRow) => EventInput
}

/**
 * Removes a table or a view from the catalog in its turn; its last state stays on record. Answers that state, or
 * undefined when the name is free or has something of the other kind. Throws what `settleChange` throws.
 */
export async function dropRow(catalog: Catalog, drop: RowDrop): Promise<TableRow | undefined> {
  const row = await findAnyRow(catalog, drop.warehouse, drop.identifier)
  if (row?.kind !== drop.kind) return undefined
  return catalog.lanes.run(row.id, () => dropInTurn(catalog, drop))
}

async function dropInTurn(catalog: Catalog, drop: RowDrop): Promise<TableRow | undefined> {
  const { warehouse, kind, identifier } = drop
  const row = await findAnyRow(catalog, warehouse, identifier)
  if (row?.kind !== kind) return undefined
  try {
    const outcome = await settle(catalog, drop, row)
    return outcome === 'dropped' ? row : undefined
  } finally {
    catalog.pointers.forget(warehouse.id, identifier)
  }
}

type DropOutcome = 'dropped' | 'missing'

function settle(catalog: Catalog, drop: RowDrop, row: TableRow): Promise<DropOutcome> {
  const { database, nowMs } = catalog.context
  const change = {
    tableId: row.id,
    purgeRequested: drop.purgeRequested,
    nowMs: nowMs(),
    event: drop.eventOf(row),
    ...idempotencyOf(drop, { status: 204 }),
  }
  return settleChange<DropOutcome>({
    what: `the drop of the ${row.kind}`,
    send: () => dropTableRow(database, change),
    isApplied: (outcome) => outcome === 'dropped',
    findApplied: async () => {
      // Waits for a drop that is under way, which looking at dropped tables does not.
      await readPointers(database, [row.id])
      const dropped = await findDroppedTable(database, row.id)
      return dropped !== undefined && isLeftBy(change, dropped) ? 'dropped' : undefined
    },
  })
}

/**
 * Whether a dropped table is what this drop left, and not somebody else's: by the time of the drop, and by whether a wish for
 * a purge came with it. What cannot be told: another drop of the same millisecond with the same wish passes for this one,
 * which makes no difference. This one passes for another's when its wish was taken back since, or one was given in its own
 * millisecond, or the table came back and was dropped again: then its caller hears that there is no such table, which is so.
 */
function isLeftBy(
  { nowMs, purgeRequested }: Pick<TableDrop, 'nowMs' | 'purgeRequested'>,
  { droppedAtMs, purgeRequestedAtMs }: DroppedTableRow,
): boolean {
  return droppedAtMs === nowMs && (purgeRequestedAtMs === droppedAtMs) === purgeRequested
}

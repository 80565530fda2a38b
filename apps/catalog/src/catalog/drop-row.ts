import type { EventInput } from '@timelake/database/outbox'
import { readPointers } from '@timelake/database/read-pointers'
import type { RowKind, TableRow } from '@timelake/database/table-row'
import { dropTable as dropTableRow } from '@timelake/database/tables'
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
      const pointer = (await readPointers(database, [row.id])).get(row.id)
      return pointer?.isDropped === true ? 'dropped' : undefined
    },
  })
}

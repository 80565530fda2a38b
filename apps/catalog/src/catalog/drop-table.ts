import { dropTable as dropTableRow } from '@timelake/database/tables'
import { NoSuchTableError } from './catalog-errors.ts'
import { idempotencyOf, type Catalog, type MutationScope } from './catalog.ts'
import { droppedPayload } from './table-event-payloads.ts'
import type { TableIdentifier } from './table-identifier.ts'

export interface TableDrop extends MutationScope {
  readonly identifier: TableIdentifier
  /** Recorded with the dropped table; no file is deleted here. */
  readonly purgeRequested: boolean
}

/** Removes the table from the catalog and keeps its last state on record. Throws NoSuchTableError. */
export async function dropTable(catalog: Catalog, drop: TableDrop): Promise<void> {
  const { warehouse, identifier } = drop
  const row = await catalog.pointers.find(warehouse.id, identifier)
  if (row === undefined) throw new NoSuchTableError(identifier)
  return catalog.lanes.run(row.id, () => dropInTurn(catalog, drop))
}

async function dropInTurn(catalog: Catalog, drop: TableDrop): Promise<void> {
  const { warehouse, identifier, purgeRequested } = drop
  const row = await catalog.pointers.find(warehouse.id, identifier)
  if (row === undefined) throw new NoSuchTableError(identifier)
  try {
    const outcome = await dropTableRow(catalog.context.database, {
      tableId: row.id,
      purgeRequested,
      nowMs: catalog.context.nowMs(),
      event: {
        kind: 'table-dropped',
        payload: droppedPayload(row.metadataLocation, purgeRequested),
      },
      ...idempotencyOf(drop, { status: 204 }),
    })
    if (outcome === 'missing') throw new NoSuchTableError(identifier)
    catalog.metadata.delete(warehouse, row.metadataLocation)
  } finally {
    catalog.pointers.forget(warehouse.id, identifier)
  }
}

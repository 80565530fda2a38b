import { NoSuchTableError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { dropRow } from './drop-row.ts'
import { droppedPayload } from './table-event-payloads.ts'
import type { TableIdentifier } from './table-identifier.ts'

export interface TableDrop extends MutationScope {
  readonly identifier: TableIdentifier
  /** Recorded with the dropped table; no file is deleted here. */
  readonly purgeRequested: boolean
}

/** Removes the table from the catalog and keeps its last state on record. Throws NoSuchTableError. */
export async function dropTable(catalog: Catalog, drop: TableDrop): Promise<void> {
  const { warehouse, identifier, purgeRequested } = drop
  const row = await dropRow(catalog, {
    ...drop,
    kind: 'table',
    eventOf: ({ metadataLocation }) => ({
      kind: 'table-dropped',
      payload: droppedPayload(metadataLocation, purgeRequested),
    }),
  })
  if (row === undefined) throw new NoSuchTableError(identifier)
  catalog.metadata.delete(warehouse, row.metadataLocation)
}

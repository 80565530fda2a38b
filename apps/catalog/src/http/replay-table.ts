import type { Catalog, StoredOutcome } from '../catalog/catalog.ts'
import { findTableRow } from '../catalog/find-row.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import type { HttpAnswer } from './exchange.ts'
import { replayLoaded } from './replay-loaded.ts'
import { changedTableAnswer } from './table-answer.ts'

/** The answer of a mutation of a table, as `replayLoaded` makes it. */
export function replayTable(
  catalog: Catalog,
  outcome: StoredOutcome,
  table: TableIdentifier & { readonly warehouse: Warehouse },
): Promise<HttpAnswer> {
  const { warehouse } = table
  return replayLoaded(outcome, {
    get: (location) => catalog.metadata.get(warehouse, location),
    findRow: () => findTableRow(catalog, warehouse, table),
    answer: changedTableAnswer,
  })
}

import { findAccessToNew } from '../access/delegate-access.ts'
import type { StoredOutcome } from '../catalog/mutation-scope.ts'
import { findTableRow } from '../catalog/find-row.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import type { HttpAnswer } from './exchange.ts'
import { replayLoaded } from './replay-loaded.ts'
import type { RouteCall } from './route.ts'
import { changedTableAnswer } from './table-answer.ts'

type Table = TableIdentifier & { readonly warehouse: Warehouse }

/** The answer to a commit, as `replayLoaded` makes it. */
export function replayCommit(
  { catalog }: RouteCall,
  outcome: StoredOutcome,
  table: Table,
): Promise<HttpAnswer> {
  const { warehouse } = table
  return replayLoaded(outcome, {
    get: (location) => catalog.metadata.get(warehouse, location),
    findRow: () => findTableRow(catalog, warehouse, table),
    answer: (loaded) => changedTableAnswer(loaded),
  })
}

/** The same for a mutation that makes a table: whoever repeats it needs access to the table as much as the first time. */
export function replayTable(
  call: RouteCall,
  outcome: StoredOutcome,
  table: Table,
): Promise<HttpAnswer> {
  const { catalog } = call
  const { warehouse, levels, name } = table
  return replayLoaded(outcome, {
    get: (location) => catalog.metadata.get(warehouse, location),
    findRow: () => findTableRow(catalog, warehouse, table),
    async answer(loaded) {
      const { metadata } = loaded
      const identifier = { levels, name }
      const access = await findAccessToNew(call, { warehouse, identifier, metadata })
      return changedTableAnswer(loaded, access)
    },
  })
}

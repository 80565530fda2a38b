import { NoSuchTableError } from '../catalog/catalog-errors.ts'
import { findTableRow } from '../catalog/find-row.ts'
import { checkTableRoots } from '../catalog/location-rules.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'
import type { StagedTable } from './staged-tickets.ts'

/**
 * What says where the objects of a table are: the table of this name, or the one that the caller has staged under it. A ticket
 * outlives the commit, so the table of the same UUID comes first; another table of the name is not the caller's, whose own
 * is still where the ticket says. Throws NoSuchTableError, and InvalidInputError when another table lies there now.
 */
export async function reachableTable(
  call: RouteCall,
  identifier: TableIdentifier,
  ticket: string | undefined,
): Promise<StagedTable> {
  const { catalog, caller } = call
  const warehouse = warehouseOf(call)
  const holder = { warehouseId: warehouse.id, callerId: caller.id, identifier }
  const staged = ticket === undefined ? undefined : await catalog.staged.open(holder, ticket)
  const row = await findTableRow(catalog, warehouse, identifier)
  const live = row && (await catalog.metadata.get(warehouse, row.metadataLocation)).metadata
  if (live !== undefined && (staged === undefined || staged.tableUuid === live.tableUuid)) {
    return live
  }
  if (staged === undefined) throw new NoSuchTableError(identifier)
  await checkTableRoots(catalog, warehouse, { metadata: staged })
  return staged
}

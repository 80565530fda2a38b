import { isTableDropped } from '@timelake/database/dropped-tables'
import { findTablesNear } from '@timelake/database/find-tables'
import type { TableRow } from '@timelake/database/table-row'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { NoSuchTableError } from '../catalog/catalog-errors.ts'
import { findTableRow } from '../catalog/find-row.ts'
import { checkTableRoots, LocationOverlapError } from '../catalog/location-rules.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'
import type { StagedTable } from './staged-tickets.ts'

/** Where the objects of a table are, and the name that decides who may reach them. */
export interface ReachableTable {
  readonly identifier: TableIdentifier
  readonly metadata: StagedTable
  /** Absent for one that is only staged. */
  readonly row?: TableRow
  /** Set while the name that was asked for is the table's own: whoever goes on with it needs the ticket as well. */
  readonly ticket?: string
}

/**
 * The table of this name, or the one that the caller has staged under it. A ticket outlives the commit, and what comes after it:
 * the table of its UUID comes first, under whatever name it has now; another table of the name is not the caller's, whose own
 * is still where the ticket says. Throws NoSuchTableError, also for one that was dropped since or moved to where the caller has
 * no role, and InvalidInputError when another table lies there now.
 */
export async function reachableTable(
  call: RouteCall,
  identifier: TableIdentifier,
  ticket: string | undefined,
): Promise<ReachableTable> {
  const { catalog, caller } = call
  const warehouse = warehouseOf(call)
  const holder = { warehouseId: warehouse.id, callerId: caller.id, identifier }
  const staged = ticket === undefined ? undefined : await catalog.staged.open(holder, ticket)
  const held = ticket === undefined ? {} : { ticket }
  const row = await findTableRow(catalog, warehouse, identifier)
  if (row !== undefined && (staged === undefined || staged.tableUuid === row.tableUuid)) {
    return { identifier, metadata: await metadataOf(call, row), row, ...held }
  }
  if (staged === undefined) throw new NoSuchTableError(identifier)
  const moved = await committedElsewhere(call, staged)
  if (moved === undefined) {
    const { tableUuid } = staged
    const isDropped = await isTableDropped(catalog.context.database, {
      warehouseId: warehouse.id,
      tableUuid,
    })
    if (isDropped) throw new NoSuchTableError(identifier)
    return { identifier, metadata: staged, ...held }
  }
  const { levels, name } = moved
  if (caller.grants.roleAt(warehouse.id, levels) === undefined) {
    throw new NoSuchTableError(identifier)
  }
  return { identifier: { levels, name }, metadata: await metadataOf(call, moved), row: moved }
}

/** The staged table, live under a name that it got later. Throws as `checkTableRoots` does when something else lies there. */
async function committedElsewhere(
  call: RouteCall,
  staged: StagedTable,
): Promise<TableRow | undefined> {
  const { catalog } = call
  const warehouse = warehouseOf(call)
  try {
    await checkTableRoots(catalog, warehouse, { metadata: staged })
    return undefined
  } catch (error) {
    if (!(error instanceof LocationOverlapError)) throw error
    const near = await findTablesNear(catalog.context.database, {
      warehouseId: warehouse.id,
      location: normalizeLocation(staged.location),
    })
    const own = near.find(
      ({ kind, tableUuid }) => kind === 'table' && tableUuid === staged.tableUuid,
    )
    if (own === undefined) throw error
    return own
  }
}

async function metadataOf(call: RouteCall, row: TableRow): Promise<StagedTable> {
  return (await call.catalog.metadata.get(warehouseOf(call), row.metadataLocation)).metadata
}

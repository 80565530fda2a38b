import type { TableRow } from '@timelake/database/table-row'
import type { PlanResult } from '@timelake/iceberg/rest/plan-json'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { delegatedAccess } from '../access/delegate-access.ts'
import { formerRootsOf } from '../access/table-scope.ts'
import { findLoadableTable } from '../catalog/load-table.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import { tableInPath } from '../http/path-names.ts'
import { decodeSegment } from '../http/raw-path.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'
import type { PlannedTable } from './plan-scan.ts'

/** When a caller may ask again for a plan that is not finished. */
export const POLL_AFTER = { 'retry-after': '1' } as const

export interface CalledTable extends PlannedTable {
  readonly identifier: TableIdentifier
  readonly row: TableRow
  /** See ScopedTable. */
  readonly formerRoots?: readonly string[]
}

/** The table in the path with its metadata, and the caller. Throws NoSuchTableError, MetadataFileMissingError, and more. */
export async function plannedTable(call: RouteCall): Promise<CalledTable> {
  const { catalog, caller } = call
  const warehouse = warehouseOf(call)
  const identifier = tableInPath(call)
  const row = await findLoadableTable(catalog, warehouse, identifier)
  const { metadata } = await catalog.metadata.get(warehouse, row.metadataLocation)
  const { tableUuid } = metadata
  const owner = { warehouseId: warehouse.id, tableUuid, callerId: caller.id }
  const moved = await formerRootsOf(catalog, row)
  const roots = [...tableRoots(metadata), ...(moved.formerRoots ?? [])]
  return { catalog, warehouse, identifier, row, metadata, roots, owner, ...moved }
}

/** The id of a plan in the path, as it was sent. */
export function planIdInPath({ parameters }: RouteCall): string {
  return decodeSegment(parameters['plan-id'] ?? '')
}

/** The result with what the caller needs to read the files. */
export async function withAccess(
  call: RouteCall,
  table: CalledTable,
  result: PlanResult,
): Promise<PlanResult> {
  if (result.status !== 'completed') return result
  const planId = result.planId === undefined ? {} : { planId: result.planId }
  const { storageCredentials } = await delegatedAccess(call, { ...table, ...planId })
  return { ...result, storageCredentials }
}

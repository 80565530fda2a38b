import { findNamespace } from '@timelake/database/namespaces'
import type { TableUpdate } from '@timelake/iceberg/commit/table-update'
import { isLocationBelow, isSameLocation } from '@timelake/iceberg/spec/location'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import type { ViewUpdate } from '@timelake/iceberg/view/view-update'
import { findAnyRow } from '../catalog/find-row.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import { ForbiddenError } from '../http/request-errors.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'
import { requireWriter } from './authorize.ts'
import { includesRole } from './caller.ts'

/**
 * The warehouse of the call for a change in this namespace. A caller whose role does not reach through the whole warehouse
 * places tables, views and metadata files only below the location of the namespace: otherwise it could choose the folder of
 * somebody else's dropped table, or register a file that it cannot read. Throws what `requireWriter` throws.
 */
export async function writableWarehouse(
  call: RouteCall,
  levels: readonly string[],
): Promise<Warehouse> {
  requireWriter(call, [levels])
  return confinedTo(call, levels)
}

/** The same for what is said of the namespace itself: a new one, without `own`, lies where its parent does. */
export async function confinedTo(call: RouteCall, levels: readonly string[]): Promise<Warehouse> {
  const warehouse = warehouseOf(call)
  if (isUnconfined(call)) return warehouse
  const home = await findNamespace(call.catalog.context.database, warehouse.id, levels)
  return { ...warehouse, confinedTo: home === undefined ? [] : [home.location] }
}

/**
 * Throws ForbiddenError for folders that a commit gives its table or view outside the location of the namespace, by a caller
 * whose role does not reach further. Those of the table as it is may stay.
 */
export async function checkConfined(
  call: RouteCall,
  identifier: TableIdentifier,
  updates: readonly (TableUpdate | ViewUpdate)[],
): Promise<void> {
  if (isUnconfined(call)) return
  const named = updates.flatMap(foldersNamed)
  if (named.length === 0) return
  const warehouse = warehouseOf(call)
  const { catalog } = call
  const home = await findNamespace(catalog.context.database, warehouse.id, identifier.levels)
  const row = await findAnyRow(catalog, warehouse, identifier)
  const own = await ownFolders(call, row)
  for (const folder of named) {
    const isInside = home !== undefined && isLocationBelow(home.location, folder)
    const isOwn = own.some((one) => isSameLocation(one, folder) || isLocationBelow(one, folder))
    if (!isInside && !isOwn) throw outside(call, folder)
  }
}

/** Whether the caller may use every location that the warehouse allows. */
function isUnconfined({ caller, warehouse }: RouteCall): boolean {
  const { grants } = caller
  if (grants.isServerAdmin) return true
  return warehouse !== undefined && includesRole(grants.roleAt(warehouse.id), 'writer')
}

function foldersNamed(update: TableUpdate | ViewUpdate): readonly string[] {
  switch (update.action) {
    case 'set-location':
      return [update.location]
    case 'set-properties': {
      const [, ...folders] = tableRoots({ location: '', properties: update.updates })
      return folders
    }
    default:
      return []
  }
}

async function ownFolders(
  { catalog, warehouse }: RouteCall,
  row: Awaited<ReturnType<typeof findAnyRow>>,
): Promise<readonly string[]> {
  if (row === undefined || warehouse === undefined) return []
  if (row.kind === 'view') return [row.location]
  const { metadata } = await catalog.metadata.get(warehouse, row.metadataLocation)
  return tableRoots(metadata)
}

function outside(call: RouteCall, folder: string): ForbiddenError {
  return new ForbiddenError(
    `${call.caller.name} may not use ${folder}: expected a location below that of the namespace`,
  )
}

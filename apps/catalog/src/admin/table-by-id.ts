import { findDroppedTable } from '@timelake/database/dropped-tables'
import { findTableById } from '@timelake/database/find-tables'
import type { TableRow } from '@timelake/database/table-row'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { includesRole } from '../access/caller.ts'
import { NoSuchTableIdError } from '../catalog/catalog-errors.ts'
import { namespaceText } from '../catalog/table-identifier.ts'
import { decodeSegment } from '../http/raw-path.ts'
import { ForbiddenError } from '../http/request-errors.ts'
import type { RouteCall } from '../http/route.ts'

/**
 * The table whose id is in the path, for those who administer its namespace. Throws NoSuchTableIdError, also where the caller
 * has no role, and ForbiddenError where its role is too low.
 */
export async function tableById(call: RouteCall): Promise<TableRow> {
  const id = idInPath(call)
  return administered(call, id, await findTableById(call.catalog.context.database, id))
}

/** The same, also for a table that was dropped: its last state. */
export async function liveOrDroppedTableById(call: RouteCall): Promise<TableRow> {
  const { database } = call.catalog.context
  const id = idInPath(call)
  const row = (await findTableById(database, id)) ?? (await findDroppedTable(database, id))
  return administered(call, id, row)
}

function administered({ caller, subject }: RouteCall, id: string, row?: TableRow): TableRow {
  const role = row && caller.grants.roleAt(row.warehouseId, row.levels)
  if (row === undefined || role === undefined) throw new NoSuchTableIdError(id)
  if (!includesRole(role, 'admin')) {
    throw new ForbiddenError(
      `${caller.name} lacks the role admin in namespace ${namespaceText(row.levels)}`,
    )
  }
  subject.namespace = row.levels
  return row
}

/** The id in the path. Throws InvalidInputError for what cannot be one. */
export function idInPath(call: RouteCall): string {
  const id = decodeSegment(call.parameters['id'] ?? '')
  if (id.includes('\u0000')) throw new InvalidInputError('is not an id', 'id')
  return id
}

/** How the admin routes show a row. */
export function tableRowJson(row: TableRow): JsonObject {
  return {
    id: row.id,
    namespace: row.levels,
    name: row.name,
    'table-uuid': row.tableUuid,
    location: row.location,
    'metadata-location': row.metadataLocation,
    version: row.version,
  }
}

import { findDroppedTable } from '@timelake/database/dropped-tables'
import { findTableById } from '@timelake/database/find-tables'
import type { TableRow } from '@timelake/database/table-row'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { NoSuchTableIdError } from '../catalog/catalog-errors.ts'
import { decodeSegment } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'

/** The table whose id is in the path. Throws NoSuchTableIdError. */
export async function tableById(call: RouteCall): Promise<TableRow> {
  const id = idInPath(call)
  const row = await findTableById(call.catalog.context.database, id)
  if (row === undefined) throw new NoSuchTableIdError(id)
  return row
}

/** The same, also for a table that was dropped: its last state. Throws NoSuchTableIdError. */
export async function liveOrDroppedTableById(call: RouteCall): Promise<TableRow> {
  const { database } = call.catalog.context
  const id = idInPath(call)
  const row = (await findTableById(database, id)) ?? (await findDroppedTable(database, id))
  if (row === undefined) throw new NoSuchTableIdError(id)
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

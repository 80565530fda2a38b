import { purgeDroppedTable as purgeCatalogTable } from '../catalog/purge-dropped-table.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'
import { droppedTableJson } from './dropped-table-json.ts'
import { liveOrDroppedTableById } from './table-by-id.ts'

/** DELETE /admin/v1/dropped-tables/{id}: the files go when the grace is over; answers 202 with the state. */
export async function purgeDroppedTable(call: RouteCall): Promise<HttpAnswer> {
  const { id } = await liveOrDroppedTableById(call)
  return jsonAnswer(droppedTableJson(await purgeCatalogTable(call.catalog, id)), 202)
}

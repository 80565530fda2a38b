import { keepDroppedTable as keepCatalogTable } from '../catalog/purge-dropped-table.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'
import { droppedTableJson } from './dropped-table-json.ts'
import { liveOrDroppedTableById } from './table-by-id.ts'

/** POST /admin/v1/dropped-tables/{id}/keep: no purge, as if none had been asked for. */
export async function keepDroppedTable(call: RouteCall): Promise<HttpAnswer> {
  const { id } = await liveOrDroppedTableById(call)
  return jsonAnswer(droppedTableJson(await keepCatalogTable(call.catalog, id)))
}

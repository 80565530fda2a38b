import { listWarehouseTables } from '@timelake/database/find-tables'
import { administeredWarehouse } from '../access/visible-warehouse.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { cutPage, readPageRequest } from '../http/page.ts'
import { queryParameter } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'
import { tableRowJson } from './table-by-id.ts'

/** GET /admin/v1/tables?warehouse=: all tables of a warehouse with their ids, in the order of ids, in pages. */
export async function listAllTables(call: RouteCall): Promise<HttpAnswer> {
  const { config, context } = call.catalog
  const name = queryParameter(call.query, 'warehouse') || config.defaultWarehouse
  const warehouse = await administeredWarehouse(call.catalog, call.caller, name)
  const { after, limit = config.pageSizeMax } = readPageRequest(call.query, config.pageSizeMax)
  const rows = await listWarehouseTables(context.database, {
    warehouseId: warehouse.id,
    afterId: after,
    limit: limit + 1,
  })
  const page = cutPage(rows, { limit }, ({ id }) => id)
  return jsonAnswer({
    tables: page.items.map(tableRowJson),
    'next-page-token': page.nextPageToken ?? null,
  })
}

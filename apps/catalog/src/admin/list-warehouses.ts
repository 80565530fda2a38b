import { listWarehouses as listRows } from '@timelake/database/warehouses'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { cutPage, readPageRequest } from '../http/page.ts'
import type { RouteCall } from '../http/route.ts'
import { warehouseJson } from './warehouse-json.ts'

/** GET /admin/v1/warehouses: all warehouses by name, in pages. There are few, so all are read. */
export async function listWarehouses(call: RouteCall): Promise<HttpAnswer> {
  const { config, context } = call.catalog
  const { after = '', limit = config.pageSizeMax } = readPageRequest(call.query, config.pageSizeMax)
  const rows = await listRows(context.database)
  const start = rows.findIndex(({ name }) => isBehind(name, after))
  const behind = start < 0 ? [] : rows.slice(start, start + limit + 1)
  const page = cutPage(behind, { limit }, ({ name }) => name)
  return jsonAnswer({
    warehouses: page.items.map((row) => warehouseJson(row, context.secretBox)),
    'next-page-token': page.nextPageToken ?? null,
  })
}

/** By code point, as the database orders names. */
function isBehind(name: string, after: string): boolean {
  return Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0
}

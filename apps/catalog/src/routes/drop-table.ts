import { dropTable as dropCatalogTable } from '../catalog/drop-table.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { tableInPath } from '../http/path-names.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'
import { switchParameter } from '../http/switch-parameter.ts'

/** DELETE …/tables/{table}?purgeRequested=. */
export async function dropTable(call: RouteCall): Promise<HttpAnswer> {
  await dropCatalogTable(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    identifier: tableInPath(call),
    purgeRequested: switchParameter(call.query, 'purgeRequested'),
  })
  return NO_CONTENT
}

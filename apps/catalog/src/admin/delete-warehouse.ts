import { deleteWarehouse as deleteCatalogWarehouse } from '../catalog/delete-warehouse.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { switchParameter } from '../http/switch-parameter.ts'
import { warehouseInPath } from './warehouse-in-path.ts'

/** DELETE /admin/v1/warehouses/{name}?force=. */
export async function deleteWarehouse(call: RouteCall): Promise<HttpAnswer> {
  const isForced = switchParameter(call.query, 'force')
  await deleteCatalogWarehouse(call.catalog, warehouseInPath(call), { isForced })
  return NO_CONTENT
}

import { findWarehouse } from '@timelake/database/warehouses'
import { NoSuchWarehouseError } from '../catalog/catalog-errors.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'
import { warehouseInPath } from './warehouse-in-path.ts'
import { warehouseJson } from './warehouse-json.ts'

/** GET /admin/v1/warehouses/{name}: the row as it is now. */
export async function getWarehouse(call: RouteCall): Promise<HttpAnswer> {
  const { database, secretBox } = call.catalog.context
  const name = warehouseInPath(call)
  const row = await findWarehouse(database, name)
  if (row === undefined) throw new NoSuchWarehouseError(name)
  return jsonAnswer(warehouseJson(row, secretBox))
}

import { updateWarehouse as updateCatalogWarehouse } from '../catalog/update-warehouse.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { readJson, type RouteCall } from '../http/route.ts'
import { warehouseInPath } from './warehouse-in-path.ts'
import { decodeWarehouseChange, warehouseJson } from './warehouse-json.ts'

/** PATCH /admin/v1/warehouses/{name}: changes the members that are given, each as a whole. */
export async function updateWarehouse(call: RouteCall): Promise<HttpAnswer> {
  const name = warehouseInPath(call)
  const change = decodeWarehouseChange(await readJson(call))
  const row = await updateCatalogWarehouse(call.catalog, name, change)
  return jsonAnswer(warehouseJson(row, call.catalog.context.secretBox))
}

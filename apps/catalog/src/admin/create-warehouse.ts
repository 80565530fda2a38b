import { createWarehouse as createCatalogWarehouse } from '../catalog/create-warehouse.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { readJson, type RouteCall } from '../http/route.ts'
import { decodeWarehouseDraft, warehouseJson } from './warehouse-json.ts'

/** POST /admin/v1/warehouses. */
export async function createWarehouse(call: RouteCall): Promise<HttpAnswer> {
  const draft = decodeWarehouseDraft(await readJson(call))
  call.subject.object = draft.name
  const row = await createCatalogWarehouse(call.catalog, draft)
  return jsonAnswer(warehouseJson(row, call.catalog.context.secretBox), 201)
}

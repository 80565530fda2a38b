import { probeNewWarehouse as probeCandidate } from '../catalog/probe-warehouse.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { readJson, type RouteCall } from '../http/route.ts'
import { findingsAnswer } from './probe-warehouse.ts'
import { decodeWarehouseDraft } from './warehouse-json.ts'

/** POST /admin/v1/warehouses/test: the same for a warehouse that is only described; nothing of it is kept. */
export async function probeNewWarehouse(call: RouteCall): Promise<HttpAnswer> {
  return findingsAnswer(
    await probeCandidate(call.catalog, decodeWarehouseDraft(await readJson(call))),
  )
}

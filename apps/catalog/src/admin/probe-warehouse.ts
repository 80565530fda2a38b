import type { ProbeFinding } from '@timelake/storage/probe-store'
import { probeWarehouse as probeCatalogWarehouse } from '../catalog/probe-warehouse.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'
import { warehouseInPath } from './warehouse-in-path.ts'

/** POST /admin/v1/warehouses/{name}/test: what was tried on its store, and what came of it. */
export async function probeWarehouse(call: RouteCall): Promise<HttpAnswer> {
  return findingsAnswer(await probeCatalogWarehouse(call.catalog, warehouseInPath(call)))
}

/** A store that fails a check is an answer and no error. */
export function findingsAnswer(findings: readonly ProbeFinding[]): HttpAnswer {
  return jsonAnswer({
    ok: findings.every(({ ok }) => ok),
    findings: findings.map(({ check, ok, detail }) => ({ check, ok, detail: detail ?? null })),
  })
}

import { decodeCreateViewRequest } from '@timelake/iceberg/rest/view-requests-json'
import { writableWarehouse } from '../access/confine.ts'
import type { StoredOutcome } from '../catalog/mutation-scope.ts'
import { createView as createCatalogView } from '../catalog/create-view.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { namespaceInPath } from '../http/path-names.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'
import { replayView, viewAnswer } from '../http/view-answer.ts'

/** POST …/namespaces/{namespace}/views. */
export async function createView(call: RouteCall): Promise<HttpAnswer> {
  const levels = namespaceInPath(call)
  const request = decodeCreateViewRequest(await readJson(call))
  call.subject.object = request.name
  const warehouse = await writableWarehouse(call, levels)
  const { slot } = call
  const loaded = await createCatalogView(call.catalog, { warehouse, slot, levels, request })
  return viewAnswer(loaded)
}

/** The view that was made earlier under the same key. */
export async function replayCreateView(
  call: RouteCall,
  outcome: StoredOutcome,
): Promise<HttpAnswer> {
  const { name } = decodeCreateViewRequest(await readJson(call))
  const levels = namespaceInPath(call)
  return replayView(call.catalog, outcome, { warehouse: warehouseOf(call), levels, name })
}

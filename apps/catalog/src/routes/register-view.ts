import { decodeRegisterViewRequest } from '@timelake/iceberg/rest/view-requests-json'
import { writableWarehouse } from '../access/confine.ts'
import type { StoredOutcome } from '../catalog/mutation-scope.ts'
import { registerView as registerCatalogView } from '../catalog/register-view.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { namespaceInPath } from '../http/path-names.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'
import { replayView, viewAnswer } from '../http/view-answer.ts'

/** POST …/namespaces/{namespace}/register-view. */
export async function registerView(call: RouteCall): Promise<HttpAnswer> {
  const levels = namespaceInPath(call)
  const { name, metadataLocation } = decodeRegisterViewRequest(await readJson(call))
  call.subject.object = name
  const loaded = await registerCatalogView(call.catalog, {
    warehouse: await writableWarehouse(call, levels),
    slot: call.slot,
    identifier: { levels, name },
    metadataLocation,
  })
  return viewAnswer(loaded)
}

/** The view that was registered earlier under the same key. */
export async function replayRegisterView(
  call: RouteCall,
  outcome: StoredOutcome,
): Promise<HttpAnswer> {
  const { name } = decodeRegisterViewRequest(await readJson(call))
  const levels = namespaceInPath(call)
  return replayView(call.catalog, outcome, { warehouse: warehouseOf(call), levels, name })
}

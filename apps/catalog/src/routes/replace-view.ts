import { decodeCommitViewRequest } from '@timelake/iceberg/rest/view-requests-json'
import { checkConfined } from '../access/confine.ts'
import type { StoredOutcome } from '../catalog/mutation-scope.ts'
import { commitRequestHash } from '../catalog/landed-request.ts'
import { replaceView as replaceCatalogView } from '../catalog/replace-view.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { viewInPath } from '../http/path-names.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'
import { replayView, viewAnswer } from '../http/view-answer.ts'

/** POST …/views/{view}: a commit. */
export async function replaceView(call: RouteCall): Promise<HttpAnswer> {
  const identifier = viewInPath(call)
  const body = await readJson(call)
  const request = decodeCommitViewRequest(body)
  await checkConfined(call, identifier, request.updates)
  const loaded = await replaceCatalogView(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    identifier,
    request,
    requestHash: commitRequestHash(body),
  })
  return viewAnswer(loaded)
}

/** The answer to a commit that was made earlier under the same key. */
export function replayReplaceView(call: RouteCall, outcome: StoredOutcome): Promise<HttpAnswer> {
  return replayView(call.catalog, outcome, { warehouse: warehouseOf(call), ...viewInPath(call) })
}

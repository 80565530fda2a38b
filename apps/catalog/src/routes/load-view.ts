import { loadView as loadCatalogView } from '../catalog/load-view.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { viewInPath } from '../http/path-names.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'
import { viewAnswer } from '../http/view-answer.ts'

/** GET …/views/{view}. */
export async function loadView(call: RouteCall): Promise<HttpAnswer> {
  return viewAnswer(await loadCatalogView(call.catalog, warehouseOf(call), viewInPath(call)))
}

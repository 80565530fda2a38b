import { dropView as dropCatalogView } from '../catalog/drop-view.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { viewInPath } from '../http/path-names.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/** DELETE …/views/{view}. */
export async function dropView(call: RouteCall): Promise<HttpAnswer> {
  await dropCatalogView(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    identifier: viewInPath(call),
  })
  return NO_CONTENT
}

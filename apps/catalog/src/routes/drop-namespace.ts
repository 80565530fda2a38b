import { dropNamespace as dropCatalogNamespace } from '../catalog/drop-namespace.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { namespaceInPath } from '../http/path-names.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/** DELETE …/namespaces/{namespace}. */
export async function dropNamespace(call: RouteCall): Promise<HttpAnswer> {
  const levels = namespaceInPath(call)
  await dropCatalogNamespace(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    levels,
  })
  return NO_CONTENT
}

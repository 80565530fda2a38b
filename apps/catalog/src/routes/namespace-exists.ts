import { findExistingNamespace } from '../catalog/find-existing-namespace.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { namespaceInPath } from '../http/path-names.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/** HEAD …/namespaces/{namespace}. */
export async function namespaceExists(call: RouteCall): Promise<HttpAnswer> {
  const levels = namespaceInPath(call)
  await findExistingNamespace(call.catalog, warehouseOf(call), { levels })
  return NO_CONTENT
}

import { encodeNamespaceDescription } from '@timelake/iceberg/rest/namespace-json'
import { shownProperties } from '../catalog/create-namespace.ts'
import { findExistingNamespace } from '../catalog/find-existing-namespace.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { namespaceInPath } from '../http/path-names.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/** GET …/namespaces/{namespace}. */
export async function loadNamespaceMetadata(call: RouteCall): Promise<HttpAnswer> {
  const levels = namespaceInPath(call)
  const row = await findExistingNamespace(call.catalog, warehouseOf(call), { levels })
  return jsonAnswer(
    encodeNamespaceDescription({ namespace: levels, properties: shownProperties(row) }),
  )
}

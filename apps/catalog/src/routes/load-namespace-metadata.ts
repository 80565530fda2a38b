import { encodeNamespaceDescription } from '@timelake/iceberg/rest/namespace-json'
import { roleIn } from '../access/authorize.ts'
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
  // Who sees it for a role further down sees its name alone.
  const properties = roleIn(call, levels) === undefined ? {} : shownProperties(row)
  return jsonAnswer(encodeNamespaceDescription({ namespace: levels, properties }))
}

import { listNamespaces as listChildren } from '@timelake/database/namespaces'
import { encodeNamespacePage } from '@timelake/iceberg/rest/listing-json'
import { checkNamespace } from '../catalog/names.ts'
import { findExistingNamespace } from '../catalog/find-existing-namespace.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { cutPage, readPageRequest, withLookahead } from '../http/page.ts'
import { decodeParentParameter, rawQueryParameter } from '../http/raw-path.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/** GET /v1/{prefix}/namespaces?parent=: the children of a namespace, or the top level; full names. */
export async function listNamespaces(call: RouteCall): Promise<HttpAnswer> {
  const { config, context } = call.catalog
  const warehouse = warehouseOf(call)
  const request = readPageRequest(call.query, config.pageSizeMax)
  const parentLevels = parentInQuery(call.query)
  if (parentLevels.length > 0) {
    await findExistingNamespace(call.catalog, warehouse, { levels: parentLevels })
  }
  const children = await listChildren(context.database, {
    warehouseId: warehouse.id,
    parentLevels,
    ...withLookahead(request),
  })
  const page = cutPage(children, request, (levels) => levels.at(-1) ?? '')
  return jsonAnswer(encodeNamespacePage(page))
}

/** An empty `parent` means none. */
function parentInQuery(query: string): string[] {
  const raw = rawQueryParameter(query, 'parent')
  if (raw === undefined || raw === '') return []
  const levels = decodeParentParameter(raw)
  checkNamespace(levels, 'parent')
  return levels
}

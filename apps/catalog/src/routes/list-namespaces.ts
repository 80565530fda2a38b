import { findNamespace, listNamespaces as listChildren } from '@timelake/database/namespaces'
import type { Warehouse } from '../catalog/warehouse.ts'
import { encodeNamespacePage } from '@timelake/iceberg/rest/listing-json'
import { checkNamespace } from '../catalog/names.ts'
import { findExistingNamespace } from '../catalog/find-existing-namespace.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { cutPage, readPageRequest, withLookahead } from '../http/page.ts'
import {
  decodeNamespaceSegment,
  decodeParentParameter,
  rawQueryParameter,
} from '../http/raw-path.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/** GET /v1/{prefix}/namespaces?parent=: the children of a namespace, or the top level; full names. */
export async function listNamespaces(call: RouteCall): Promise<HttpAnswer> {
  const { config, context } = call.catalog
  const warehouse = warehouseOf(call)
  const request = readPageRequest(call.query, config.pageSizeMax)
  const parentLevels = await findParent(call, warehouse)
  const children = await listChildren(context.database, {
    warehouseId: warehouse.id,
    parentLevels,
    ...withLookahead(request),
  })
  const page = cutPage(children, request, (levels) => levels.at(-1) ?? '')
  return jsonAnswer(encodeNamespacePage(page))
}

/**
 * The levels of an existing parent; an empty `parent` means none. `%251F` is a separator that was encoded twice, unless
 * a namespace exists whose name really holds the text `%1F`.
 */
async function findParent(call: RouteCall, warehouse: Warehouse): Promise<string[]> {
  const raw = rawQueryParameter(call.query, 'parent')
  if (raw === undefined || raw === '') return []
  const exact = decodeNamespaceSegment(raw)
  const levels = decodeParentParameter(raw)
  const isAmbiguous = exact.length !== levels.length
  const { database } = call.catalog.context
  if (isAmbiguous && (await findNamespace(database, warehouse.id, exact)) !== undefined)
    return exact
  checkNamespace(levels, 'parent')
  await findExistingNamespace(call.catalog, warehouse, { levels })
  return levels
}

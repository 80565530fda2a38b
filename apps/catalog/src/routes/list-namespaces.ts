import { findNamespace, listNamespaces as listChildren } from '@timelake/database/namespaces'
import type { Warehouse } from '../catalog/warehouse.ts'
import { encodeNamespacePage } from '@timelake/iceberg/rest/listing-json'
import { NoSuchNamespaceError } from '../catalog/catalog-errors.ts'
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

/** GET /v1/{prefix}/namespaces?parent=: the children of a namespace, or of the top level, that the caller sees; full names. */
export async function listNamespaces(call: RouteCall): Promise<HttpAnswer> {
  const { config, context } = call.catalog
  const warehouse = warehouseOf(call)
  const request = readPageRequest(call.query, config.pageSizeMax)
  const parentLevels = await findParent(call, warehouse)
  const { grants } = call.caller
  // Only those that the caller sees are read, so neither pages nor times tell of others.
  const isWhole = grants.roleAt(warehouse.id, parentLevels) !== undefined
  const children = await listChildren(context.database, {
    warehouseId: warehouse.id,
    parentLevels,
    names: isWhole ? undefined : grants.namesBelow(warehouse.id, parentLevels),
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
  const { grants } = call.caller
  const { database } = call.catalog.context
  if (
    isAmbiguous &&
    grants.seesNamespace(warehouse.id, exact) &&
    (await findNamespace(database, warehouse.id, exact)) !== undefined
  ) {
    return exact
  }
  checkNamespace(levels, 'parent')
  if (!grants.seesNamespace(warehouse.id, levels)) throw new NoSuchNamespaceError(levels)
  await findExistingNamespace(call.catalog, warehouse, { levels })
  return levels
}

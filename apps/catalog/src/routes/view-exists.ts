import { NoSuchViewError } from '../catalog/catalog-errors.ts'
import { findViewRow } from '../catalog/find-row.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { viewInPath } from '../http/path-names.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/** HEAD …/views/{view}. */
export async function viewExists(call: RouteCall): Promise<HttpAnswer> {
  const identifier = viewInPath(call)
  const row = await findViewRow(call.catalog, warehouseOf(call), identifier)
  if (row === undefined) throw new NoSuchViewError(identifier)
  return NO_CONTENT
}

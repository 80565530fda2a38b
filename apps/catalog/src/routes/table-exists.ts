import { NoSuchTableError } from '../catalog/catalog-errors.ts'
import { findTableRow } from '../catalog/find-row.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { tableInPath } from '../http/path-names.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/** HEAD …/tables/{table}. */
export async function tableExists(call: RouteCall): Promise<HttpAnswer> {
  const identifier = tableInPath(call)
  const row = await findTableRow(call.catalog, warehouseOf(call), identifier)
  if (row === undefined) throw new NoSuchTableError(identifier)
  return NO_CONTENT
}

import { decodeNamespace } from '@timelake/iceberg/rest/table-identifier'
import { optional, text } from '@timelake/iceberg/spec/decode'
import { includesRole } from '../access/caller.ts'
import { checkName, checkNamespace } from '../catalog/names.ts'
import { namespaceText } from '../catalog/table-identifier.ts'
import { undropTable as undropCatalogTable } from '../catalog/undrop-table.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer, parseJsonBody } from '../http/json.ts'
import { ForbiddenError } from '../http/request-errors.ts'
import { readBody, type RouteCall } from '../http/route.ts'
import { liveOrDroppedTableById, tableRowJson } from './table-by-id.ts'

/** POST /admin/v1/dropped-tables/{id}/undrop: with a body `{namespace, name}` it comes back there. */
export async function undropTable(call: RouteCall): Promise<HttpAnswer> {
  const { id, levels: home, warehouseId } = await liveOrDroppedTableById(call)
  const body = await readBody(call)
  const json = body.length === 0 ? {} : parseJsonBody(body)
  const levels = optional(json['namespace'], 'namespace', decodeNamespace)
  const name = optional(json['name'], 'name', text)
  if (levels !== undefined) checkNamespace(levels, 'namespace')
  if (name !== undefined) checkName(name, 'name')
  requireAdminAt(call, warehouseId, levels ?? home)
  const row = await undropCatalogTable(call.catalog, { id, levels, name })
  return jsonAnswer(tableRowJson(row))
}

/** Where it is to come back, too. */
function requireAdminAt(
  { caller }: RouteCall,
  warehouseId: string,
  levels: readonly string[],
): void {
  if (includesRole(caller.grants.roleAt(warehouseId, levels), 'admin')) return
  throw new ForbiddenError(
    `${caller.name} lacks the role admin in namespace ${namespaceText(levels)}`,
  )
}

import { decodeNamespace } from '@timelake/iceberg/rest/table-identifier'
import { optional, text } from '@timelake/iceberg/spec/decode'
import { checkName, checkNamespace } from '../catalog/names.ts'
import { undropTable as undropCatalogTable } from '../catalog/undrop-table.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer, parseJsonBody } from '../http/json.ts'
import { readBody, type RouteCall } from '../http/route.ts'
import { idInPath, tableRowJson } from './table-by-id.ts'

/** POST /admin/v1/dropped-tables/{id}/undrop: with a body `{namespace, name}` it comes back there. */
export async function undropTable(call: RouteCall): Promise<HttpAnswer> {
  const id = idInPath(call)
  const body = await readBody(call)
  const json = body.length === 0 ? {} : parseJsonBody(body)
  const levels = optional(json['namespace'], 'namespace', decodeNamespace)
  const name = optional(json['name'], 'name', text)
  if (levels !== undefined) checkNamespace(levels, 'namespace')
  if (name !== undefined) checkName(name, 'name')
  const row = await undropCatalogTable(call.catalog, { id, levels, name })
  return jsonAnswer(tableRowJson(row))
}

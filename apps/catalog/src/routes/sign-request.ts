import {
  decodeRemoteSignRequest,
  encodeRemoteSignResult,
} from '@timelake/iceberg/rest/remote-sign-json'
import { includesRole } from '../access/caller.ts'
import { TICKET_PARAMETER } from '../access/delegate-access.ts'
import { noteAccess } from '../access/note-access.ts'
import { reachableTable } from '../access/reachable-table.ts'
import { formerRootsOf, scopeOf } from '../access/table-scope.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { tableInPath } from '../http/path-names.ts'
import { queryParameter } from '../http/raw-path.ts'
import { ForbiddenError } from '../http/request-errors.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'

/**
 * POST …/tables/{table}/sign: one request to the store, signed if it touches nothing but the table and is one that the caller
 * may make. The region is the warehouse's own. `private` lets Java use an answer again for half a minute, which only
 * reads are good for. Spec: REST catalog, signRequest.
 */
export async function signRequest(call: RouteCall): Promise<HttpAnswer> {
  const warehouse = warehouseOf(call)
  const broker = warehouse.settings.delegation.includes('remote-signing')
    ? call.catalog.context.stores.brokerOf(warehouse.row)
    : undefined
  if (broker === undefined) {
    throw new ForbiddenError(`warehouse ${warehouse.name} signs no requests for clients`)
  }
  const request = decodeRemoteSignRequest(await readJson(call))
  const ticket =
    queryParameter(call.query, TICKET_PARAMETER) ?? request.properties[TICKET_PARAMETER]
  const { identifier, metadata, row } = await reachableTable(call, tableInPath(call), ticket)
  const role = call.caller.grants.roleAt(warehouse.id, identifier.levels)
  if (role === undefined) throw new ForbiddenError('the caller may not reach this table')
  const access = includesRole(role, 'writer') ? 'write' : 'read'
  const moved = row === undefined ? {} : await formerRootsOf(call.catalog, row)
  const signed = await broker.sign(request, scopeOf({ metadata, ...moved }, access))
  const { tableUuid } = metadata
  noteAccess(call, { mode: 'remote-signing', access, tableUuid })
  const answer = jsonAnswer(encodeRemoteSignResult(signed))
  const caching = signed.isReusable ? 'private' : 'no-cache'
  return { ...answer, headers: { ...answer.headers, 'cache-control': caching } }
}

import { encodeLoadCredentialsResult } from '@timelake/iceberg/rest/load-table-json'
import { findCredentials, TICKET_PARAMETER } from '../access/delegate-access.ts'
import { reachableTable } from '../access/reachable-table.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { tableInPath } from '../http/path-names.ts'
import { queryParameter } from '../http/raw-path.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/**
 * GET …/tables/{table}/credentials: others, before those that a client holds end. One credential, as Java wants it; none from a
 * warehouse that gives none. For a scan (`planId`) they are read only; a plan may end before its reading does, so
 * whether it is still known does not matter. Spec: REST catalog, loadCredentials.
 */
export async function loadCredentials(call: RouteCall): Promise<HttpAnswer> {
  const ticket = queryParameter(call.query, TICKET_PARAMETER)
  const planId = queryParameter(call.query, 'planId')
  const table = await reachableTable(call, tableInPath(call), ticket)
  const credentials = await findCredentials(call, {
    ...table,
    warehouse: warehouseOf(call),
    ...(planId === undefined ? {} : { planId }),
  })
  const answer = jsonAnswer(encodeLoadCredentialsResult(credentials))
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } }
}

import type { HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { listRows } from './list-rows.ts'

/** GET …/namespaces/{namespace}/tables, in the order of names. */
export async function listTables(call: RouteCall): Promise<HttpAnswer> {
  return listRows(call, 'table')
}

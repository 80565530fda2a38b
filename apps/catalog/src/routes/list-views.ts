import type { HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { listRows } from './list-rows.ts'

/** GET …/namespaces/{namespace}/views, in the order of names. */
export async function listViews(call: RouteCall): Promise<HttpAnswer> {
  return listRows(call, 'view')
}

import type { HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { accountAnswer, accountInPath } from './account-in-path.ts'

/** GET /admin/v1/accounts/{name} */
export async function getAccount(call: RouteCall): Promise<HttpAnswer> {
  return accountAnswer(call, accountInPath(call))
}

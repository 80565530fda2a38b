import { changeAccount } from '../access/change-account.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { readJson, type RouteCall } from '../http/route.ts'
import { accountAnswer, accountInPath } from './account-in-path.ts'
import { decodeAccountChange } from './account-json.ts'

/** PATCH /admin/v1/accounts/{name}: changes the members that are given. */
export async function updateAccount(call: RouteCall): Promise<HttpAnswer> {
  const name = accountInPath(call)
  await changeAccount(call.catalog, name, decodeAccountChange(await readJson(call)))
  return accountAnswer(call, name)
}

import { deleteAccount as deleteCatalogAccount } from '../access/change-account.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { accountInPath } from './account-in-path.ts'

/** DELETE /admin/v1/accounts/{name}: with its secrets and grants. */
export async function deleteAccount(call: RouteCall): Promise<HttpAnswer> {
  await deleteCatalogAccount(call.catalog, accountInPath(call))
  return NO_CONTENT
}

import { listAccounts as listRows } from '@timelake/database/accounts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { cutPage, readPageRequest } from '../http/page.ts'
import type { RouteCall } from '../http/route.ts'
import { accountJson } from './account-json.ts'

/** GET /admin/v1/accounts: all accounts by name, in pages. */
export async function listAccounts({ catalog, query }: RouteCall): Promise<HttpAnswer> {
  const { config, context } = catalog
  const { after, limit = config.pageSizeMax } = readPageRequest(query, config.pageSizeMax)
  const rows = await listRows(context.database, { after, limit: limit + 1 })
  const page = cutPage(rows, { limit }, ({ name }) => name)
  return jsonAnswer({
    accounts: page.items.map(accountJson),
    'next-page-token': page.nextPageToken ?? null,
  })
}

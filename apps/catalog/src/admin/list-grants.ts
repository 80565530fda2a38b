import { listGrants as listRows } from '@timelake/database/grants'
import { accountByName } from '../access/change-account.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { cutPage, readPageRequest } from '../http/page.ts'
import { queryParameter } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'
import { grantJson } from './account-json.ts'

/** GET /admin/v1/grants?account=&warehouse=: the grants, in the order of ids, in pages. */
export async function listGrants({ catalog, query }: RouteCall): Promise<HttpAnswer> {
  const { config, context, warehouses } = catalog
  const { after, limit = config.pageSizeMax } = readPageRequest(query, config.pageSizeMax)
  const account = queryParameter(query, 'account')
  const warehouse = queryParameter(query, 'warehouse')
  const filter = {
    accountId: account === undefined ? undefined : (await accountByName(catalog, account)).id,
    warehouseId: warehouse === undefined ? undefined : (await warehouses.byName(warehouse)).id,
  }
  const rows = await listRows(context.database, { filter, after, limit: limit + 1 })
  const page = cutPage(rows, { limit }, ({ id }) => id)
  return jsonAnswer({
    grants: page.items.map(grantJson),
    'next-page-token': page.nextPageToken ?? null,
  })
}

import { countDeliveries, listWebhooks as listRows } from '@timelake/database/webhooks'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'
import { webhookJson } from './webhook-json.ts'

/** GET /admin/v1/webhooks: all webhooks by name; there are never many. */
export async function listWebhooks({ catalog }: RouteCall): Promise<HttpAnswer> {
  const { database } = catalog.context
  const rows = await listRows(database)
  const counts = await countDeliveries(database)
  return jsonAnswer({ webhooks: rows.map((row) => webhookJson(row, counts(row.id))) })
}

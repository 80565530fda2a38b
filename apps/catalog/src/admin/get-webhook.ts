import { webhookByName } from '../catalog/change-webhook.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { webhookAnswer, webhookInPath } from './webhook-in-path.ts'

/** GET /admin/v1/webhooks/{name}: what was said of it, and how far the sending is. */
export async function getWebhook(call: RouteCall): Promise<HttpAnswer> {
  return webhookAnswer(call, await webhookByName(call.catalog, webhookInPath(call)))
}

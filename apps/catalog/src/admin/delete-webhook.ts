import { deleteWebhook as deleteCatalogWebhook } from '../catalog/change-webhook.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { webhookInPath } from './webhook-in-path.ts'

/** DELETE /admin/v1/webhooks/{name}: with everything that waits for it. */
export async function deleteWebhook(call: RouteCall): Promise<HttpAnswer> {
  await deleteCatalogWebhook(call.catalog, webhookInPath(call))
  return NO_CONTENT
}

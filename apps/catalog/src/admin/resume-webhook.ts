import { changeWebhook } from '../catalog/change-webhook.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { webhookAnswer, webhookInPath } from './webhook-in-path.ts'

/** POST /admin/v1/webhooks/{name}/resume: goes on where it stopped, at once where it waits after failures. */
export async function resumeWebhook(call: RouteCall): Promise<HttpAnswer> {
  const change = { pausedReason: null }
  return webhookAnswer(call, await changeWebhook(call.catalog, webhookInPath(call), change))
}

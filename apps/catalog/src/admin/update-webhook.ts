import { changeWebhook } from '../catalog/change-webhook.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { readJson, type RouteCall } from '../http/route.ts'
import { webhookAnswer, webhookInPath } from './webhook-in-path.ts'
import { decodeWebhookChange } from './webhook-json.ts'

/** PATCH /admin/v1/webhooks/{name}: changes the members that are given, each as a whole. */
export async function updateWebhook(call: RouteCall): Promise<HttpAnswer> {
  const name = webhookInPath(call)
  const change = decodeWebhookChange(await readJson(call), call.catalog.config)
  return webhookAnswer(call, await changeWebhook(call.catalog, name, change))
}

import { changeWebhook } from '../catalog/change-webhook.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { readOptionalJson, type RouteCall } from '../http/route.ts'
import { webhookAnswer, webhookInPath } from './webhook-in-path.ts'
import { decodePause } from './webhook-json.ts'

/** POST /admin/v1/webhooks/{name}/pause: nothing is sent until it is resumed; a batch that has begun goes on. */
export async function pauseWebhook(call: RouteCall): Promise<HttpAnswer> {
  const pausedReason = decodePause(await readOptionalJson(call))
  return webhookAnswer(
    call,
    await changeWebhook(call.catalog, webhookInPath(call), { pausedReason }),
  )
}

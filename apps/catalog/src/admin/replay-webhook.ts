import { replayWebhook as replayCatalogWebhook } from '../catalog/replay-webhook.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { readJson, type RouteCall } from '../http/route.ts'
import { webhookInPath } from './webhook-in-path.ts'
import { decodeReplay } from './webhook-json.ts'

/** POST /admin/v1/webhooks/{name}/replay: sends again, from a place in the feed or dead letters. */
export async function replayWebhook(call: RouteCall): Promise<HttpAnswer> {
  const name = webhookInPath(call)
  const replay = decodeReplay(await readJson(call))
  const { deadLetterCount } = await replayCatalogWebhook(call.catalog, name, replay)
  return jsonAnswer({ 'dead-letters': BigInt(deadLetterCount) }, 202)
}

import { encodeWebhookSecret } from '@timelake/timelake/contract/webhooks/webhook-secret'
import { changeWebhook } from '../catalog/change-webhook.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { readOptionalJson, type RouteCall } from '../http/route.ts'
import { webhookInPath } from './webhook-in-path.ts'
import { decodeRotation } from './webhook-json.ts'

/** POST /admin/v1/webhooks/{name}/secret: another secret; the one before signs too for as long as is asked for. */
export async function rotateWebhookSecret(call: RouteCall): Promise<HttpAnswer> {
  const rotation = decodeRotation(await readOptionalJson(call))
  const { oldSecretUntilMs } = await changeWebhook(call.catalog, webhookInPath(call), { rotation })
  return jsonAnswer({
    secret: encodeWebhookSecret(rotation.key),
    'old-secret-until-ms': BigInt(oldSecretUntilMs ?? 0),
  })
}

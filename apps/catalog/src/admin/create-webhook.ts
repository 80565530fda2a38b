import { encodeWebhookSecret } from '@timelake/timelake/contract/webhooks/webhook-secret'
import { createWebhook as createCatalogWebhook } from '../catalog/create-webhook.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { readJson, type RouteCall } from '../http/route.ts'
import { decodeWebhookDraft, webhookJson } from './webhook-json.ts'

/** POST /admin/v1/webhooks: the only answer beside that of a rotation that holds the secret. */
export async function createWebhook(call: RouteCall): Promise<HttpAnswer> {
  const { catalog } = call
  const draft = decodeWebhookDraft(await readJson(call), catalog.config)
  call.subject.object = draft.name
  const { row, key } = await createCatalogWebhook(catalog, draft)
  const shown = webhookJson(row, { waiting: 0, deadLetters: 0 })
  return jsonAnswer({ ...shown, secret: encodeWebhookSecret(key) }, 201)
}

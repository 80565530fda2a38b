import { parseJson } from '@timelake/iceberg/spec/json'
import { object } from '@timelake/iceberg/spec/decode'
import { probeWebhook as probeCatalogWebhook } from '../catalog/probe-webhook.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'
import { webhookInPath } from './webhook-in-path.ts'

const UNTRIED = {
  delivered: null,
  reason: 'no sender has tried it yet: is one running (TIMELAKE_WEBHOOKS)?',
  'took-ms': null,
}

/** POST /admin/v1/webhooks/{name}/test: sends an event of its own from where events are sent. */
export async function probeWebhook(call: RouteCall): Promise<HttpAnswer> {
  const { request, catalog } = call
  const { testId, outcome } = await probeCatalogWebhook(
    catalog,
    webhookInPath(call),
    request.aborted(),
  )
  const shown = outcome === undefined ? UNTRIED : object(parseJson(outcome), 'outcome')
  return jsonAnswer({ 'event-id': testId, ...shown })
}

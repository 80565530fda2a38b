import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { discardDeadLetters as discardCatalogLetters } from '../catalog/replay-webhook.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { queryParameter } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'
import { webhookInPath } from './webhook-in-path.ts'

/** DELETE /admin/v1/webhooks/{name}/dead-letters?event-id=: forgets one, or all. */
export async function discardDeadLetters(call: RouteCall): Promise<HttpAnswer> {
  const eventId = queryParameter(call.query, 'event-id')
  if (eventId?.includes('\u0000') === true) throw new InvalidInputError('is not an id', 'event-id')
  const count = await discardCatalogLetters(call.catalog, webhookInPath(call), eventId)
  return jsonAnswer({ 'dead-letters': BigInt(count) })
}

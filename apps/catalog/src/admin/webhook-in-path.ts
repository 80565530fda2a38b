import type { WebhookRow } from '@timelake/database/webhook-row'
import { countDeliveries } from '@timelake/database/webhooks'
import { checkName } from '../catalog/names.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { decodeSegment } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'
import { webhookJson } from './webhook-json.ts'

/** The webhook name in the path. Throws InvalidInputError for malformed or impossible names. */
export function webhookInPath({ parameters }: RouteCall): string {
  const name = decodeSegment(parameters['name'] ?? '')
  checkName(name, 'name')
  return name
}

/** A webhook as it is now, without its secret. */
export async function webhookAnswer({ catalog }: RouteCall, row: WebhookRow): Promise<HttpAnswer> {
  const counts = await countDeliveries(catalog.context.database)
  return jsonAnswer(webhookJson(row, counts(row.id)))
}

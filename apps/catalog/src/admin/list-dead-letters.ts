import { listDeadLetters as listRows, type DeadLetterPosition } from '@timelake/database/webhooks'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { webhookByName } from '../catalog/change-webhook.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { cutPage, readPageRequest } from '../http/page.ts'
import type { RouteCall } from '../http/route.ts'
import { webhookInPath } from './webhook-in-path.ts'
import { deadLetterJson } from './webhook-json.ts'

const PAGE_SIZE_MAX = 100

/** GET /admin/v1/webhooks/{name}/dead-letters: events that were given up, oldest first, in pages. */
export async function listDeadLetters(call: RouteCall): Promise<HttpAnswer> {
  const { id: webhookId } = await webhookByName(call.catalog, webhookInPath(call))
  const { after, limit = PAGE_SIZE_MAX } = readPageRequest(call.query, PAGE_SIZE_MAX)
  const letters = await listRows(call.catalog.context.database, {
    webhookId,
    after: after === undefined ? undefined : positionOf(after),
    limit: limit + 1,
  })
  const page = cutPage(
    letters,
    { limit },
    ({ givenUpAtMs, eventId }) => `${givenUpAtMs}/${eventId}`,
  )
  return jsonAnswer({
    'dead-letters': page.items.map(deadLetterJson),
    'next-page-token': page.nextPageToken ?? null,
  })
}

function positionOf(key: string): DeadLetterPosition {
  const [, ms, eventId] = /^(\d{1,15})\/(.+)$/s.exec(key) ?? []
  if (ms === undefined || eventId === undefined) {
    throw new InvalidInputError('is not a token of this listing', 'pageToken')
  }
  return { givenUpAtMs: Number(ms), eventId }
}

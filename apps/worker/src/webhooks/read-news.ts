import { readFeed, type FeedEvent, type FeedPage, type FeedRequest } from '@timelake/database/feed'
import type { SqlSession } from '@timelake/database/sql-session'
import { listWarehouses } from '@timelake/database/warehouses'
import { FEED_START, type WebhookRow } from '@timelake/database/webhook-row'
import type { WebhookDelivery } from '@timelake/database/webhooks'
import { subjectOf } from '@timelake/timelake/contract/webhooks/cloud-event'
import type { AskedBatch, Changes } from './ask-for-changes.ts'
import { eventText, feedFilterOf } from './feed-events.ts'

export interface NewsOptions {
  readonly database: SqlSession
  readonly changes: Changes
  readonly limit: number
}

/** `lost`: the events at the webhook's place are gone. */
export type News =
  | {
      readonly outcome: 'read'
      readonly events: readonly WebhookDelivery[]
      readonly cursor: string
      readonly isAtEnd: boolean
    }
  | { readonly outcome: 'lost' }

/** What the feed has behind the webhook's place and lets pass for it, commits with what they did if the catalog says so. */
export async function readNews(
  { database, changes, limit }: NewsOptions,
  { feedCursor, filter }: WebhookRow,
): Promise<News> {
  const warehouses = await listWarehouses(database)
  const names = new Map(warehouses.map(({ id, name }) => [id, name]))
  const after = feedCursor === FEED_START ? undefined : feedCursor
  const request: FeedRequest = { after, limit, filter: feedFilterOf(filter, warehouses) }
  const first = await readFeed(database, request)
  if (first.outcome !== 'read') return { outcome: 'lost' }
  const batches = batchesOf(first.events, { names, after })
  const asked = await Promise.all(batches.map((batch) => changes.ask(batch)))
  const page: FeedPage = asked.includes(true) ? await readFeed(database, request) : first
  if (page.outcome !== 'read') return { outcome: 'lost' }
  const { events, cursor, isAtEnd } = page
  const deliveries = events.map((event) => deliveryOf(event, names.get(event.warehouseId)))
  return { outcome: 'read', events: deliveries, cursor, isAtEnd }
}

function batchesOf(
  events: readonly FeedEvent[],
  at: { readonly names: ReadonlyMap<string, string>; readonly after: string | undefined },
): readonly AskedBatch[] {
  const ids = [...new Set(events.map(({ warehouseId }) => warehouseId))]
  return ids.flatMap((id) => {
    const warehouse = at.names.get(id)
    const own = events.filter(({ warehouseId }) => warehouseId === id)
    return warehouse === undefined ? [] : [{ warehouse, after: at.after, events: own }]
  })
}

function deliveryOf(event: FeedEvent, warehouse: string | undefined): WebhookDelivery {
  const { eventId, eventNumber, kind } = event
  return {
    ...{ eventId, eventNumber, kind },
    subject: subjectOf(eventId),
    body: eventText(event, warehouse),
    attempts: 0,
    firstAttemptAtMs: undefined,
    nextAttemptAtMs: 0,
    lastFailure: undefined,
    givenUpAtMs: undefined,
  }
}

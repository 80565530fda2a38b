import type { FeedEvent, FeedFilter } from '@timelake/database/feed'
import { EVENT_KINDS } from '@timelake/database/outbox'
import type { WarehouseRow } from '@timelake/database/warehouses'
import { parseJson } from '@timelake/iceberg/spec/json'
import { eventJson } from '@timelake/timelake/contract/event-json'
import { cloudEventText } from '@timelake/timelake/contract/webhooks/cloud-event'
import { decodeWebhookFilter } from '@timelake/timelake/contract/webhooks/webhook-filter'

/** The filter of a webhook's row for the feed. A warehouse that does not exist lets nothing pass. */
export function feedFilterOf(filterText: string, warehouses: readonly WarehouseRow[]): FeedFilter {
  const filter = decodeWebhookFilter(parseJson(filterText), 'filter', EVENT_KINDS)
  const { namespaces, tables, kinds } = filter
  const wanted = filter.warehouses
  const found = wanted && warehouses.filter(({ name }) => wanted.includes(name))
  return {
    ...(found === undefined ? {} : { warehouseIds: found.map(({ id }) => id) }),
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(tables === undefined ? {} : { tables }),
    ...(kinds === undefined ? {} : { kinds }),
  }
}

/** What a receiver gets of an event, JSON text: an envelope around what the feed shows. */
export function eventText(event: FeedEvent, warehouse = event.warehouseId): string {
  const { eventId, eventNumber, kind, levels, name, createdAtMs, cursor } = event
  const data = { cursor, ...eventJson(event, warehouse) }
  return cloudEventText({ eventId, eventNumber, kind, warehouse, levels, name, createdAtMs, data })
}

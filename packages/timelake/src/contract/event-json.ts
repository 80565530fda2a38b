import { isJsonArray, parseJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'

/** An event of the feed, as the database keeps it. */
export interface EventFacts {
  readonly eventId: string
  readonly eventNumber: bigint
  readonly kind: string
  readonly tableId: string | undefined
  readonly tableUuid: string | undefined
  readonly levels: readonly string[]
  readonly name: string | undefined
  /** JSON text of an object. */
  readonly payload: string
  /** JSON text of an object: what a commit did to each partition. */
  readonly details: string | undefined
  readonly createdAtMs: number
}

/**
 * The event as everybody outside sees it: in the feed, in a stream and in the body of a webhook. `data` holds what its kind
 * has to tell, for a commit with `changes` once they are known.
 */
export function eventJson(event: EventFacts, warehouseName: string): JsonObject {
  const { eventId, eventNumber, kind, tableId, tableUuid, levels, name } = event
  return {
    'event-id': eventId,
    'event-number': eventNumber,
    kind,
    'timestamp-ms': BigInt(event.createdAtMs),
    warehouse: warehouseName,
    'subject-type': subjectType(kind),
    // @NOTE The id of an event is the id of its subject, a dash and its number.
    'subject-id': tableId ?? eventId.slice(0, eventId.lastIndexOf('-')),
    'subject-uuid': tableUuid,
    namespace: levels,
    name,
    data: { ...storedObject(event.payload), ...changesOf(event.details) },
  }
}

/** Jobs work on tables. */
function subjectType(kind: string): string {
  const [type = ''] = kind.split('-', 1)
  return type === 'job' ? 'table' : type
}

function changesOf(details: string | undefined): JsonObject {
  return details === undefined ? {} : { changes: storedObject(details) }
}

function storedObject(text: string): JsonObject {
  const value = parseJson(text)
  if (value === null || typeof value !== 'object' || isJsonArray(value)) return {}
  return value
}

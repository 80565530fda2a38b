import type { FeedEvent } from '@timelake/database/feed'
import { isJsonArray, parseJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import type { Caller } from '../access/caller.ts'

/** Tells whether a caller may know of an event. */
export type EventSight = (event: Pick<FeedEvent, 'kind' | 'levels' | 'payload'>) => boolean

/**
 * Events of namespaces where the caller has a role, in this warehouse. What was renamed from or to a namespace that is hidden
 * from it is hidden too, because both names are in the event.
 */
export function eventSight({ grants }: Pick<Caller, 'grants'>, warehouseId: string): EventSight {
  if (grants.roleAt(warehouseId) !== undefined) return () => true
  const knows = (levels: readonly string[]): boolean =>
    grants.roleAt(warehouseId, levels) !== undefined
  return ({ kind, levels, payload }) => {
    if (!knows(levels)) return false
    if (kind !== 'table-renamed' && kind !== 'view-renamed') return true
    const told = parseJson(payload)
    return [endOf(told, 'source'), endOf(told, 'destination')].every(
      (end) => end !== undefined && knows(end),
    )
  }
}

function endOf(payload: JsonValue, end: 'source' | 'destination'): string[] | undefined {
  const identifier = memberOf(payload, end)
  const levels = memberOf(identifier ?? null, 'namespace')
  if (!isJsonArray(levels)) return undefined
  return levels.filter((level) => typeof level === 'string')
}

function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  if (value === null || typeof value !== 'object' || isJsonArray(value)) return undefined
  return value[name]
}

import { extraMembers, int, list, object, optional, text } from './decode.ts'
import type { Filled } from './decode.ts'
import { InvalidInputError } from './errors.ts'
import type { JsonObject, JsonValue } from './json-value.ts'
import type { SortField, SortOrder } from './sort-order.ts'
import { decodeSourceIds, decodeTransform, encodeSourceIds } from './source-ids-json.ts'
import { printTransform } from './transform-text.ts'

const ORDER_MEMBERS = new Set(['order-id', 'fields'])
const FIELD_MEMBERS = new Set(['transform', 'source-id', 'source-ids', 'direction', 'null-order'])

/**
 * Reads a sort order without a schema, so orders of dropped columns stay readable. A missing `order-id` (requests
 * only) is 0 without fields and 1 with some. Throws InvalidInputError naming the member.
 */
export function decodeSortOrder(json: JsonValue | undefined, path: string): SortOrder {
  const raw = object(json, path)
  const fields = list(raw['fields'], `${path}.fields`, decodeSortField)
  const order: Filled<SortOrder> = {
    orderId: optional(raw['order-id'], `${path}.order-id`, int) ?? (fields.length === 0 ? 0 : 1),
    fields,
  }
  const extra = extraMembers(raw, ORDER_MEMBERS)
  if (extra !== undefined) order.extra = extra
  return order
}

/** The JSON form of a sort order. Inverse of decodeSortOrder. */
export function encodeSortOrder(order: SortOrder): JsonObject {
  return {
    ...order.extra,
    'order-id': BigInt(order.orderId),
    fields: order.fields.map((field) => ({
      ...field.extra,
      transform: printTransform(field.transform),
      ...encodeSourceIds(field.sourceIds),
      direction: field.direction,
      'null-order': field.nullOrder,
    })),
  }
}

function decodeSortField(json: JsonValue | undefined, path: string): SortField {
  const raw = object(json, path)
  const direction = text(raw['direction'], `${path}.direction`).toLowerCase()
  if (direction !== 'asc' && direction !== 'desc') {
    throw new InvalidInputError(`expected asc or desc, got "${direction}"`, `${path}.direction`)
  }
  const nullOrder = text(raw['null-order'], `${path}.null-order`).toLowerCase()
  if (nullOrder !== 'nulls-first' && nullOrder !== 'nulls-last') {
    throw new InvalidInputError(
      `expected nulls-first or nulls-last, got "${nullOrder}"`,
      `${path}.null-order`,
    )
  }
  const field: Filled<SortField> = {
    transform: decodeTransform(raw['transform'], `${path}.transform`),
    sourceIds: decodeSourceIds(raw, path),
    direction,
    nullOrder,
  }
  const extra = extraMembers(raw, FIELD_MEMBERS)
  if (extra !== undefined) field.extra = extra
  return field
}

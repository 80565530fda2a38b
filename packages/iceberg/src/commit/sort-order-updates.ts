import { InvalidInputError, ValidationFailedError } from '../spec/errors.ts'
import { indexSchema } from '../spec/schema-index.ts'
import { type SortField, UNSORTED } from '../spec/sort-order.ts'
import { checkSortSources } from './bind-fields.ts'
import { sameValue } from './same-value.ts'
import type { TableMetadataDraft } from './table-metadata-draft.ts'
import { LAST_ADDED } from './table-update.ts'

/**
 * Adds a sort order, bound to the schema that is current at this point of the request. Without fields it is the
 * unsorted order, id 0; one with the same fields is used again; else its id is the next after the highest, from 1.
 */
export function addSortOrder(draft: TableMetadataDraft, fields: readonly SortField[]): void {
  checkSortSources(fields, indexSchema(draft.currentSchema))
  const existing = draft.sortOrders.find((order) => sameValue(order.fields, fields))
  if (existing !== undefined) {
    draft.lastAddedSortOrderId = existing.orderId
    return
  }
  const sortOrder = fields.length === 0 ? UNSORTED : { orderId: nextOrderId(draft), fields }
  draft.sortOrders = [...draft.sortOrders, sortOrder]
  draft.lastAddedSortOrderId = sortOrder.orderId
  draft.record({ action: 'add-sort-order', sortOrder })
}

/** Makes a sort order the default of new files. Throws InvalidInputError for an unknown id. */
export function setDefaultSortOrder(draft: TableMetadataDraft, sortOrderId: number): void {
  const id = sortOrderId === LAST_ADDED ? draft.lastAddedSortOrderId : sortOrderId
  if (id === undefined) {
    throw new ValidationFailedError(
      'Cannot set last added sort order: no sort order has been added',
    )
  }
  if (id === draft.defaultSortOrderId) return
  if (!draft.sortOrders.some(({ orderId }) => orderId === id)) {
    throw new InvalidInputError(`Cannot set default sort order to unknown sort order: ${id}`)
  }
  draft.defaultSortOrderId = id
  draft.record({ action: 'set-default-sort-order', sortOrderId: id })
}

/** Throws InvalidInputError unless the default sort order exists and can be bound to the current schema. */
export function checkDefaultSortOrder(draft: TableMetadataDraft): void {
  const order = draft.sortOrders.find(({ orderId }) => orderId === draft.defaultSortOrderId)
  if (order === undefined)
    throw new InvalidInputError(`Cannot find default sort order: ${draft.defaultSortOrderId}`)
  checkSortSources(order.fields, indexSchema(draft.currentSchema))
}

function nextOrderId(draft: TableMetadataDraft): number {
  return draft.sortOrders.reduce((highest, { orderId }) => Math.max(highest, orderId), 0) + 1
}

import type { JsonObject } from './json-value.ts'
import type { Transform } from './transform.ts'

export interface SortField {
  readonly transform: Transform
  readonly sourceIds: readonly number[]
  readonly direction: 'asc' | 'desc'
  readonly nullOrder: 'nulls-first' | 'nulls-last'
  readonly extra?: JsonObject
}

/** Order id 0 is the unsorted order and has no fields. Spec: Sorting. */
export interface SortOrder {
  readonly orderId: number
  readonly fields: readonly SortField[]
  readonly extra?: JsonObject
}

export const UNSORTED: SortOrder = { orderId: 0, fields: [] }

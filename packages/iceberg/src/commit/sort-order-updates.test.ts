import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import type { SortField } from '../spec/sort-order.ts'
import { commit, ID_COLUMN, sampleTable, schemaOf, TS_COLUMN } from './sample-table.ts'
import type { TableUpdate } from './table-update.ts'

const table = sampleTable()
const byId: SortField = {
  transform: { kind: 'identity' },
  sourceIds: [1],
  direction: 'asc',
  nullOrder: 'nulls-first',
}
const byData: SortField = { ...byId, sourceIds: [3] }
const add = (...fields: SortField[]): TableUpdate => ({
  action: 'add-sort-order',
  sortOrder: { orderId: fields.length === 0 ? 0 : 5, fields },
})
const setDefault = (sortOrderId: number): TableUpdate => ({
  action: 'set-default-sort-order',
  sortOrderId,
})

describe('add-sort-order', () => {
  it('gives the next id from 1, whatever id was sent', () => {
    const after = commit(table, [add(byId), add(byData), add({ ...byId, direction: 'desc' })])
    expect(after.sortOrders.map(({ orderId }) => orderId)).toEqual([0, 1, 2, 3])
    expect(after.defaultSortOrderId).toBe(0)
  })

  it('uses an order with the same fields again', () => {
    expect(commit(table, [add()])).toBe(table)
    const sorted = commit(table, [add(byId)])
    expect(commit(sorted, [add(byId)])).toBe(sorted)
  })

  it.each<readonly [string, SortField, string]>([
    ['an unknown column', { ...byId, sourceIds: [9] }, 'Cannot find source column'],
    [
      'a transform that does not fit',
      { ...byId, transform: { kind: 'hour' } },
      'Invalid source type',
    ],
  ])('refuses %s', (_, field, text) => {
    expect(() => commit(table, [add(field)])).toThrow(text)
    expect(() => commit(table, [add(field)])).toThrow(InvalidInputError)
  })
})

describe('set-default-sort-order', () => {
  it('takes -1 for the order added last, the unsorted one too', () => {
    const sorted = commit(table, [add(byId), setDefault(-1)])
    expect(sorted.defaultSortOrderId).toBe(1)
    expect(commit(sorted, [add(), setDefault(-1)]).defaultSortOrderId).toBe(0)
  })

  it('refuses -1 when no order was added, and unknown ids', () => {
    expect(() => commit(table, [setDefault(-1)])).toThrow('no sort order has been added')
    expect(() => commit(table, [setDefault(4)])).toThrow('unknown sort order: 4')
  })
})

describe('B044: dropping a column', () => {
  const dropData: TableUpdate[] = [
    { action: 'add-schema', schema: schemaOf(ID_COLUMN, TS_COLUMN) },
    { action: 'set-current-schema', schemaId: -1 },
  ]

  it('is refused when the default order needs it', () => {
    const sorted = commit(table, [add(byData), setDefault(-1)])
    expect(() => commit(sorted, dropData)).toThrow('Cannot find source column for sort field')
  })

  it('is allowed when only an old order names it', () => {
    const sorted = commit(table, [add(byData), add(byId), setDefault(-1)])
    const after = commit(sorted, dropData)
    expect(after.sortOrders).toEqual(sorted.sortOrders)
    expect(commit(after, [{ action: 'set-properties', updates: { k: 'v' } }]).properties['k']).toBe(
      'v',
    )
  })
})

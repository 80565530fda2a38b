import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import type { Schema } from '../spec/schema.ts'
import type { NestedField } from '../spec/type.ts'
import {
  commit,
  created,
  DATA_COLUMN,
  ID_COLUMN,
  sampleTable,
  schemaOf,
  TS_COLUMN,
} from './sample-table.ts'
import type { TableUpdate } from './table-update.ts'

const table = sampleTable()
const newColumn: NestedField = { id: 4, name: 'host', required: false, type: { kind: 'string' } }
const wider = schemaOf(ID_COLUMN, TS_COLUMN, DATA_COLUMN, newColumn)
const add = (schema: Schema): TableUpdate => ({ action: 'add-schema', schema })
const setCurrent = (schemaId: number): TableUpdate => ({ action: 'set-current-schema', schemaId })

describe('add-schema', () => {
  it('gives the next id whatever id was sent, keeps field ids and raises last-column-id', () => {
    const after = commit(table, [add({ ...wider, schemaId: 7 })])
    expect(after.schemas.map(({ schemaId }) => schemaId)).toEqual([0, 1])
    expect(after.schemas[1]).toEqual({ ...wider, schemaId: 1 })
    expect(after.lastColumnId).toBe(4)
    expect(after.currentSchemaId).toBe(0)
  })

  it('uses an equal schema again, so that nothing changes', () => {
    const same = schemaOf(ID_COLUMN, TS_COLUMN, DATA_COLUMN)
    expect(commit(table, [add({ ...same, schemaId: 7 })])).toBe(table)
  })

  it('tells schemas apart by doc, optionality and identifier fields', () => {
    const variants = [
      schemaOf(ID_COLUMN, TS_COLUMN, { ...DATA_COLUMN, doc: 'text' }),
      schemaOf({ ...ID_COLUMN, required: false }, TS_COLUMN, DATA_COLUMN),
      { ...schemaOf(ID_COLUMN, TS_COLUMN, DATA_COLUMN), identifierFieldIds: [1] },
    ]
    expect(commit(table, variants.map(add)).schemas).toHaveLength(4)
  })

  it('B032: keeps last-column-id when the column with the highest id is dropped', () => {
    const narrow = commit(table, [add(schemaOf(ID_COLUMN, TS_COLUMN)), setCurrent(-1)])
    expect(narrow.lastColumnId).toBe(3)
    expect(narrow.currentSchemaId).toBe(1)
  })

  it.each<readonly [string, Schema, string | RegExp]>([
    [
      'a repeated name',
      schemaOf(ID_COLUMN, { ...newColumn, name: 'id' }),
      'multiple fields for name',
    ],
    ['a repeated id', schemaOf(ID_COLUMN, { ...newColumn, id: 1 }), 'multiple fields have id'],
    [
      'a type of a later version',
      schemaOf(ID_COLUMN, { ...newColumn, type: { kind: 'variant' } }),
      'variant is not supported until v3',
    ],
    [
      'a default before v3',
      schemaOf(ID_COLUMN, { ...newColumn, initialDefault: 'a' }),
      'default is not supported until v3',
    ],
    ['an optional identifier field', { ...wider, identifierFieldIds: [4] }, 'identifier'],
  ])('refuses %s', (_, schema, text) => {
    expect(() => commit(table, [add(schema)])).toThrow(text)
    expect(() => commit(table, [add(schema)])).toThrow(InvalidInputError)
  })

  it('accepts a type of the version that the same request upgrades to', () => {
    const schema = schemaOf(ID_COLUMN, TS_COLUMN, { ...newColumn, type: { kind: 'variant' } })
    const upgrade: TableUpdate = { action: 'upgrade-format-version', formatVersion: 3 }
    expect(commit(table, [upgrade, add(schema)]).schemas).toHaveLength(2)
  })

  it('B036: keeps both defaults as they came', () => {
    const column = { ...newColumn, initialDefault: 'old', writeDefault: 'new' }
    const after = commit(sampleTable(3), [add(schemaOf(ID_COLUMN, TS_COLUMN, DATA_COLUMN, column))])
    expect(after.schemas[1]?.fields[3]).toEqual(column)
  })
})

describe('set-current-schema', () => {
  it('takes -1 for the schema added last in the request', () => {
    const other = schemaOf(ID_COLUMN, TS_COLUMN, { ...DATA_COLUMN, doc: 'text' })
    const after = commit(table, [add(wider), add(other), setCurrent(-1)])
    expect(after.currentSchemaId).toBe(2)
  })

  it('refuses -1 when no schema was added', () => {
    expect(() => commit(table, [setCurrent(-1)])).toThrow('no schema has been added')
  })

  it('refuses an unknown id', () => {
    expect(() => commit(table, [setCurrent(5)])).toThrow(
      'Cannot set current schema to unknown schema: 5',
    )
  })

  it('does nothing for the current schema', () => {
    expect(commit(table, [setCurrent(0)])).toBe(table)
  })

  it('refuses to drop a column that the default spec needs', () => {
    const update = [add(schemaOf(ID_COLUMN, DATA_COLUMN)), setCurrent(-1)]
    expect(() => commit(table, update)).toThrow(
      'Cannot find source column for partition field ts_day',
    )
  })

  it('B039: drops a column that only an old spec needs', () => {
    const after = commit(table, [
      { action: 'add-spec', spec: { fields: [] } },
      { action: 'set-default-spec', specId: -1 },
      add(schemaOf(ID_COLUMN, DATA_COLUMN)),
      setCurrent(-1),
    ])
    expect(after.partitionSpecs.map(({ fields }) => fields.length)).toEqual([1, 0])
  })

  it('refuses a column with the name of a partition field of another column, which no reader could bind', () => {
    const clash = schemaOf(ID_COLUMN, TS_COLUMN, { ...newColumn, name: 'ts_day' })
    expect(() => commit(table, [add(clash), setCurrent(-1)])).toThrow('ts_day')
  })

  it('refuses a type that the default transform does not take', () => {
    const schema = schemaOf(ID_COLUMN, { ...TS_COLUMN, type: { kind: 'string' } })
    expect(() => commit(table, [add(schema), setCurrent(-1)])).toThrow('Invalid source type string')
  })
})

describe('remove-schemas', () => {
  const two = commit(table, [add(wider), setCurrent(-1)])
  const remove = (...schemaIds: number[]): TableUpdate => ({ action: 'remove-schemas', schemaIds })

  it('removes what is there and ignores the rest', () => {
    expect(commit(two, [remove(0, 8)]).schemas.map(({ schemaId }) => schemaId)).toEqual([1])
    expect(commit(two, [remove(8)])).toBe(two)
    expect(commit(two, [remove()])).toBe(two)
  })

  it('refuses the current schema', () => {
    expect(() => commit(two, [remove(0, 1)])).toThrow('Cannot remove the current schema')
  })
})

it('a create without a current schema id uses the first schema, as DuckDB orders its updates', () => {
  const after = created([
    { action: 'assign-uuid', uuid: '9c12d441-03fe-4693-9a96-a0705ddf69c1' },
    add(schemaOf(ID_COLUMN)),
    { action: 'add-spec', spec: { fields: [] } },
    { action: 'set-default-spec', specId: -1 },
    { action: 'add-sort-order', sortOrder: { orderId: 0, fields: [] } },
    { action: 'set-default-sort-order', sortOrderId: -1 },
    { action: 'set-location', location: 'file:///w/t' },
    setCurrent(0),
  ])
  expect(after.currentSchemaId).toBe(0)
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody, SCHEMA } from '../test-bodies.ts'
import { member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const column = (id: bigint, name: string, type: string): JsonObject => ({
  id,
  name,
  required: false,
  type,
})
const schemaOf = (...fields: JsonObject[]): JsonObject => ({
  type: 'struct',
  'schema-id': 0n,
  fields,
})
const commit = (path: string, updates: JsonObject[], requirements: JsonObject[] = []) =>
  catalog.call('POST', path, { body: { requirements, updates } })
const useSchema = (schema: JsonObject, more: JsonObject = {}): JsonObject[] => [
  { action: 'add-schema', schema, ...more },
  { action: 'set-current-schema', 'schema-id': -1n },
]
const useSpec = (...fields: JsonObject[]): JsonObject[] => [
  { action: 'add-spec', spec: { 'spec-id': 0n, fields } },
  { action: 'set-default-spec', 'spec-id': -1n },
]

it('a replace keeps field ids, old schemas and specs, the UUID and the history (B027)', async () => {
  const bucket = { name: 'b', transform: 'bucket[4]', 'source-id': 2n, 'field-id': 1000n }
  const table = await makeTable(catalog, {
    levels: ['ns'],
    name: 'replaced',
    more: {
      schema: schemaOf(column(1n, 'id', 'long'), column(2n, 'data', 'string')),
      'partition-spec': { 'spec-id': 0n, fields: [bucket] },
    },
  })
  const { path, location, uuid } = table
  await catalog.call('POST', path, { body: appendBody({ id: 1n, sequenceNumber: 1n, location }) })
  const before = await catalog.call('GET', path)
  const replacement = schemaOf(
    column(2n, 'data', 'string'),
    column(1n, 'id', 'int'),
    column(3n, 'extra', 'long'),
  )
  const replace = [
    { action: 'remove-snapshot-ref', 'ref-name': 'main' },
    ...useSchema(replacement),
    ...useSpec(),
  ]
  const { status, json } = await commit(path, replace, [{ type: 'assert-table-uuid', uuid }])
  expect(status).toBe(200)
  const [oldSchema] = member(before.json, 'metadata', 'schemas') as JsonObject[]
  const [oldSpec] = member(before.json, 'metadata', 'partition-specs') as JsonObject[]
  expect(json).toMatchObject({
    metadata: {
      'table-uuid': uuid,
      'last-column-id': 3n,
      'current-schema-id': 1n,
      schemas: [oldSchema, { fields: [{ id: 2n }, { id: 1n }, { id: 3n }] }],
      'default-spec-id': 1n,
      'partition-specs': [oldSpec, { fields: [] }],
      'last-partition-id': 1000n,
      snapshots: [{ 'snapshot-id': 1n, 'schema-id': 0n }],
    },
  })
  const back = [...useSchema(oldSchema ?? {}), ...useSpec(bucket)]
  const again = await commit(path, back)
  expect(again.json).toMatchObject({
    metadata: { 'current-schema-id': 0n, 'default-spec-id': 0n, 'last-column-id': 3n },
  })
  expect(member(again.json, 'metadata', 'schemas')).toHaveLength(2)
})

it.each(['2', 'nothing'])(
  'I14 the highest column may go, its id never comes back, though the request says %s of the last id (B032)',
  async (said) => {
    const more = said === '2' ? { 'last-column-id': 2n } : {}
    const name = `dropped-${said}`
    const all = [column(1n, 'a', 'long'), column(2n, 'b', 'long'), column(3n, 'c', 'long')]
    const given = { schema: schemaOf(...all) }
    const { path } = await makeTable(catalog, { levels: ['ns'], name, more: given })
    const lastIs = (id: bigint): JsonObject => ({
      type: 'assert-last-assigned-field-id',
      'last-assigned-field-id': id,
    })
    const dropped = await commit(path, useSchema(schemaOf(...all.slice(0, 2)), more), [lastIs(3n)])
    expect(dropped.status, dropped.text).toBe(200)
    expect(member(dropped.json, 'metadata', 'last-column-id')).toBe(3n)
    const wider = schemaOf(...all.slice(0, 2), column(4n, 'd', 'long'))
    const widened = await commit(path, useSchema(wider), [lastIs(3n)])
    expect(member(widened.json, 'metadata', 'last-column-id')).toBe(4n)
  },
)

it('columns that only old specs and sort orders use can go, and the table goes on (B039, B044)', async () => {
  const { path, location } = await makeTable(catalog, {
    levels: ['ns'],
    name: 'evolved',
    more: {
      schema: schemaOf(column(1n, 'trip_id', 'long'), column(2n, 'distance', 'long')),
      'partition-spec': {
        fields: [{ name: 'trip', transform: 'bucket[8]', 'source-id': 1n, 'field-id': 1000n }],
      },
      'write-order': {
        'order-id': 1n,
        fields: [
          { transform: 'identity', 'source-id': 1n, direction: 'asc', 'null-order': 'nulls-first' },
        ],
      },
    },
  })
  await catalog.call('POST', path, { body: appendBody({ id: 1n, sequenceNumber: 1n, location }) })
  const other: JsonObject = { name: 'far', transform: 'bucket[4]', 'source-id': 2n }
  const order: JsonObject = {
    'order-id': 2n,
    fields: [
      { transform: 'identity', 'source-id': 2n, direction: 'asc', 'null-order': 'nulls-first' },
    ],
  }
  const evolve = [
    ...useSpec(other),
    { action: 'add-sort-order', 'sort-order': order },
    { action: 'set-default-sort-order', 'sort-order-id': -1n },
  ]
  expect((await commit(path, evolve)).status).toBe(200)
  expect((await commit(path, useSchema(schemaOf(column(2n, 'distance', 'long'))))).status).toBe(200)
  const body = appendBody({ id: 2n, sequenceNumber: 2n, parent: 1n, location })
  expect((await catalog.call('POST', path, { body })).status).toBe(200)
  const loaded = await catalog.call('GET', path)
  expect(loaded.status).toBe(200)
  expect(member(loaded.json, 'metadata', 'partition-specs')).toHaveLength(2)
  expect(loaded.json).toMatchObject({ metadata: { 'default-sort-order-id': 2n } })
  const file = textAt(loaded.json, 'metadata-location')
  await catalog.call('DELETE', path)
  const registered = await catalog.call('POST', '/v1/main/namespaces/ns/register', {
    body: { name: 'evolved', 'metadata-location': file },
  })
  expect(registered.text).toBe(loaded.text)
})

it('column defaults leave as they came (B036)', async () => {
  const { path } = await makeTable(catalog, {
    levels: ['ns'],
    name: 'defaults',
    more: { properties: { 'format-version': '3' } },
  })
  const fields = member(SCHEMA, 'fields') as JsonObject[]
  const renumbered = fields.map((field, index) => ({ ...field, id: BigInt(index + 1) }))
  const added = { ...column(3n, 'c', 'string'), 'initial-default': 'old', 'write-default': 'new' }
  await commit(path, useSchema(schemaOf(...renumbered, added)))
  const newer = { ...added, 'write-default': 'newer' }
  await commit(path, useSchema(schemaOf(...renumbered, newer)))
  const { json } = await catalog.call('GET', path)
  const schemas = member(json, 'metadata', 'schemas') as JsonObject[]
  expect(schemas.slice(1).map((schema) => (schema['fields'] as JsonObject[])[2])).toEqual([
    added,
    newer,
  ])
})

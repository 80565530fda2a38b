import { afterAll, beforeAll, expect, it } from 'vitest'
import { readdirSync, readFileSync } from 'node:fs'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { SCHEMA } from '../test-bodies.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, segment } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const TABLES = '/v1/main/namespaces/ns/tables'
const create = (body: JsonObject, path = TABLES) => catalog.call('POST', path, { body })

it('renumbers columns, picks a fresh location with an id and writes version 0', async () => {
  const { status, json, headers } = await create({ name: 'first', schema: SCHEMA, properties: {} })
  expect(status).toBe(200)
  expect(headers.etag).toMatch(/^W\//)
  expect(json).toMatchObject({
    'metadata-location': expect.stringMatching(/\/metadata\/00000-[0-9a-f-]{36}\.metadata\.json$/),
    metadata: {
      'format-version': 2n,
      location: expect.stringMatching(/\/warehouse\/ns-[0-9a-f]{8}\/first-[0-9a-f]{32}$/),
      'last-column-id': 2n,
      schemas: [
        {
          fields: [
            { id: 1n, name: 'ts' },
            { id: 2n, name: 'value' },
          ],
        },
      ],
      properties: { 'write.parquet.compression-codec': 'zstd' },
    },
    config: {},
  })
})

it('answers what is stored: the file holds the metadata of the body, byte for byte', async () => {
  const { text, json } = await create({ name: 'stored', schema: SCHEMA })
  const file = textAt(json, 'metadata-location').replace('file://', '')
  expect(text).toContain(`"metadata":${readFileSync(file, 'utf8')},`)
})

it('writes gzip where the table asks for it, and loads it again after a restart', async () => {
  const properties = { 'write.metadata.compression-codec': 'gzip' }
  const { json, text } = await create({ name: 'gzipped', schema: SCHEMA, properties })
  const location = textAt(json, 'metadata-location')
  expect(location).toMatch(/\.gz\.metadata\.json$/)
  expect(readFileSync(location.replace('file://', '')).subarray(0, 2)).toEqual(
    Buffer.from([0x1f, 0x8b]),
  )
  expect((await catalog.call('GET', `${TABLES}/gzipped`)).text).toBe(text)
})

it('honours a location inside the warehouse, without its trailing slash', async () => {
  const location = `${catalog.warehouse.location}/mine/t`
  const { json } = await create({ name: 'placed', schema: SCHEMA, location: `${location}/` })
  expect(textAt(json, 'metadata', 'location')).toBe(location)
})

it.each([
  's3://bucket/t',
  'file:///etc/t',
  '/etc/t',
  'relative/t',
  'WAREHOUSE',
  'WAREHOUSE/../up',
  'WAREHOUSE/%2e%2e/up',
  'WAREHOUSE/./x',
  'WAREHOUSE//x',
  'WAREHOUSE/a\\b',
  `WAREHOUSE/${'x'.repeat(256)}`,
])('refuses the location %s', async (template) => {
  const location = template.replace('WAREHOUSE', catalog.warehouse.location)
  for (const stage of [true, false]) {
    const answer = await create({ name: 'bad', schema: SCHEMA, location, 'stage-create': stage })
    expect(answer.status).toBe(400)
    expect(errorOf(answer).code).toBe(400)
  }
})

it('I15 refuses to overlap with another table, above, at or below it (B195)', async () => {
  const location = `${catalog.warehouse.location}/other/secret`
  await create({ name: 'owner', schema: SCHEMA, location })
  const taken = [
    location,
    `${location}/`,
    `${location}/data`,
    `${catalog.warehouse.location}/other`,
  ]
  for (const [index, wanted] of taken.entries()) {
    for (const stage of [true, false]) {
      const body = { name: `o${index}`, schema: SCHEMA, location: wanted, 'stage-create': stage }
      const answer = await create(body)
      expect(answer.status, wanted).toBe(400)
      expect(errorOf(answer).message).toContain('overlaps')
    }
  }
  const beside = { name: 'beside', schema: SCHEMA, location: `${location}2` }
  expect((await create(beside)).status).toBe(200)
})

it.each(['write.metadata.path', 'write.data.path'])(
  'keeps %s inside the warehouse',
  async (key) => {
    const outside = await create({
      name: 'p',
      schema: SCHEMA,
      properties: { [key]: 'file:///etc' },
    })
    expect(outside.status).toBe(400)
    const victim = `${catalog.warehouse.location}/other/secret/x`
    const foreign = await create({ name: 'p', schema: SCHEMA, properties: { [key]: victim } })
    expect(foreign.status).toBe(400)
    const path = `${catalog.warehouse.location}/elsewhere/${key}`
    const inside = await create({ name: key, schema: SCHEMA, properties: { [key]: path } })
    expect(inside.status).toBe(200)
  },
)

it('B023: stages without a trace in the catalog, and makes the folders', async () => {
  const body = { name: 'staged', schema: SCHEMA, 'stage-create': true }
  const { status, json } = await create(body)
  expect(status).toBe(200)
  expect(member(json, 'metadata-location')).toBeNull()
  const folder = textAt(json, 'metadata', 'location').replace('file://', '')
  expect(readdirSync(folder).sort()).toEqual(['data', 'metadata'])
  expect((await catalog.call('HEAD', `${TABLES}/staged`)).status).toBe(404)
  const listed = (await catalog.call('GET', TABLES)).json
  expect(member(listed, 'identifiers')).not.toContainEqual({ namespace: ['ns'], name: 'staged' })
  const rows = await catalog.database.query(`select id from catalog_table where name = 'staged'`)
  expect(rows).toEqual([])
  expect((await create(body)).status).toBe(200)
})

it('answers 404 for a namespace that is missing', async () => {
  const answer = await create({ name: 't', schema: SCHEMA }, '/v1/main/namespaces/nope/tables')
  expect(answer.status).toBe(404)
  expect(errorOf(answer)).toMatchObject({
    type: 'NoSuchNamespaceException',
    message: 'Cannot create table nope.t. Namespace does not exist: nope',
  })
})

it('answers 409 for a name that is taken, staged or not, and leaves no file', async () => {
  await create({ name: 'taken', schema: SCHEMA })
  const files = () => countFiles(catalog.directory)
  const before = files()
  for (const stage of [true, false]) {
    const answer = await create({ name: 'taken', schema: SCHEMA, 'stage-create': stage })
    expect(answer.status).toBe(409)
    expect(errorOf(answer)).toMatchObject({
      type: 'AlreadyExistsException',
      message: 'Table already exists: ns.taken',
    })
  }
  expect(files()).toBe(before)
})

it('lets one of many creators of a name win, and keeps one file', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => create({ name: 'raced', schema: SCHEMA })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
})

it('B007: keeps a dot in a table name apart from a nested namespace', async () => {
  await catalog.call('POST', '/v1/main/namespaces', { body: { namespace: ['ns', 'web'] } })
  const dotted = await create({ name: 'web.events', schema: SCHEMA })
  const nested = await create(
    { name: 'events', schema: SCHEMA },
    '/v1/main/namespaces/ns%1Fweb/tables',
  )
  const locations = [dotted, nested].map(({ json }) => textAt(json, 'metadata', 'location'))
  expect(locations[0]).not.toContain('web.events')
  expect(new Set(locations).size).toBe(2)
})

it('B008: names that differ in case are two tables with two locations', async () => {
  const upper = await create({ name: 'Orders', schema: SCHEMA })
  const lower = await create({ name: 'orders', schema: SCHEMA })
  expect([upper.status, lower.status]).toEqual([200, 200])
  await catalog.call('DELETE', `${TABLES}/Orders?purgeRequested=true`)
  expect((await catalog.call('GET', `${TABLES}/orders`)).text).toBe(lower.text)
})

const ODD_NAMES = [
  'Special-Table!_With.Multiple_Uses_Of@Chars#-Here~And*Here!name',
  'caf\u00e9',
  'cafe\u0301',
  '\u{1F986}',
  'a?b;c"d\\e/f%2F%',
  'rename',
  'namespaces',
  '*',
  'x y+z',
  '$files',
  'history',
]

it.each(ODD_NAMES)(
  'I17 the name %s survives create, list, load, rename and drop, and no path holds it raw (B010)',
  async (name) => {
    expect((await create({ name, schema: SCHEMA })).status).toBe(200)
    const path = `${TABLES}/${segment(name)}`
    const { json } = await catalog.call('GET', TABLES)
    expect(member(json, 'identifiers')).toContainEqual({ namespace: ['ns'], name })
    expect((await catalog.call('HEAD', path)).status).toBe(204)
    const identifier = (text: string) => ({ namespace: ['ns'], name: text })
    const body = { source: identifier(name), destination: identifier(`${name}~`) }
    expect((await catalog.call('POST', '/v1/main/tables/rename', { body })).status).toBe(204)
    const moved = await catalog.call('GET', `${path}~`)
    expect(textAt(moved.json, 'metadata', 'location')).not.toMatch(/[?#%*\\ ]/)
    expect((await catalog.call('DELETE', `${path}~`)).status).toBe(204)
  },
)

const REFUSED: readonly (readonly [string, JsonObject])[] = [
  ['without a schema', { name: 'x' }],
  ['without a name', { schema: SCHEMA }],
  ['with an empty name', { name: '', schema: SCHEMA }],
  ['with the name ..', { name: '..', schema: SCHEMA }],
  ['with format version 9', { name: 'x', schema: SCHEMA, properties: { 'format-version': '9' } }],
  ['with a numeric property', { name: 'x', schema: SCHEMA, properties: { a: 1n } }],
  [
    'with an unknown type',
    {
      name: 'x',
      schema: { ...SCHEMA, fields: [{ id: 1n, name: 'a', required: true, type: 'blob' }] },
    },
  ],
]

it.each(REFUSED)('refuses a request %s', async (_what, body) => {
  expect((await create(body)).status).toBe(400)
})

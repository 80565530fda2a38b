import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWarehouse, ensureWarehouse } from '@timelake/database/warehouses'
import { encodeWarehouseSettings } from '../catalog/warehouse.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, member, textAt } from '../test-json.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.stop())

it('always gives a prefix, both maps, the separator and the lifetime of idempotency keys', async () => {
  const { status, json } = await catalog.call('GET', '/v1/config?warehouse=main')
  expect(status).toBe(200)
  expect(json).toMatchObject({
    defaults: {},
    overrides: { prefix: 'main', 'namespace-separator': '%1F' },
    'idempotency-key-lifetime': 'PT24H',
  })
})

it.each(['/v1/config', '/v1/config?warehouse='])(
  'takes the default warehouse for %s',
  async (path) => {
    const { json } = await catalog.call('GET', path)
    expect(textAt(json, 'overrides', 'prefix')).toBe('main')
  },
)

it('B011: refuses an unknown warehouse instead of answering for another', async () => {
  const answer = await catalog.call('GET', '/v1/config?warehouse=nope')
  expect(answer.status).toBe(404)
  expect(errorOf(answer)).toEqual({
    type: 'NoSuchWarehouseException',
    code: 404,
    message: 'Warehouse does not exist: nope',
  })
})

it('leads every warehouse to its own namespaces, also when its name needs encoding (B011, B013)', async () => {
  for (const [id, name] of [
    ['w1', 'wh1'],
    ['w2', 'team a/prod'],
    ['w3', 'arn:x:1:b/c%2F+'],
  ] as const) {
    const location = `${catalog.warehouse.location}-${id}`
    await ensureWarehouse(catalog.database, { id, name, location, nowMs: 1 })
    const config = await catalog.call('GET', `/v1/config?warehouse=${encodeURIComponent(name)}`)
    const prefix = textAt(config.json, 'overrides', 'prefix')
    const body = { namespace: [`only in ${id}`] }
    const made = await catalog.call('POST', `/v1/${prefix}/namespaces`, { body })
    expect(made.status, made.text).toBe(200)
    const listed = await catalog.call('GET', `/v1/${prefix}/namespaces`)
    expect(member(listed.json, 'namespaces')).toEqual([[`only in ${id}`]])
  }
  const { json } = await catalog.call('GET', '/v1/main/namespaces')
  expect(member(json, 'namespaces')).toEqual([])
})

it('tells clients of a bucket how to reach it, and lets the operator say otherwise', async () => {
  const profile = { type: 's3', endpoint: 'http://h:1', region: 'eu', 'path-style': true }
  const made = await createWarehouse(
    catalog.database,
    {
      id: 's3',
      name: 'bucket',
      location: 's3://lake/x',
      storageProfile: JSON.stringify(profile),
      sealedCredentials: 'v1.sealed',
      settings: encodeWarehouseSettings({
        allowedLocations: [],
        defaults: { 's3.region': 'other', 'io-impl': 'x' },
        overrides: { uri: 'https://lake.example', 's3.path-style-access': 'false' },
        delegation: [],
      }),
      nowMs: 1,
    },
    () => false,
  )
  expect(made.outcome).toBe('created')
  const { json, text } = await catalog.call('GET', '/v1/config?warehouse=bucket')
  expect(member(json, 'defaults')).toEqual({
    's3.endpoint': 'http://h:1',
    's3.region': 'other',
    'client.region': 'eu',
    's3.path-style-access': 'true',
    'io-impl': 'x',
  })
  expect(member(json, 'overrides')).toEqual({
    uri: 'https://lake.example',
    's3.path-style-access': 'false',
    prefix: 'bucket',
    'namespace-separator': '%1F',
  })
  expect(text).not.toContain('sealed')
})

it('says that a warehouse must be named where there is no default one', async () => {
  const other = await openTestCatalog({ config: { defaultWarehouse: 'nowhere' } })
  try {
    const answer = await other.call('GET', '/v1/config')
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toBe(
      'warehouse: name one: there is no default warehouse nowhere',
    )
    expect((await other.call('GET', '/v1/config?warehouse=main')).status).toBe(200)
    expect((await other.call('GET', '/v1/config?warehouse=nowhere')).status).toBe(404)
  } finally {
    await other.stop()
  }
})

it('refuses a prefix that is no warehouse', async () => {
  const answer = await catalog.call('GET', '/v1/other/namespaces')
  expect(answer.status).toBe(404)
  expect(errorOf(answer).type).toBe('NoSuchWarehouseException')
})

const announced = async (): Promise<string[]> =>
  member((await catalog.call('GET', '/v1/config')).json, 'endpoints') as string[]

it('announces exactly the routes that are there', async () => {
  const endpoints = await announced()
  expect(endpoints).toHaveLength(30)
  for (const endpoint of endpoints) {
    const [method = '', template = ''] = endpoint.split(' ')
    const path = template.replace('{prefix}', 'main').replaceAll(/\{[\w-]+\}/g, 'x')
    const answer = await catalog.call(method, path)
    expect([200, 204, 400, 403, 404], `${endpoint}: ${answer.status}`).toContain(answer.status)
    if (answer.status === 400) expect(errorOf(answer).message).not.toMatch(/^No route/)
  }
})

it('B013: refuses no verbatim use of the prefix', async () => {
  const { json } = await catalog.call('GET', '/v1/config')
  const prefix = textAt(json, 'overrides', 'prefix')
  expect(prefix).toMatch(/^[A-Za-z0-9_-]+$/)
  expect((await catalog.call('GET', `/v1/${prefix}/namespaces`)).status).toBe(200)
})

it.each([
  ['GET', 'namespaces/a/functions', 406],
  ['POST', 'namespaces/a/tables/t/unregister', 406],
])('answers %s %s, which is not announced, with %i', async (method, path, status) => {
  const answer = await catalog.call(method, `/v1/main/${path}`)
  expect(answer.status).toBe(status)
  expect(errorOf(answer).code).toBe(status)
})

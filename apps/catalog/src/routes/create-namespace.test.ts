import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { errorOf } from '../test-json.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.stop())

const create = (body: JsonObject) => catalog.call('POST', '/v1/main/namespaces', { body })

it('answers with the properties and a computed location', async () => {
  const answer = await create({ namespace: ['a'], properties: { owner: 'me', empty: '' } })
  expect(answer.status).toBe(200)
  expect(answer.json).toMatchObject({
    namespace: ['a'],
    properties: { owner: 'me', empty: '', location: expect.stringContaining('/warehouse/a-') },
  })
})

it('refuses a name that is taken', async () => {
  await create({ namespace: ['taken'] })
  const answer = await create({ namespace: ['taken'] })
  expect(answer.status).toBe(409)
  expect(errorOf(answer)).toMatchObject({
    type: 'AlreadyExistsException',
    message: 'Cannot create namespace taken. Namespace already exists',
  })
})

it('refuses a nested name whose parent is missing', async () => {
  const answer = await create({ namespace: ['missing', 'child'] })
  expect(answer.status).toBe(404)
  expect(errorOf(answer).type).toBe('NoSuchNamespaceException')
})

it('keeps an own location inside the warehouse', async () => {
  const location = `${catalog.warehouse.location}/own`
  const answer = await create({ namespace: ['own'], properties: { location } })
  expect(answer.json).toMatchObject({ properties: { location } })
})

it.each(['s3://other/x', 'file:///tmp/ns', 'relative', '', '../up', '%2e%2e/x'])(
  'B193: refuses the location %s',
  async (location) => {
    const answer = await create({ namespace: ['outside'], properties: { location } })
    expect(answer.status).toBe(400)
    expect(errorOf(answer).code).toBe(400)
  },
)

it('names the location and the allowed prefixes in the refusal', async () => {
  const properties = { location: 's3://other/x' }
  const answer = await create({ namespace: ['outside'], properties })
  expect(errorOf(answer).message).toContain('s3://other/x')
  expect(errorOf(answer).message).toContain(catalog.warehouse.location)
})

const IMPOSSIBLE: readonly string[] = [
  '{}',
  '{"namespace":"a"}',
  '{"namespace":[]}',
  '{"namespace":[""]}',
  '{"namespace":["."]}',
  '{"namespace":[".."]}',
  '{"namespace":["a\\u0000b"]}',
  '{"namespace":["a\\u001fb"]}',
  '{"namespace":["a\\nb"]}',
  '{"namespace":["\\ud800"]}',
  `{"namespace":["${'x'.repeat(2000)}"]}`,
  '{"namespace":["a"],"properties":{"p":1}}',
  '{"namespace":["p"],"properties":{"p":"\\u0000"}}',
]

it.each(IMPOSSIBLE)('refuses %s', async (body) => {
  const answer = await catalog.call('POST', '/v1/main/namespaces', { body })
  expect(answer.status).toBe(400)
  expect(errorOf(answer).code).toBe(400)
})

it.each(['', '{bad', '[]', '"x"', 'null', '{"namespace":["a"]} x'])(
  'refuses the body %s',
  async (body) => {
    const answer = await catalog.call('POST', '/v1/main/namespaces', { body })
    expect(answer.status).toBe(400)
  },
)

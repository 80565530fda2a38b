import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf } from '../test-json.ts'
import { makeNamespace } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.stop())

it('gives the exact levels, the properties and the location', async () => {
  const path = await makeNamespace(catalog, ['A.b'], { k: 'v' })
  const answer = await catalog.call('GET', path)
  expect(answer.json).toMatchObject({
    namespace: ['A.b'],
    properties: { k: 'v', location: expect.stringContaining(catalog.warehouse.location) },
  })
})

it('answers 404 for one that is missing', async () => {
  const answer = await catalog.call('GET', '/v1/main/namespaces/nope')
  expect(answer.status).toBe(404)
  expect(errorOf(answer)).toMatchObject({
    type: 'NoSuchNamespaceException',
    message: 'Namespace does not exist: nope',
  })
})

it('B002: takes + and %20 as a space, and %2B as a plus', async () => {
  await makeNamespace(catalog, ['a b'], { is: 'space' })
  await makeNamespace(catalog, ['a+b'], { is: 'plus' })
  for (const raw of ['a+b', 'a%20b']) {
    const { json } = await catalog.call('GET', `/v1/main/namespaces/${raw}`)
    expect(json).toMatchObject({ namespace: ['a b'], properties: { is: 'space' } })
  }
  const { json } = await catalog.call('GET', '/v1/main/namespaces/a%2Bb')
  expect(json).toMatchObject({ properties: { is: 'plus' } })
})

it.each(['%F0%27%22', '%a', '%00', '%C0%AF', '%2E%2E', 'a%1F%1Fb', '%1F', 'x'.repeat(5000)])(
  'B218: refuses the path segment %s',
  async (raw) => {
    const answer = await catalog.call('GET', `/v1/main/namespaces/${raw}`)
    expect(answer.status).toBe(400)
    expect(errorOf(answer).code).toBe(400)
  },
)

it('tells a dot inside a level from the separator', async () => {
  await makeNamespace(catalog, ['x'])
  await makeNamespace(catalog, ['x', 'y'], { is: 'nested' })
  await makeNamespace(catalog, ['x.y'], { is: 'dotted' })
  const nested = await catalog.call('GET', '/v1/main/namespaces/x%1fy')
  expect(nested.json).toMatchObject({ namespace: ['x', 'y'], properties: { is: 'nested' } })
  const dotted = await catalog.call('GET', '/v1/main/namespaces/x.y')
  expect(dotted.json).toMatchObject({ namespace: ['x.y'], properties: { is: 'dotted' } })
})

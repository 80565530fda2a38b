import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { SCHEMA } from '../test-bodies.ts'
import { errorOf } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.stop())

it('drops an empty one', async () => {
  const path = await makeNamespace(catalog, ['empty'])
  const answer = await catalog.call('DELETE', path)
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect((await catalog.call('HEAD', path)).status).toBe(404)
})

it('answers 404 for one that is missing', async () => {
  const answer = await catalog.call('DELETE', '/v1/main/namespaces/nope')
  expect(answer.status).toBe(404)
  expect(errorOf(answer).message).toBe('Namespace does not exist: nope')
})

it('B226: refuses while a table or a child is in it', async () => {
  const path = await makeNamespace(catalog, ['full'])
  await makeTable(catalog, { levels: ['full'], name: 't' })
  const withTable = await catalog.call('DELETE', path)
  expect(withTable.status).toBe(409)
  expect(errorOf(withTable)).toMatchObject({
    type: 'NamespaceNotEmptyException',
    message: 'Namespace full is not empty. Contains 1 table(s).',
  })
  const parent = await makeNamespace(catalog, ['parent'])
  await makeNamespace(catalog, ['parent', 'child'])
  const withChild = await catalog.call('DELETE', parent)
  expect(errorOf(withChild).type).toBe('NamespaceNotEmptyException')
})

it('B226: never leaves a table in a namespace that is gone', async () => {
  for (let round = 0; round < 20; round += 1) {
    const levels = [`race${round}`]
    const path = await makeNamespace(catalog, levels)
    const [dropped, made] = await Promise.all([
      catalog.call('DELETE', path),
      catalog.call('POST', `${path}/tables`, { body: { name: 't', schema: SCHEMA } }),
    ])
    const isThere = (await catalog.call('HEAD', path)).status === 204
    expect([dropped.status, made.status]).toEqual(isThere ? [409, 200] : [204, 404])
  }
})

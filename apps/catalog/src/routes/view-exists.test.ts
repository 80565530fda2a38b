import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'
import { makeView } from '../test-views.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

it('is true for views and false for everything else, without a body', async () => {
  const view = await makeView(catalog, { levels: ['ns'], name: 'v' })
  const table = await makeTable(catalog, { levels: ['ns'], name: 't' })
  const cases: readonly (readonly [string, number])[] = [
    [view.path, 204],
    [view.path.replace('/views/', '/tables/'), 404],
    [table.path, 204],
    [table.path.replace('/tables/', '/views/'), 404],
    [`${view.path}2`, 404],
    ['/v1/main/namespaces/nope/views/v', 404],
    ['/v1/main/namespaces/ns/views/%', 400],
  ]
  for (const [path, status] of cases) {
    const answer = await catalog.call('HEAD', path)
    expect([path, answer.status, answer.text]).toEqual([path, status, ''])
  }
})

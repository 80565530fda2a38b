import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

it('answers 204 or 404 without a body', async () => {
  const { path } = await makeTable(catalog, { levels: ['ns'], name: 't' })
  for (const [target, status] of [
    [path, 204],
    [`${path}x`, 404],
    [`${path}%`, 400],
  ] as const) {
    const answer = await catalog.call('HEAD', target)
    expect([answer.status, answer.text]).toEqual([status, ''])
  }
})

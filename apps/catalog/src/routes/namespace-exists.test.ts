import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { makeNamespace } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.stop())

it('answers 204 or 404 without a body', async () => {
  const path = await makeNamespace(catalog, ['a'])
  for (const [target, status] of [
    [path, 204],
    [`${path}x`, 404],
    [`${path}%`, 400],
  ] as const) {
    const answer = await catalog.call('HEAD', target)
    expect(answer.status).toBe(status)
    expect(answer.text).toBe('')
    expect(answer.headers['content-type']).toBeUndefined()
  }
})

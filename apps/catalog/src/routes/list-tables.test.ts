import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.stop())

it('gives exact identifiers by name, in pages when asked', async () => {
  const path = await makeNamespace(catalog, ['A b'])
  for (const name of ['t2', 'T1', 'x/y']) await makeTable(catalog, { levels: ['A b'], name })
  const all = await catalog.call('GET', `${path}/tables`)
  const identifiers = ['T1', 't2', 'x/y'].map((name) => ({ namespace: ['A b'], name }))
  expect(all.json).toEqual({ identifiers, 'next-page-token': null })
  const first = await catalog.call('GET', `${path}/tables?pageSize=2`)
  expect(first.json).toMatchObject({ identifiers: identifiers.slice(0, 2) })
  const token = textAt(first.json, 'next-page-token')
  const second = await catalog.call('GET', `${path}/tables?pageToken=${token}&pageSize=2`)
  expect(second.json).toEqual({ identifiers: identifiers.slice(2), 'next-page-token': null })
})

it('answers 404 for a namespace that is missing', async () => {
  const answer = await catalog.call('GET', '/v1/main/namespaces/nope/tables')
  expect(answer.status).toBe(404)
  expect(errorOf(answer)).toMatchObject({
    type: 'NoSuchNamespaceException',
    message: 'Cannot list tables for namespace. Namespace does not exist: nope',
  })
})

it('refuses a bad page', async () => {
  const answer = await catalog.call('GET', '/v1/main/namespaces/A+b/tables?pageSize=0')
  expect(answer.status).toBe(400)
})

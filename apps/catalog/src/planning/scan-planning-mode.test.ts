import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { member } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'
import { PLANNING_MODE_PROPERTY } from './scan-planning-mode.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

it.each([
  ['server', { 'scan-planning-mode': 'server' }],
  [' Client ', { 'scan-planning-mode': 'client' }],
  ['both', {}],
])('answers loads of a table that says %s with %o', async (text, config) => {
  const name = `t${text.trim().toLowerCase()}`
  const properties = { [PLANNING_MODE_PROPERTY]: text }
  const { path } = await makeTable(catalog, { levels: ['ns'], name, more: { properties } })
  const plain = await catalog.call('GET', path)
  expect(member(plain.json, 'config')).toEqual(config)
  const refs = await catalog.call('GET', `${path}?snapshots=refs`)
  expect(member(refs.json, 'config')).toEqual(config)
})

it('says nothing of a table that says nothing', async () => {
  const { path } = await makeTable(catalog, { levels: ['ns'], name: 'plain' })
  expect(member((await catalog.call('GET', path)).json, 'config')).toEqual({})
})

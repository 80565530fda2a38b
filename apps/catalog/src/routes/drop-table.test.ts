import { afterAll, beforeAll, expect, it } from 'vitest'
import { isLocationBelow } from '@timelake/iceberg/spec/location'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { countFiles } from '../test-files.ts'
import { errorOf } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const dropped = () =>
  catalog.database.query<{ name: string; purge_requested: boolean }>(
    'select name, purge_requested from dropped_table order by dropped_at_ms, name',
  )

it.each([
  ['plain', '', false],
  ['no', '?purgeRequested=False', false],
  ['yes', '?purgeRequested=true', true],
  ['pythonic', '?purgeRequested=True', true],
  ['shouted', '?purgeRequested=TRUE', true],
])('B079: drop %s%s records the purge and deletes no file', async (name, query, purge) => {
  const { path } = await makeTable(catalog, { levels: ['ns'], name })
  const before = countFiles(catalog.directory)
  const answer = await catalog.call('DELETE', path + query)
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect((await catalog.call('GET', path)).status).toBe(404)
  expect(countFiles(catalog.directory)).toBe(before)
  expect(await dropped()).toContainEqual({ name, purge_requested: purge })
})

it('the name is free at once after a purge, for another table in another folder (B081)', async () => {
  const first = await makeTable(catalog, { levels: ['ns'], name: 'reused' })
  expect((await catalog.call('DELETE', `${first.path}?purgeRequested=true`)).status).toBe(204)
  const second = await makeTable(catalog, { levels: ['ns'], name: 'reused' })
  expect(second.uuid).not.toBe(first.uuid)
  expect(isLocationBelow(first.location, second.location)).toBe(false)
})

it('files cannot be shared with a second table, so that no purge of one can hurt the other (B080)', async () => {
  for (const [name, collects] of [
    ['shared', 'true'],
    ['kept', 'false'],
  ] as const) {
    const properties = { 'gc.enabled': collects }
    const owner = await makeTable(catalog, { levels: ['ns'], name, more: { properties } })
    const body = { name: `${name}-copy`, 'metadata-location': owner.metadataLocation }
    const copy = await catalog.call('POST', '/v1/main/namespaces/ns/register', { body })
    expect(copy.status).toBe(400)
    expect(errorOf(copy).message).toContain('overlaps')
    expect((await catalog.call('GET', owner.path)).status).toBe(200)
  }
})

it('B079: refuses a value that is neither true nor false', async () => {
  const { path } = await makeTable(catalog, { levels: ['ns'], name: 'maybe' })
  for (const text of ['maybe', '1', 'yes', '', 'true%00']) {
    const answer = await catalog.call('DELETE', `${path}?purgeRequested=${text}`)
    expect(answer.status, text).toBe(400)
  }
  expect((await catalog.call('HEAD', path)).status).toBe(204)
})

it('answers 404 for a table that is missing', async () => {
  const answer = await catalog.call('DELETE', '/v1/main/namespaces/ns/tables/nope')
  expect(answer.status).toBe(404)
  expect(errorOf(answer).message).toBe('Table does not exist: ns.nope')
})

it('refuses commits that come after it', async () => {
  const { path } = await makeTable(catalog, { levels: ['ns'], name: 'late' })
  const body = { updates: [{ action: 'set-properties', updates: { a: 'b' } }] }
  const answers = await Promise.all([
    catalog.call('DELETE', path),
    catalog.call('POST', path, { body }),
  ])
  expect(answers[0].status).toBe(204)
  expect([200, 404]).toContain(answers[1].status)
  expect((await catalog.call('POST', path, { body })).status).toBe(404)
})

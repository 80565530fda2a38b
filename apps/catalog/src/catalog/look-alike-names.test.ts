import { afterAll, beforeAll, expect, it } from 'vitest'
import { isLocationBelow } from '@timelake/iceberg/spec/location'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable, segment } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.stop())

const NAMESPACES = '/v1/main/namespaces'
const uuidAt = async (path: string) =>
  textAt((await catalog.call('GET', path)).json, 'metadata', 'table-uuid')
const rename = (levels: readonly string[], from: string, to: string) =>
  catalog.call('POST', '/v1/main/tables/rename', {
    body: {
      source: { namespace: levels, name: from },
      destination: { namespace: levels, name: to },
    },
  })

function expectApart(one: string, other: string): void {
  expect(isLocationBelow(one, other) || isLocationBelow(other, one)).toBe(false)
}

it('a raw + in a path is a space for loads, commits and drops, whatever else exists (B002)', async () => {
  await makeNamespace(catalog, ['a b'])
  await makeNamespace(catalog, ['a+b'])
  const spaced = await makeTable(catalog, { levels: ['a b'], name: 'x y' })
  const plus = await makeTable(catalog, { levels: ['a+b'], name: 'x+y' })
  for (const path of ['a+b/tables/x+y', 'a%20b/tables/x%20y']) {
    expect(await uuidAt(`${NAMESPACES}/${path}`)).toBe(spaced.uuid)
  }
  const body = { updates: [{ action: 'set-properties', updates: { who: 'spaced' } }] }
  expect((await catalog.call('POST', `${NAMESPACES}/a+b/tables/x+y`, { body })).status).toBe(200)
  const other = await catalog.call('GET', `${NAMESPACES}/a%2Bb/tables/x%2By`)
  expect(other.json).toMatchObject({ 'metadata-location': plus.metadataLocation })
  expect((await catalog.call('DELETE', `${NAMESPACES}/a+b/tables/x+y`)).status).toBe(204)
  expect(await uuidAt(`${NAMESPACES}/a%2Bb/tables/x%2By`)).toBe(plus.uuid)
  expect((await catalog.call('HEAD', `${NAMESPACES}/a%2Bb/tables/x+y`)).status).toBe(404)
})

it('a dot in a name is listed, loaded and renamed apart from a nested namespace (B007)', async () => {
  await makeNamespace(catalog, ['app'])
  await makeNamespace(catalog, ['app', 'web'])
  const dotted = await makeTable(catalog, { levels: ['app'], name: 'web.events' })
  const nested = await makeTable(catalog, { levels: ['app', 'web'], name: 'events' })
  expectApart(dotted.location, nested.location)
  const list = await catalog.call('GET', `${NAMESPACES}/app/tables`)
  expect(member(list.json, 'identifiers')).toEqual([{ namespace: ['app'], name: 'web.events' }])
  expect((await rename(['app'], 'web.events', 'web.visits')).status).toBe(204)
  expect((await rename(['app', 'web'], 'events', 'visits')).status).toBe(204)
  expect(await uuidAt(`${NAMESPACES}/app/tables/web.visits`)).toBe(dotted.uuid)
  expect(await uuidAt(`${NAMESPACES}/app%1Fweb/tables/visits`)).toBe(nested.uuid)
})

it('I18 namespaces and tables that differ by letter case live beside each other, and a purge hits one (B008)', async () => {
  const names = [
    { levels: ['CustomerDB'], name: 'Orders' },
    { levels: ['customerdb'], name: 'orders' },
    { levels: ['customerdb'], name: 'ORDERS' },
  ]
  await makeNamespace(catalog, ['CustomerDB'])
  await makeNamespace(catalog, ['customerdb'])
  const made = []
  for (const name of names) made.push(await makeTable(catalog, name))
  const [first, second, third] = made
  expectApart(first?.location ?? '', second?.location ?? '')
  expectApart(second?.location ?? '', third?.location ?? '')
  const list = await catalog.call('GET', `${NAMESPACES}/CustomerDB/tables`)
  expect(member(list.json, 'identifiers')).toEqual([{ namespace: ['CustomerDB'], name: 'Orders' }])
  const purge = await catalog.call('DELETE', `${first?.path}?purgeRequested=true`)
  expect(purge.status).toBe(204)
  expect((await catalog.call('HEAD', `${NAMESPACES}/CustomerDB/tables/orders`)).status).toBe(404)
  expect(await uuidAt(second?.path ?? '')).toBe(second?.uuid)
  expect(await uuidAt(third?.path ?? '')).toBe(third?.uuid)
})

const ODD_NAMES = [
  'Special-Table!_With.Multiple_Uses_Of@Chars#-Here~And*Here!name',
  'caf\u00e9',
  'cafe\u0301',
  '\u{1F986}',
  'a?b;c"d\\e/f%2F%',
  '%',
  '%1F',
  '_%',
  '*',
  'tables',
]

it.each(ODD_NAMES)(
  'the namespace %s survives create, list, load, nesting and drop (B010)',
  async (name) => {
    const path = await makeNamespace(catalog, [name], { is: name })
    await makeNamespace(catalog, [name, name])
    const list = await catalog.call('GET', `${NAMESPACES}?pageSize=1000`)
    expect(member(list.json, 'namespaces')).toContainEqual([name])
    const below = await catalog.call('GET', `${NAMESPACES}?parent=${segment(name)}`)
    expect(member(below.json, 'namespaces')).toEqual([[name, name]])
    const loaded = await catalog.call('GET', path)
    expect(loaded.json).toMatchObject({ namespace: [name], properties: { is: name } })
    expect(textAt(loaded.json, 'properties', 'location')).not.toMatch(/[?#%*\\ ]/)
    expect((await catalog.call('HEAD', path)).status).toBe(204)
    const table = await makeTable(catalog, { levels: [name, name], name })
    expect(await uuidAt(table.path)).toBe(table.uuid)
    expect((await catalog.call('DELETE', table.path)).status).toBe(204)
    const inner = `${NAMESPACES}/${segment(name, name)}`
    expect((await catalog.call('DELETE', inner)).status).toBe(204)
    expect((await catalog.call('DELETE', path)).status).toBe(204)
  },
)

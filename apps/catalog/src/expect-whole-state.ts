import { expect } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { isLocationBelow } from '@timelake/iceberg/spec/location'
import type { TestCatalog } from './open-test-catalog.ts'
import { member, textAt } from './test-json.ts'
import { segment } from './test-tables.ts'

const PAGE_SIZE = 7
const NAMESPACES = '/v1/main/namespaces'

/**
 * Nothing is half there: every namespace, table and view that is listed can be loaded, both ways of listing tables agree,
 * no name has both a table and a view, and no table lies inside another.
 */
export async function expectWholeState(catalog: TestCatalog): Promise<void> {
  const listed: string[] = []
  const locations: string[] = []
  for (const levels of await allNamespaces(catalog)) {
    const path = `${NAMESPACES}/${segment(...levels)}`
    expect((await catalog.call('GET', path)).json).toMatchObject({ namespace: levels })
    for (const identifier of await pages(catalog, `${path}/tables`, 'identifiers')) {
      const name = textAt(identifier, 'name')
      const { status, json, text } = await catalog.call('GET', `${path}/tables/${segment(name)}`)
      expect(status, text).toBe(200)
      listed.push(JSON.stringify([levels, name, textAt(json, 'metadata', 'table-uuid')]))
      locations.push(textAt(json, 'metadata', 'location'))
    }
    for (const identifier of await pages(catalog, `${path}/views`, 'identifiers')) {
      const name = segment(textAt(identifier, 'name'))
      const { status, text } = await catalog.call('GET', `${path}/views/${name}`)
      expect(status, text).toBe(200)
      expect((await catalog.call('HEAD', `${path}/tables/${name}`)).status).toBe(404)
    }
  }
  const known = (await pages(catalog, '/admin/v1/tables', 'tables')).map((table) =>
    JSON.stringify([
      member(table, 'namespace'),
      textAt(table, 'name'),
      textAt(table, 'table-uuid'),
    ]),
  )
  expect(listed.sort()).toEqual(known.sort())
  expectApart(locations)
}

function expectApart(locations: readonly string[]): void {
  for (const [index, location] of locations.entries()) {
    const others = locations.filter((_, other) => other !== index)
    expect(others.filter((other) => isLocationBelow(location, other))).toEqual([])
  }
}

async function allNamespaces(catalog: TestCatalog, parent: string[] = []): Promise<string[][]> {
  const query = parent.length === 0 ? '' : `?parent=${segment(...parent)}`
  // `as`: the route lists namespaces as lists of levels.
  const found = (await pages(
    catalog,
    `${NAMESPACES}${query}`,
    'namespaces',
  )) as unknown[] as string[][]
  const below = []
  for (const levels of found) below.push(levels, ...(await allNamespaces(catalog, levels)))
  return below
}

async function pages(catalog: TestCatalog, path: string, name: string): Promise<JsonObject[]> {
  const items: JsonObject[] = []
  let token = ''
  do {
    const separator = path.includes('?') ? '&' : '?'
    const query = `pageSize=${PAGE_SIZE}&pageToken=${token}`
    const { status, json, text } = await catalog.call('GET', `${path}${separator}${query}`)
    expect(status, text).toBe(200)
    items.push(...(member(json, name) as JsonObject[]))
    token = String(member(json, 'next-page-token') ?? '')
  } while (token !== '')
  return items
}

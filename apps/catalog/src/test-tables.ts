import { member, textAt } from './test-json.ts'
import { expect } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { TestCatalog } from './open-test-catalog.ts'
import { SCHEMA } from './test-bodies.ts'

export interface TestTable {
  /** Path of the table's routes. */
  readonly path: string
  readonly location: string
  readonly metadataLocation: string
  readonly uuid: string
}

/** The raw path segment of a namespace or a table. */
export function segment(...levels: readonly string[]): string {
  return levels.map(encodeURIComponent).join('%1F')
}

/** Creates a namespace and fails the test unless that works. */
export async function makeNamespace(
  catalog: TestCatalog,
  levels: readonly string[],
  properties: JsonObject = {},
): Promise<string> {
  const body = { namespace: levels, properties }
  const answer = await catalog.call('POST', '/v1/main/namespaces', { body })
  expect(answer.status, answer.text).toBe(200)
  return `/v1/main/namespaces/${segment(...levels)}`
}

/** Creates a table in a namespace that exists. */
export async function makeTable(
  catalog: TestCatalog,
  table: { readonly levels: readonly string[]; readonly name: string; readonly more?: JsonObject },
): Promise<TestTable> {
  const tables = `/v1/main/namespaces/${segment(...table.levels)}/tables`
  const body = { name: table.name, schema: SCHEMA, ...table.more }
  const answer = await catalog.call('POST', tables, { body })
  expect(answer.status, answer.text).toBe(200)
  const metadata = member(answer.json, 'metadata')
  return {
    path: `${tables}/${segment(table.name)}`,
    location: textAt(metadata, 'location'),
    metadataLocation: textAt(answer.json, 'metadata-location'),
    uuid: textAt(metadata, 'table-uuid'),
  }
}

import { expect } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { TestCatalog } from './open-test-catalog.ts'
import { SCHEMA } from './test-bodies.ts'
import { member, textAt } from './test-json.ts'
import { segment } from './test-tables.ts'

/** The JSON of a version as clients send it with a create. */
export function viewVersion(sql: string, more: JsonObject = {}): JsonObject {
  return {
    'version-id': 1n,
    'schema-id': -1n,
    'timestamp-ms': 1_700_000_000_000n,
    summary: { 'engine-name': 'test' },
    representations: [{ type: 'sql', sql, dialect: 'spark' }],
    'default-namespace': ['ns'],
    ...more,
  }
}

/** The body of a create. */
export function viewBody(name: string, more: JsonObject = {}): JsonObject {
  return { name, schema: SCHEMA, 'view-version': viewVersion('select 1'), properties: {}, ...more }
}

/** The body of a commit that replaces the query. */
export function replaceBody(uuid: string, sql: string, more: JsonObject = {}): JsonObject {
  return {
    requirements: [{ type: 'assert-view-uuid', uuid }],
    updates: [
      {
        action: 'add-view-version',
        'view-version': viewVersion(sql, { 'schema-id': 0n, ...more }),
      },
      { action: 'set-current-view-version', 'view-version-id': -1n },
    ],
  }
}

/** The body of a commit that sets one property. */
export function propertyBody(value: string): JsonObject {
  return { updates: [{ action: 'set-properties', updates: { value } }] }
}

export interface TestView {
  /** Path of the view's routes. */
  readonly path: string
  readonly location: string
  readonly metadataLocation: string
  readonly uuid: string
}

/** Creates a view in a namespace that exists. */
export async function makeView(
  catalog: TestCatalog,
  view: { readonly levels: readonly string[]; readonly name: string; readonly more?: JsonObject },
): Promise<TestView> {
  const views = `/v1/main/namespaces/${segment(...view.levels)}/views`
  const answer = await catalog.call('POST', views, { body: viewBody(view.name, view.more) })
  expect(answer.status, answer.text).toBe(200)
  const metadata = member(answer.json, 'metadata')
  return {
    path: `${views}/${segment(view.name)}`,
    location: textAt(metadata, 'location'),
    metadataLocation: textAt(answer.json, 'metadata-location'),
    uuid: textAt(metadata, 'view-uuid'),
  }
}

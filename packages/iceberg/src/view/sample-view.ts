import type { Schema } from '../spec/schema.ts'
import { applyViewCommit } from './apply-view-commit.ts'
import { newViewMetadata } from './new-view-metadata.ts'
import type { ViewMetadata, ViewRepresentation, ViewVersion } from './view-metadata.ts'
import type { ViewUpdate } from './view-update.ts'

// Views for tests; nothing but tests imports this file.

export const CREATED_MS = 1_000
export const COMMIT_MS = 2_000
export const VIEW_UUID = '9c12d441-03fe-4693-9a96-a0705ddf69c1'

/** A query in one dialect. */
export function sql(text: string, dialect = 'spark'): ViewRepresentation {
  return { kind: 'sql', sql: text, dialect }
}

/** A version as clients send it. */
export function version(
  text: string,
  more: Partial<ViewVersion> & { readonly dialects?: readonly string[] } = {},
): ViewVersion {
  const { dialects = ['spark'], ...members } = more
  return {
    versionId: 1,
    schemaId: -1,
    timestampMs: CREATED_MS,
    summary: { 'engine-name': 'test' },
    representations: dialects.map((dialect) => sql(text, dialect)),
    defaultNamespace: ['ns'],
    ...members,
  }
}

/** A schema of optional longs; its id is never the one that a view gives it. */
export function schemaNamed(...names: readonly string[]): Schema {
  const fields = names.map((name, index) => ({
    id: index + 1,
    name,
    required: false,
    type: { kind: 'long' as const },
  }))
  return { schemaId: 7, fields, identifierFieldIds: [] }
}

/** A view of one version, 1, of `select 1`. */
export function sampleView(
  more: {
    readonly properties?: Readonly<Record<string, string>>
    readonly viewVersion?: ViewVersion
  } = {},
): ViewMetadata {
  return newViewMetadata(
    { schema: schemaNamed('a'), viewVersion: version('select 1'), properties: {}, ...more },
    { viewUuid: VIEW_UUID, location: 'file:///warehouse/v', nowMs: CREATED_MS },
  )
}

/** The view after the updates. */
export function commit(base: ViewMetadata, updates: readonly ViewUpdate[]): ViewMetadata {
  return applyViewCommit(base, { requirements: [], updates }, { nowMs: COMMIT_MS })
}

/** What a client sends to replace the query: the version goes by the schema that is current. */
export function replaceWith(viewVersion: ViewVersion): ViewUpdate[] {
  return [
    { action: 'add-view-version', viewVersion },
    { action: 'set-current-view-version', viewVersionId: -1 },
  ]
}

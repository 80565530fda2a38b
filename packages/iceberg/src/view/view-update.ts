import type { Schema } from '../spec/schema.ts'
import type { ViewVersion } from './view-metadata.ts'

/** Every view update of the REST protocol. Spec: REST catalog, ViewUpdate. */
export type ViewUpdate =
  | { readonly action: 'assign-uuid'; readonly uuid: string }
  | { readonly action: 'upgrade-format-version'; readonly formatVersion: number }
  | { readonly action: 'add-schema'; readonly schema: Schema }
  | { readonly action: 'set-location'; readonly location: string }
  | { readonly action: 'set-properties'; readonly updates: Readonly<Record<string, string>> }
  | { readonly action: 'remove-properties'; readonly removals: readonly string[] }
  | { readonly action: 'add-view-version'; readonly viewVersion: ViewVersion }
  | { readonly action: 'set-current-view-version'; readonly viewVersionId: number }

/** Every view requirement of the REST protocol. */
export interface ViewRequirement {
  readonly type: 'assert-view-uuid'
  readonly uuid: string
}

export interface ViewCommitRequest {
  readonly requirements: readonly ViewRequirement[]
  readonly updates: readonly ViewUpdate[]
}

import { setProperties } from '../commit/property-updates.ts'
import { LAST_ADDED } from '../commit/table-update.ts'
import type { Schema } from '../spec/schema.ts'
import { ViewMetadataDraft } from './view-metadata-draft.ts'
import type { ViewMetadata, ViewVersion } from './view-metadata.ts'
import { addSchema, addViewVersion, setCurrentViewVersion, setLocation } from './view-updates.ts'

/** The members of a create request that shape the view. */
export interface NewView {
  readonly schema: Schema
  /** Its schema id is replaced by the id that the schema gets. */
  readonly viewVersion: ViewVersion
  readonly properties: Readonly<Record<string, string>>
}

export interface NewViewContext {
  readonly viewUuid: string
  readonly location: string
  readonly nowMs: number
}

/**
 * The first metadata of a view. The schema gets id 0 and keeps its field ids. Throws InvalidInputError for a view that
 * breaks the rules of the format. Spec: REST catalog, CreateViewRequest.
 */
export function newViewMetadata(view: NewView, context: NewViewContext): ViewMetadata {
  const { viewUuid, location, nowMs } = context
  const draft = new ViewMetadataDraft({ viewUuid, location: '' }, nowMs)
  setLocation(draft, location)
  setProperties(draft, view.properties)
  addSchema(draft, view.schema)
  addViewVersion(draft, { ...view.viewVersion, schemaId: LAST_ADDED })
  setCurrentViewVersion(draft, LAST_ADDED)
  return draft.finish()
}

import type { NamespaceRow } from '@timelake/database/namespaces'
import { extraViewRoots } from './view-location-rules.ts'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { insertRow, type NewRowOutcome } from './new-row.ts'
import { viewEventPayload } from './view-event-payloads.ts'
import type { WrittenView } from './write-view.ts'

export interface NewViewRow extends MutationScope {
  readonly namespace: NamespaceRow
  readonly name: string
  readonly written: WrittenView
  /** Whether this process wrote the file for this row; somebody else's file is never deleted. */
  readonly ownsFile: boolean
}

/** Makes the row of a view whose metadata file is written, as `insertRow` does, and keeps the metadata in memory. */
export async function insertViewRow(catalog: Catalog, view: NewViewRow): Promise<NewRowOutcome> {
  const { loaded, textBytes } = view.written
  const { location: metadataLocation, metadata } = loaded
  const outcome = await insertRow(catalog, {
    ...view,
    kind: 'view',
    uuid: metadata.viewUuid,
    location: metadata.location,
    extraRoots: extraViewRoots(metadata),
    metadataLocation,
    event: {
      kind: view.ownsFile ? 'view-created' : 'view-registered',
      payload: viewEventPayload({ metadataLocation, metadata }),
    },
  })
  if (outcome === 'created') catalog.views.put(view.warehouse, loaded, textBytes)
  return outcome
}

import { NoSuchViewError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { deleteViewFiles } from './delete-view-files.ts'
import { dropRow } from './drop-row.ts'
import type { TableIdentifier } from './table-identifier.ts'
import { viewDroppedPayload } from './view-event-payloads.ts'

export interface ViewDrop extends MutationScope {
  readonly identifier: TableIdentifier
}

/**
 * Removes the view from the catalog; its metadata files are deleted later and at best effort (`deleteViewFiles`).
 * Throws NoSuchViewError. Spec: REST catalog, dropView.
 */
export async function dropView(catalog: Catalog, drop: ViewDrop): Promise<void> {
  const row = await dropRow(catalog, {
    ...drop,
    kind: 'view',
    purgeRequested: false,
    eventOf: ({ metadataLocation }) => ({
      kind: 'view-dropped',
      payload: viewDroppedPayload(metadataLocation),
    }),
  })
  if (row === undefined) throw new NoSuchViewError(drop.identifier)
  deleteViewFiles(catalog, drop.warehouse, row)
}

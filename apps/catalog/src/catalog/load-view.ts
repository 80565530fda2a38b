import type { LoadedView } from '../cache/loaded-view.ts'
import { MetadataFileMissingError, NoSuchViewError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { findViewRow } from './find-row.ts'
import { hasMetadataFile } from './load-table.ts'
import type { TableIdentifier } from './table-identifier.ts'
import type { Warehouse } from './warehouse.ts'

/**
 * The newest metadata of a view. A name without a view costs no object read. Throws NoSuchViewError and
 * MetadataFileMissingError. Spec: REST catalog, loadView.
 */
export async function loadView(
  catalog: Catalog,
  warehouse: Warehouse,
  identifier: TableIdentifier,
): Promise<LoadedView> {
  const row = await findViewRow(catalog, warehouse, identifier)
  if (row === undefined) throw new NoSuchViewError(identifier)
  if (await hasMetadataFile(warehouse, row))
    return catalog.views.get(warehouse, row.metadataLocation)
  catalog.views.delete(warehouse, row.metadataLocation)
  throw new MetadataFileMissingError(row.metadataLocation)
}

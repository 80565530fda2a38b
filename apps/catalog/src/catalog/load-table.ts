import type { TableRow } from '@timelake/database/table-row'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { MetadataFileMissingError, NoSuchTableError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { findTableRow } from './find-row.ts'
import type { TableIdentifier } from './table-identifier.ts'
import type { Warehouse } from './warehouse.ts'

/**
 * The row of a table whose metadata file is proven to be there. Throws NoSuchTableError and MetadataFileMissingError.
 */
export async function findLoadableTable(
  catalog: Catalog,
  warehouse: Warehouse,
  identifier: TableIdentifier,
): Promise<TableRow> {
  const found = findTableRow(catalog, warehouse, identifier)
  const row = found instanceof Promise ? await found : found
  if (row === undefined) throw new NoSuchTableError(identifier)
  if (!(await hasMetadataFile(warehouse, row))) {
    catalog.metadata.delete(warehouse, row.metadataLocation)
    throw new MetadataFileMissingError(row.metadataLocation)
  }
  return row
}

/**
 * Whether the metadata file of a row is there: on a local warehouse anybody may have removed it, on an object store it is
 * taken for granted.
 */
export function hasMetadataFile(warehouse: Warehouse, row: TableRow): boolean | Promise<boolean> {
  const location = normalizeLocation(row.metadataLocation)
  if (!location.startsWith('file:')) return true
  return warehouse.store.stat(location).then((entry) => entry !== undefined)
}

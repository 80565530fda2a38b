import type { TableRow } from '@timelake/database/table-row'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { MetadataFileMissingError, NoSuchTableError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { TableIdentifier } from './table-identifier.ts'
import type { Warehouse } from './warehouse.ts'

/**
 * The row of a table whose metadata file is proven to be there: on a local warehouse anybody may have removed it, on an
 * object store a cached file is taken for granted. Throws NoSuchTableError and MetadataFileMissingError.
 */
export async function findLoadableTable(
  catalog: Catalog,
  warehouse: Warehouse,
  identifier: TableIdentifier,
): Promise<TableRow> {
  const found = catalog.pointers.find(warehouse.id, identifier)
  const row = found instanceof Promise ? await found : found
  if (row === undefined) throw new NoSuchTableError(identifier)
  const location = normalizeLocation(row.metadataLocation)
  if (!location.startsWith('file:')) return row
  const entry = await warehouse.store.stat(location)
  if (entry !== undefined) return row
  catalog.metadata.delete(warehouse, row.metadataLocation)
  throw new MetadataFileMissingError(row.metadataLocation)
}

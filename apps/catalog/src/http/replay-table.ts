import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { CommitStateUnknownError, MetadataFileMissingError } from '../catalog/catalog-errors.ts'
import type { Catalog, StoredOutcome } from '../catalog/catalog.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import type { HttpAnswer } from './exchange.ts'
import { storedAnswer } from './idempotency.ts'
import { changedTableAnswer } from './table-answer.ts'

/**
 * The answer of a mutation whose outcome is a metadata location: that metadata, or the table's newest when the file
 * has been deleted since. When neither can be read the answer is "unknown": the caller must not
 * take it for a failure and delete its files.
 */
export async function replayTable(
  catalog: Catalog,
  outcome: StoredOutcome,
  table: TableIdentifier & { readonly warehouse: Warehouse },
): Promise<HttpAnswer> {
  const { metadataLocation } = outcome
  if (metadataLocation === undefined) return storedAnswer(outcome)
  const loaded =
    (await readIfThere(catalog, table.warehouse, metadataLocation)) ??
    (await readNewest(catalog, table))
  if (loaded !== undefined) return changedTableAnswer(loaded)
  throw new CommitStateUnknownError('the request was applied, but its result is not there any more')
}

async function readNewest(
  catalog: Catalog,
  table: TableIdentifier & { readonly warehouse: Warehouse },
): Promise<LoadedMetadata | undefined> {
  const row = await catalog.pointers.find(table.warehouse.id, table)
  return row === undefined ? undefined : readIfThere(catalog, table.warehouse, row.metadataLocation)
}

async function readIfThere(
  catalog: Catalog,
  warehouse: Warehouse,
  location: string,
): Promise<LoadedMetadata | undefined> {
  try {
    return await catalog.metadata.get(warehouse, location)
  } catch (error) {
    if (error instanceof MetadataFileMissingError) return undefined
    throw error
  }
}

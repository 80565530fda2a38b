import type { LoadedView } from '../cache/loaded-view.ts'
import { MetadataFileMissingError, CommitStateUnknownError } from '../catalog/catalog-errors.ts'
import type { Catalog, StoredOutcome } from '../catalog/catalog.ts'
import { findViewRow } from '../catalog/find-row.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import { jsonTextAnswer, type HttpAnswer } from './exchange.ts'
import { storedAnswer } from './idempotency.ts'

/** The LoadViewResult of the metadata, from bytes that are made once and kept. */
export function viewAnswer(loaded: LoadedView): HttpAnswer {
  return jsonTextAnswer(200, loaded.body())
}

/**
 * The answer of a mutation whose outcome is a metadata location: that metadata, or the view's newest when the file is
 * gone. When neither can be read the answer is "unknown": the caller must not take it for a failure.
 */
export async function replayView(
  catalog: Catalog,
  outcome: StoredOutcome,
  view: TableIdentifier & { readonly warehouse: Warehouse },
): Promise<HttpAnswer> {
  const { metadataLocation } = outcome
  if (metadataLocation === undefined) return storedAnswer(outcome)
  const { warehouse } = view
  const loaded =
    (await readIfThere(catalog, warehouse, metadataLocation)) ?? (await readNewest(catalog, view))
  if (loaded !== undefined) return viewAnswer(loaded)
  throw new CommitStateUnknownError('the request was applied, but its result is not there any more')
}

async function readNewest(
  catalog: Catalog,
  view: TableIdentifier & { readonly warehouse: Warehouse },
): Promise<LoadedView | undefined> {
  const row = await findViewRow(catalog, view.warehouse, view)
  return row === undefined ? undefined : readIfThere(catalog, view.warehouse, row.metadataLocation)
}

async function readIfThere(
  catalog: Catalog,
  warehouse: Warehouse,
  location: string,
): Promise<LoadedView | undefined> {
  try {
    return await catalog.views.get(warehouse, location)
  } catch (error) {
    if (error instanceof MetadataFileMissingError) return undefined
    throw error
  }
}

import type { LoadedView } from '../cache/loaded-view.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { StoredOutcome } from '../catalog/mutation-scope.ts'
import { findViewRow } from '../catalog/find-row.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import { jsonTextAnswer, type HttpAnswer } from './exchange.ts'
import { replayLoaded } from './replay-loaded.ts'

/** The LoadViewResult of the metadata, from bytes that are made once and kept. */
export function viewAnswer(loaded: LoadedView): HttpAnswer {
  return jsonTextAnswer(200, loaded.body())
}

/** The answer of a mutation of a view, as `replayLoaded` makes it. */
export function replayView(
  catalog: Catalog,
  outcome: StoredOutcome,
  view: TableIdentifier & { readonly warehouse: Warehouse },
): Promise<HttpAnswer> {
  const { warehouse } = view
  return replayLoaded(outcome, {
    get: (location) => catalog.views.get(warehouse, location),
    findRow: () => findViewRow(catalog, warehouse, view),
    answer: viewAnswer,
  })
}

import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { loadETag, type MetadataView } from '../cache/loaded-metadata.ts'
import { findLoadableTable } from '../catalog/load-table.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { tableInPath } from '../http/path-names.ts'
import { queryParameter } from '../http/raw-path.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'
import { loadedTableAnswer, matchesETag } from '../http/table-answer.ts'
import { admitLoad, findInTurn } from '../turnstile/take-turns.ts'

/** GET …/tables/{table}: the metadata, or 304 when the caller has it already. */
export async function loadTable(call: RouteCall): Promise<HttpAnswer> {
  const { catalog, request } = call
  const view = viewInQuery(call.query)
  const warehouse = warehouseOf(call)
  const identifier = tableInPath(call)
  const admitted = await admitLoad(call, identifier)
  const row =
    admitted === undefined
      ? await findLoadableTable(catalog, warehouse, identifier)
      : await findInTurn(catalog, { warehouse, identifier }, admitted)
  const etag = loadETag(row.metadataLocation, view)
  if (matchesETag(request, etag)) return { status: 304, headers: { etag } }
  const location = row.metadataLocation
  const loaded =
    catalog.metadata.peek(warehouse, location) ?? (await catalog.metadata.get(warehouse, location))
  return loadedTableAnswer(request, loaded, view)
}

function viewInQuery(query: string): MetadataView {
  const text = queryParameter(query, 'snapshots')
  if (text === undefined || text === 'all') return 'all'
  if (text === 'refs') return 'refs'
  throw new InvalidInputError(`expected all or refs, got ${text}`, 'snapshots')
}

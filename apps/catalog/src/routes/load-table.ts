import type { TableRow } from '@timelake/database/table-row'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { findAccess, isAccessAsked } from '../access/delegate-access.ts'
import { loadETag, type LoadedMetadata, type MetadataView } from '../cache/loaded-metadata.ts'
import { findLoadableTable } from '../catalog/load-table.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { tableInPath } from '../http/path-names.ts'
import { queryParameter } from '../http/raw-path.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'
import { loadedTableAnswer, matchesETag } from '../http/table-answer.ts'
import { admitLoad, findInTurn } from '../turnstile/take-turns.ts'

/** GET …/tables/{table}: the metadata, or 304 when the caller has it already. */
export async function loadTable(call: RouteCall): Promise<HttpAnswer> {
  const { catalog } = call
  const view = viewInQuery(call.query)
  const warehouse = warehouseOf(call)
  const identifier = tableInPath(call)
  const admitted = await admitLoad(call, identifier)
  const row =
    admitted === undefined
      ? await findLoadableTable(catalog, warehouse, identifier)
      : await findInTurn(catalog, { warehouse, identifier }, admitted)
  return isAccessAsked(call, warehouse)
    ? answerWithAccess(call, { identifier, row, view })
    : answer(call, row, view)
}

async function answer(call: RouteCall, row: TableRow, view: MetadataView): Promise<HttpAnswer> {
  const { request } = call
  const etag = loadETag(row.metadataLocation, view)
  if (matchesETag(request, etag)) return { status: 304, headers: { etag } }
  const loaded = await metadataOf(call, row)
  return loadedTableAnswer(request, loaded, { view, access: undefined, etag })
}

/**
 * The tag holds the access too: 304 says that what the caller holds is what it would get now, of whose life half is left.
 */
async function answerWithAccess(
  call: RouteCall,
  { identifier, row, view }: { identifier: TableIdentifier; row: TableRow; view: MetadataView },
): Promise<HttpAnswer> {
  const { request } = call
  const warehouse = warehouseOf(call)
  const loaded = await metadataOf(call, row)
  const { metadata } = loaded
  const access = await findAccess(call, { warehouse, identifier, metadata, row })
  const etag = loaded.etag(view, access)
  if (matchesETag(request, etag)) return { status: 304, headers: { etag } }
  return loadedTableAnswer(request, loaded, { view, access, etag })
}

async function metadataOf(call: RouteCall, row: TableRow): Promise<LoadedMetadata> {
  const { metadata } = call.catalog
  const warehouse = warehouseOf(call)
  const location = row.metadataLocation
  return metadata.peek(warehouse, location) ?? (await metadata.get(warehouse, location))
}

function viewInQuery(query: string): MetadataView {
  const text = queryParameter(query, 'snapshots')
  if (text === undefined || text === 'all') return 'all'
  if (text === 'refs') return 'refs'
  throw new InvalidInputError(`expected all or refs, got ${text}`, 'snapshots')
}

import { listTables } from '@timelake/database/find-tables'
import type { RowKind } from '@timelake/database/table-row'
import { encodeTablePage } from '@timelake/iceberg/rest/listing-json'
import { findExistingNamespace } from '../catalog/find-existing-namespace.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { cutPage, readPageRequest, withLookahead } from '../http/page.ts'
import { namespaceInPath } from '../http/path-names.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/** A page of the tables, or of the views, of the namespace in the path, in the order of names. */
export async function listRows(call: RouteCall, kind: RowKind): Promise<HttpAnswer> {
  const { config, context } = call.catalog
  const levels = namespaceInPath(call)
  const request = readPageRequest(call.query, config.pageSizeMax)
  const namespace = await findExistingNamespace(call.catalog, warehouseOf(call), {
    levels,
    context: `Cannot list ${kind}s for namespace`,
  })
  const names = await listTables(context.database, {
    namespaceId: namespace.id,
    kind,
    ...withLookahead(request),
  })
  const page = cutPage(names, request, (name) => name)
  const items = page.items.map((name) => ({ namespace: levels, name }))
  return jsonAnswer(encodeTablePage({ ...page, items }))
}

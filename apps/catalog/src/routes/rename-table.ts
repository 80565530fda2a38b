import { decodeRenameTableRequest } from '@timelake/iceberg/rest/table-requests-json'
import { renameTable as renameCatalogTable } from '../catalog/rename-table.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'

/** POST /v1/{prefix}/tables/rename. */
export async function renameTable(call: RouteCall): Promise<HttpAnswer> {
  const { source, destination } = decodeRenameTableRequest(await readJson(call))
  await renameCatalogTable(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    source: { levels: source.namespace, name: source.name },
    destination: { levels: destination.namespace, name: destination.name },
  })
  return NO_CONTENT
}

import { decodeRenameTableRequest } from '@timelake/iceberg/rest/table-requests-json'
import { renameView as renameCatalogView } from '../catalog/rename-view.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'

/** POST /v1/{prefix}/views/rename. */
export async function renameView(call: RouteCall): Promise<HttpAnswer> {
  const { source, destination } = decodeRenameTableRequest(await readJson(call))
  await renameCatalogView(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    source: { levels: source.namespace, name: source.name },
    destination: { levels: destination.namespace, name: destination.name },
  })
  return NO_CONTENT
}

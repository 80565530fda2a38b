import { decodeRegisterTableRequest } from '@timelake/iceberg/rest/table-requests-json'
import type { StoredOutcome } from '../catalog/catalog.ts'
import { registerTable as registerCatalogTable } from '../catalog/register-table.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { namespaceInPath } from '../http/path-names.ts'
import { replayTable } from '../http/replay-table.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'
import { changedTableAnswer } from '../http/table-answer.ts'

/** POST …/namespaces/{namespace}/register. */
export async function registerTable(call: RouteCall): Promise<HttpAnswer> {
  const levels = namespaceInPath(call)
  const { name, metadataLocation, overwrite } = decodeRegisterTableRequest(await readJson(call))
  const loaded = await registerCatalogTable(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    identifier: { levels, name },
    metadataLocation,
    overwrite,
  })
  return changedTableAnswer(loaded)
}

/** The table that was registered earlier under the same key. */
export async function replayRegisterTable(
  call: RouteCall,
  outcome: StoredOutcome,
): Promise<HttpAnswer> {
  const { name } = decodeRegisterTableRequest(await readJson(call))
  const levels = namespaceInPath(call)
  return replayTable(call.catalog, outcome, { warehouse: warehouseOf(call), levels, name })
}

import { decodeRegisterTableRequest } from '@timelake/iceberg/rest/table-requests-json'
import { writableWarehouse } from '../access/confine.ts'
import { findAccessToNew } from '../access/delegate-access.ts'
import type { StoredOutcome } from '../catalog/mutation-scope.ts'
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
  call.subject.object = name
  const warehouse = await writableWarehouse(call, levels)
  const identifier = { levels, name }
  const loaded = await registerCatalogTable(call.catalog, {
    warehouse,
    slot: call.slot,
    identifier,
    metadataLocation,
    overwrite,
  })
  const { metadata } = loaded
  const access = await findAccessToNew(call, { warehouse, identifier, metadata })
  return changedTableAnswer(loaded, access)
}

/** The table that was registered earlier under the same key. */
export async function replayRegisterTable(
  call: RouteCall,
  outcome: StoredOutcome,
): Promise<HttpAnswer> {
  const { name } = decodeRegisterTableRequest(await readJson(call))
  const levels = namespaceInPath(call)
  return replayTable(call, outcome, { warehouse: warehouseOf(call), levels, name })
}

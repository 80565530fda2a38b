import { decodeAppendRequest, encodeAppendResult } from '@timelake/iceberg/rest/append-json'
import { appendAgain, appendDataFiles } from '../catalog/append-data-files.ts'
import { CommitStateUnknownError } from '../catalog/catalog-errors.ts'
import type { StoredOutcome } from '../catalog/mutation-scope.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { storedAnswer } from '../http/idempotency.ts'
import { jsonAnswer } from '../http/json.ts'
import { tableInPath } from '../http/path-names.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'

/** POST …/tables/{table}/appends: adds finished data files, once for each batch id. */
export async function appendFiles(call: RouteCall): Promise<HttpAnswer> {
  const result = await appendDataFiles(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    identifier: tableInPath(call),
    request: decodeAppendRequest(await readJson(call)),
  })
  return jsonAnswer(encodeAppendResult(result))
}

/** The answer to an append that was made earlier under the same key. */
export async function replayAppendFiles(
  call: RouteCall,
  outcome: StoredOutcome,
): Promise<HttpAnswer> {
  if (outcome.metadataLocation === undefined) return storedAnswer(outcome)
  const result = await appendAgain(call.catalog, {
    warehouse: warehouseOf(call),
    identifier: tableInPath(call),
    request: decodeAppendRequest(await readJson(call)),
  })
  if (result !== undefined) return jsonAnswer(encodeAppendResult(result))
  throw new CommitStateUnknownError(
    'the append was applied, but its batch is not remembered any more',
  )
}

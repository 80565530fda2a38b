import { decodeCommitRequest } from '@timelake/iceberg/rest/commit-json'
import type { StoredOutcome } from '../catalog/catalog.ts'
import { commitTable } from '../catalog/commit-table.ts'
import { commitRequestHash } from '../catalog/landed-request.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { tableInPath } from '../http/path-names.ts'
import { replayTable } from '../http/replay-table.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'
import { changedTableAnswer } from '../http/table-answer.ts'

/** POST …/tables/{table}: a commit. */
export async function updateTable(call: RouteCall): Promise<HttpAnswer> {
  const identifier = tableInPath(call)
  const body = await readJson(call)
  const loaded = await commitTable(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    identifier,
    request: decodeCommitRequest(body),
    requestHash: commitRequestHash(body),
  })
  return changedTableAnswer(loaded)
}

/** The answer to a commit that was made earlier under the same key. */
export function replayUpdateTable(call: RouteCall, outcome: StoredOutcome): Promise<HttpAnswer> {
  return replayTable(call.catalog, outcome, { warehouse: warehouseOf(call), ...tableInPath(call) })
}

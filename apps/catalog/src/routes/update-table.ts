import { decodeCommitRequest } from '@timelake/iceberg/rest/commit-json'
import { checkConfined } from '../access/confine.ts'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import type { StoredOutcome } from '../catalog/mutation-scope.ts'
import { commitTable } from '../catalog/commit-table.ts'
import { commitRequestHash } from '../catalog/landed-request.ts'
import { classOf, isRebaseAsked, REBASE_HEADER } from '../catalog/rebase-request.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { tableInPath } from '../http/path-names.ts'
import { replayCommit } from '../http/replay-table.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'
import { changedTableAnswer } from '../http/table-answer.ts'
import { watchCommit } from '../turnstile/take-turns.ts'

/** POST …/tables/{table}: a commit. */
export async function updateTable(call: RouteCall): Promise<HttpAnswer> {
  const identifier = tableInPath(call)
  const body = await readJson(call)
  const request = decodeCommitRequest(body)
  await checkConfined(call, identifier, request.updates)
  const isAsked = isRebaseAsked(call.request.header(REBASE_HEADER))
  const commit = {
    warehouse: warehouseOf(call),
    slot: call.slot,
    identifier,
    request,
    requestHash: commitRequestHash(body),
    isRebaseAsked: isAsked,
  }
  const isStrict = ({ metadata: { properties } }: LoadedMetadata) =>
    classOf(request, { properties, isAsked }) !== 'append'
  const loaded = await watchCommit(call, [{ identifier, request, isStrict }], () =>
    commitTable(call.catalog, commit),
  )
  return changedTableAnswer(loaded)
}

/** The answer to a commit that was made earlier under the same key. */
export function replayUpdateTable(call: RouteCall, outcome: StoredOutcome): Promise<HttpAnswer> {
  return replayCommit(call, outcome, { warehouse: warehouseOf(call), ...tableInPath(call) })
}

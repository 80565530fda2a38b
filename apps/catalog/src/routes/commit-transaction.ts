import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import { decodeCommitTransactionRequest } from '@timelake/iceberg/rest/commit-transaction-json'
import { identifiersText } from '../access/audit.ts'
import { requireWriter } from '../access/authorize.ts'
import { checkConfined } from '../access/confine.ts'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import {
  tableCommits,
  commitTransaction as commitCatalogTransaction,
} from '../catalog/commit-transaction.ts'
import { commitRequestHash } from '../catalog/landed-request.ts'
import type { LandedTables } from '../catalog/land-commits.ts'
import { classOf, isRebaseAsked, REBASE_HEADER } from '../catalog/rebase-request.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'
import { watchCommit } from '../turnstile/take-turns.ts'

/** POST /v1/{prefix}/transactions/commit. */
export async function commitTransaction(call: RouteCall): Promise<HttpAnswer> {
  const decoded = decodeCommitTransactionRequest(await readJson(call))
  const changes = decoded.map(({ identifier, request, json }) => ({
    identifier: { levels: identifier.namespace, name: identifier.name },
    request,
    requestHash: commitRequestHash(json),
  }))
  call.subject.detail = identifiersText(changes)
  requireWriter(
    call,
    changes.map(({ identifier }) => identifier.levels),
  )
  for (const { identifier, request } of changes) {
    await checkConfined(call, identifier, request.updates)
  }
  const isAsked = isRebaseAsked(call.request.header(REBASE_HEADER))
  const transaction = {
    warehouse: warehouseOf(call),
    slot: call.slot,
    isRebaseAsked: isAsked,
    changes,
  }
  const watched = tableCommits(transaction).map(({ identifier, requests }, index) => ({
    identifier,
    request: {
      requirements: requests[0]?.requirements ?? [],
      updates: requests.flatMap(({ updates }) => updates),
    },
    isStrict: (landed: LandedTables) => !areAppends(requests, landed[index], isAsked),
  }))
  await watchCommit(call, watched, () => commitCatalogTransaction(call.catalog, transaction))
  return NO_CONTENT
}

function areAppends(
  requests: readonly CommitRequest[],
  landed: LoadedMetadata | undefined,
  isAsked: boolean,
): boolean {
  const properties = landed?.metadata.properties ?? {}
  return requests.every((request) => classOf(request, { properties, isAsked }) === 'append')
}

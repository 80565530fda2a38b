import { decodeCommitTransactionRequest } from '@timelake/iceberg/rest/commit-transaction-json'
import { commitTransaction as commitCatalogTransaction } from '../catalog/commit-transaction.ts'
import { commitRequestHash } from '../catalog/landed-request.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'

/** POST /v1/{prefix}/transactions/commit. */
export async function commitTransaction(call: RouteCall): Promise<HttpAnswer> {
  const changes = decodeCommitTransactionRequest(await readJson(call))
  await commitCatalogTransaction(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    changes: changes.map(({ identifier, request, json }) => ({
      identifier: { levels: identifier.namespace, name: identifier.name },
      request,
      requestHash: commitRequestHash(json),
    })),
  })
  return NO_CONTENT
}

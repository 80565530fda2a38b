import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import {
  findCommitOutcome,
  type CommitOutcome,
  type CommitSought,
  type Refusal,
} from '../catalog/commit-outcome.ts'
import { errorAnswer } from '../http/error-response.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { keptKey } from '../http/idempotency.ts'
import { jsonAnswer } from '../http/json.ts'
import { tableInPath } from '../http/path-names.ts'
import { queryParameter } from '../http/raw-path.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const LONG_MAX = 2n ** 63n - 1n

/**
 * GET /lake/v1/{prefix}/namespaces/{namespace}/tables/{table}/commits: what became of a commit, by its Idempotency-Key or by
 * a snapshot that it adds. A key is that of the caller's own request. Throws NoSuchTableError, InvalidInputError.
 */
export async function findCommit(call: RouteCall): Promise<HttpAnswer> {
  const found = await findCommitOutcome(call.catalog, {
    warehouse: warehouseOf(call),
    identifier: tableInPath(call),
    commit: readSought(call),
  })
  return jsonAnswer(outcomeJson(found))
}

function readSought({ query, caller }: RouteCall): CommitSought {
  const key = queryParameter(query, 'idempotency-key')
  const snapshot = queryParameter(query, 'snapshot-id')
  if ((key === undefined) === (snapshot === undefined)) {
    throw new InvalidInputError('expected either idempotency-key or snapshot-id')
  }
  if (key !== undefined) {
    if (UUID.test(key)) return { key: keptKey(caller, key) }
    throw new InvalidInputError('expected a UUID', 'idempotency-key')
  }
  const text = snapshot ?? ''
  const id = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined
  if (id === undefined || id > LONG_MAX || id < -LONG_MAX) {
    throw new InvalidInputError(`expected a snapshot id, got ${text}`, 'snapshot-id')
  }
  return { snapshotId: id }
}

function outcomeJson(found: CommitOutcome): JsonObject {
  const { outcome } = found
  switch (outcome) {
    case 'landed':
      return {
        outcome,
        'snapshot-ids': found.snapshotIds,
        'metadata-location': found.metadataLocation ?? null,
      }
    case 'rejected':
      return rejectionJson(found.refusal)
    case 'pending':
    case 'unknown':
      return { outcome }
  }
}

/** A failure that does not prove that nothing was applied is no rejection. */
function rejectionJson(refusal: Refusal): JsonObject {
  const { status, body } = 'error' in refusal ? errorAnswer(refusal.error) : refusal
  if (status >= 500) return { outcome: 'unknown' }
  return { outcome: 'rejected', status: BigInt(status), ...errorMember(body) }
}

function errorMember(body: HttpAnswer['body']): JsonObject {
  if (typeof body !== 'string') return {}
  const value: JsonValue = parseJson(body)
  const isObject = value !== null && typeof value === 'object' && 'error' in value
  return isObject ? { error: value['error'] } : {}
}

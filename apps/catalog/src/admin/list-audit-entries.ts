import {
  listAuditEntries as listRows,
  type AuditEntry,
  type AuditRow,
} from '@timelake/database/audit-log'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { cutPage, readPageRequest } from '../http/page.ts'
import { queryParameter } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'

const OUTCOMES = ['done', 'denied', 'failed'] as const
const TIME_MS = /^\d{1,15}$/
const SEQ = /^[1-9]\d{0,17}$/

/**
 * GET /admin/v1/audit?caller=&warehouse=&action=&outcome=&from-ms=&until-ms=: what was changed, given and refused, newest
 * first, in pages. A caller is an id or a name.
 */
export async function listAuditEntries({ catalog, query }: RouteCall): Promise<HttpAnswer> {
  const { config, context } = catalog
  const { after, limit = config.pageSizeMax } = readPageRequest(query, config.pageSizeMax)
  const given = (name: string): string | undefined => queryParameter(query, name) || undefined
  const filter = {
    caller: given('caller'),
    warehouse: given('warehouse'),
    action: given('action'),
    outcome: outcomeOf(given('outcome')),
    fromMs: timeOf(given('from-ms'), 'from-ms'),
    untilMs: timeOf(given('until-ms'), 'until-ms'),
  }
  const rows = await listRows(context.database, {
    filter,
    beforeSeq: after === undefined ? undefined : seqOf(after),
    limit: limit + 1,
  })
  const page = cutPage(rows, { limit }, ({ seq }) => String(seq))
  return jsonAnswer({
    entries: page.items.map(auditEntryJson),
    'next-page-token': page.nextPageToken ?? null,
  })
}

function outcomeOf(found: string | undefined): AuditEntry['outcome'] | undefined {
  const outcome = OUTCOMES.find((candidate) => candidate === found)
  if (found === undefined || outcome !== undefined) return outcome
  const expected = OUTCOMES.join(' or ')
  throw new InvalidInputError(`expected ${expected}, got ${JSON.stringify(found)}`, 'outcome')
}

function timeOf(found: string | undefined, name: string): number | undefined {
  if (found === undefined) return undefined
  if (TIME_MS.test(found)) return Number(found)
  throw new InvalidInputError(`expected milliseconds, got ${JSON.stringify(found)}`, name)
}

function seqOf(after: string): bigint {
  if (SEQ.test(after)) return BigInt(after)
  throw new InvalidInputError('is not a token of this listing', 'pageToken')
}

function auditEntryJson(row: AuditRow): JsonObject {
  return {
    seq: row.seq,
    'at-ms': BigInt(row.atMs),
    'caller-id': row.callerId,
    'caller-name': row.callerName,
    'caller-kind': row.callerKind,
    action: row.action,
    outcome: row.outcome,
    status: BigInt(row.status),
    warehouse: row.warehouse ?? null,
    namespace: row.namespace ?? null,
    object: row.object ?? null,
    detail: row.detail ?? null,
    'remote-address': row.remoteAddress ?? null,
  }
}

import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { dropTable as dropCatalogTable } from '../catalog/drop-table.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { tableInPath } from '../http/path-names.ts'
import { queryParameter } from '../http/raw-path.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/** DELETE …/tables/{table}?purgeRequested=. */
export async function dropTable(call: RouteCall): Promise<HttpAnswer> {
  await dropCatalogTable(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    identifier: tableInPath(call),
    purgeRequested: isPurgeRequested(call.query),
  })
  return NO_CONTENT
}

/** Absent is false; clients write it in any case. */
function isPurgeRequested(query: string): boolean {
  const text = queryParameter(query, 'purgeRequested')?.toLowerCase() ?? 'false'
  if (text === 'true') return true
  if (text === 'false' || text === '') return false
  throw new InvalidInputError(`expected true or false, got ${text}`, 'purgeRequested')
}

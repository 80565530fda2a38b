import {
  listDroppedTables as listRows,
  type DroppedTablePosition,
  type ListedDroppedTable,
} from '@timelake/database/dropped-tables'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { PURGE_TABLE } from '../catalog/purge-dropped-table.ts'
import { administeredWarehouse } from '../access/visible-warehouse.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { cutPage, readPageRequest } from '../http/page.ts'
import { queryParameter } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'
import { droppedTableJson, msJson } from './dropped-table-json.ts'

/** GET /admin/v1/dropped-tables?warehouse=: the dropped tables of a warehouse, last dropped first, in pages. */
export async function listDroppedTables(call: RouteCall): Promise<HttpAnswer> {
  const { config, context } = call.catalog
  const name = queryParameter(call.query, 'warehouse') || config.defaultWarehouse
  const warehouse = await administeredWarehouse(call.catalog, call.caller, name)
  const { after, limit = config.pageSizeMax } = readPageRequest(call.query, config.pageSizeMax)
  const rows = await listRows(context.database, {
    warehouseId: warehouse.id,
    after: after === undefined ? undefined : positionOf(after),
    limit: limit + 1,
    jobKind: PURGE_TABLE,
  })
  const page = cutPage(rows, { limit }, ({ droppedAtMs, id }) => `${droppedAtMs}/${id}`)
  return jsonAnswer({
    'dropped-tables': page.items.map(listedJson),
    'next-page-token': page.nextPageToken ?? null,
  })
}

function listedJson(row: ListedDroppedTable): JsonObject {
  return { ...droppedTableJson(row), 'purge-due-ms': msJson(row.purgeDueAtMs) }
}

function positionOf(key: string): DroppedTablePosition {
  const [, ms, id] = /^(\d{1,15})\/(.+)$/s.exec(key) ?? []
  if (ms === undefined || id === undefined) {
    throw new InvalidInputError('is not a token of this listing', 'pageToken')
  }
  return { droppedAtMs: Number(ms), id }
}

import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'
import { tableById, tableRowJson } from './table-by-id.ts'

/** GET /admin/v1/tables/{id}: the row and what its metadata says in short. */
export async function getTable(call: RouteCall): Promise<HttpAnswer> {
  const row = await tableById(call)
  const warehouse = await call.catalog.warehouses.byId(row.warehouseId)
  const { metadata } = await call.catalog.metadata.get(warehouse, row.metadataLocation)
  return jsonAnswer({
    ...tableRowJson(row),
    'format-version': BigInt(metadata.formatVersion),
    'last-updated-ms': BigInt(metadata.lastUpdatedMs),
    'current-snapshot-id': metadata.currentSnapshotId ?? null,
    'snapshot-count': BigInt(metadata.snapshots.length),
    properties: metadata.properties,
  })
}

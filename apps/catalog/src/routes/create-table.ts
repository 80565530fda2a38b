import { decodeCreateTableRequest } from '@timelake/iceberg/rest/create-table-json'
import { loadTableResultText } from '@timelake/iceberg/rest/load-table-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { encodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import { writableWarehouse } from '../access/confine.ts'
import { findAccess, findAccessToNew, isAccessAsked } from '../access/delegate-access.ts'
import type { StoredOutcome } from '../catalog/mutation-scope.ts'
import { createTable as createCatalogTable } from '../catalog/create-table.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { namespaceInPath } from '../http/path-names.ts'
import { replayTable } from '../http/replay-table.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'
import { changedTableAnswer, headersFor } from '../http/table-answer.ts'

/** POST …/namespaces/{namespace}/tables, staged or at once. */
export async function createTable(call: RouteCall): Promise<HttpAnswer> {
  const levels = namespaceInPath(call)
  const request = decodeCreateTableRequest(await readJson(call))
  call.subject.object = request.name
  const warehouse = await writableWarehouse(call, levels)
  const { slot } = call
  const identifier = { levels, name: request.name }
  const created = await createCatalogTable(call.catalog, { warehouse, slot, levels, request })
  switch (created.outcome) {
    case 'created': {
      const { metadata } = created.loaded
      const access = await findAccessToNew(call, { warehouse, identifier, metadata })
      return changedTableAnswer(created.loaded, access)
    }
    case 'staged':
      return stagedAnswer(call, { warehouse, identifier, metadata: created.metadata })
  }
}

async function stagedAnswer(
  call: RouteCall,
  table: {
    readonly warehouse: Warehouse
    readonly identifier: TableIdentifier
    readonly metadata: TableMetadata
  },
): Promise<HttpAnswer> {
  const { warehouse, identifier, metadata } = table
  const metadataText = encodeTableMetadata(metadata)
  const holder = { warehouseId: warehouse.id, callerId: call.caller.id, identifier }
  const access = isAccessAsked(call, warehouse)
    ? await findAccess(call, {
        ...table,
        ticket: await call.catalog.staged.sign(holder, metadata),
      })
    : undefined
  const parts = { metadataLocation: undefined, metadataText, ...(access ?? { config: {} }) }
  return { status: 200, headers: headersFor(access), body: loadTableResultText(parts) }
}

/** The table that was made earlier under the same key. */
export async function replayCreateTable(
  call: RouteCall,
  outcome: StoredOutcome,
): Promise<HttpAnswer> {
  const { name } = decodeCreateTableRequest(await readJson(call))
  const levels = namespaceInPath(call)
  return replayTable(call, outcome, { warehouse: warehouseOf(call), levels, name })
}

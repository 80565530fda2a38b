import { decodeCreateTableRequest } from '@timelake/iceberg/rest/create-table-json'
import { loadTableResultText } from '@timelake/iceberg/rest/load-table-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { encodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import type { StoredOutcome } from '../catalog/catalog.ts'
import { createTable as createCatalogTable } from '../catalog/create-table.ts'
import { jsonTextAnswer, type HttpAnswer } from '../http/exchange.ts'
import { namespaceInPath } from '../http/path-names.ts'
import { replayTable } from '../http/replay-table.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'
import { changedTableAnswer } from '../http/table-answer.ts'

/** POST …/namespaces/{namespace}/tables, staged or at once. */
export async function createTable(call: RouteCall): Promise<HttpAnswer> {
  const levels = namespaceInPath(call)
  const request = decodeCreateTableRequest(await readJson(call))
  const created = await createCatalogTable(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    levels,
    request,
  })
  switch (created.outcome) {
    case 'created':
      return changedTableAnswer(created.loaded)
    case 'staged':
      return jsonTextAnswer(200, stagedText(created.metadata))
  }
}

function stagedText(metadata: TableMetadata): string {
  const metadataText = encodeTableMetadata(metadata)
  return loadTableResultText({ metadataLocation: undefined, metadataText, config: {} })
}

/** The table that was made earlier under the same key. */
export async function replayCreateTable(
  call: RouteCall,
  outcome: StoredOutcome,
): Promise<HttpAnswer> {
  const { name } = decodeCreateTableRequest(await readJson(call))
  const levels = namespaceInPath(call)
  return replayTable(call.catalog, outcome, { warehouse: warehouseOf(call), levels, name })
}

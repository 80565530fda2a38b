import {
  decodeNamespaceDescription,
  encodeNamespaceDescription,
} from '@timelake/iceberg/rest/namespace-json'
import { findNamespace } from '@timelake/database/namespaces'
import type { StoredOutcome } from '../catalog/catalog.ts'
import {
  createNamespace as createCatalogNamespace,
  shownProperties,
} from '../catalog/create-namespace.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { storedAnswer } from '../http/idempotency.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'

/** POST /v1/{prefix}/namespaces. */
export async function createNamespace(call: RouteCall): Promise<HttpAnswer> {
  const { namespace: levels, properties } = decodeNamespaceDescription(await readJson(call))
  const row = await createCatalogNamespace(call.catalog, {
    warehouse: warehouseOf(call),
    slot: call.slot,
    levels,
    properties,
  })
  return jsonAnswer(
    encodeNamespaceDescription({ namespace: row.levels, properties: shownProperties(row) }),
  )
}

/** The namespace as it is now, or as it was asked for when it is gone again. */
export async function replayCreateNamespace(
  call: RouteCall,
  outcome: StoredOutcome,
): Promise<HttpAnswer> {
  if (outcome.status !== 200) return storedAnswer(outcome)
  const asked = decodeNamespaceDescription(await readJson(call))
  const { database } = call.catalog.context
  const row = await findNamespace(database, warehouseOf(call).id, asked.namespace)
  const properties = row === undefined ? asked.properties : shownProperties(row)
  return jsonAnswer(encodeNamespaceDescription({ ...asked, properties }))
}

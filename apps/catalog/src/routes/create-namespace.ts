import {
  decodeNamespaceDescription,
  encodeNamespaceDescription,
} from '@timelake/iceberg/rest/namespace-json'
import { findNamespace } from '@timelake/database/namespaces'
import { requireWriter } from '../access/authorize.ts'
import { confinedTo } from '../access/confine.ts'
import type { StoredOutcome } from '../catalog/mutation-scope.ts'
import {
  createNamespace as createCatalogNamespace,
  shownProperties,
} from '../catalog/create-namespace.ts'
import { checkNamespace } from '../catalog/names.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { storedAnswer } from '../http/idempotency.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'

/** POST /v1/{prefix}/namespaces. */
export async function createNamespace(call: RouteCall): Promise<HttpAnswer> {
  const { namespace: levels, properties } = decodeNamespaceDescription(await readJson(call))
  checkNamespace(levels, 'namespace')
  call.subject.namespace = levels
  requireWriter(call, [levels])
  const row = await createCatalogNamespace(call.catalog, {
    warehouse: await confinedTo(call, levels.slice(0, -1)),
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
  requireWriter(call, [asked.namespace])
  const { database } = call.catalog.context
  const row = await findNamespace(database, warehouseOf(call).id, asked.namespace)
  const properties = row === undefined ? asked.properties : shownProperties(row)
  return jsonAnswer(encodeNamespaceDescription({ ...asked, properties }))
}

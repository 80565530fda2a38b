import { encodeCatalogSettings } from '@timelake/iceberg/rest/config-json'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { queryParameter } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'

/** What separates namespace levels in paths, as it is written there. */
const NAMESPACE_SEPARATOR = '%1F'
const HOUR_MS = 3_600_000

/**
 * GET /v1/config?warehouse=: the prefix of the warehouse's routes, and the routes. Without `warehouse` it is the
 * default one; an unknown one is refused and never replaced. Spec: REST catalog, getConfig.
 */
export async function getConfig(
  call: RouteCall,
  endpoints: readonly string[],
): Promise<HttpAnswer> {
  const { config, warehouses } = call.catalog
  const name = queryParameter(call.query, 'warehouse') || config.defaultWarehouse
  const warehouse = await warehouses.byName(name)
  const settings = encodeCatalogSettings({
    defaults: warehouse.settings.defaults,
    overrides: {
      ...warehouse.settings.overrides,
      prefix: encodeURIComponent(warehouse.name),
      'namespace-separator': NAMESPACE_SEPARATOR,
    },
    endpoints,
    idempotencyKeyLifetime: isoDuration(config.idempotencyLifetimeMs),
  })
  return jsonAnswer(settings)
}

/** ISO 8601 text of a duration, for example PT24H. */
function isoDuration(durationMs: number): string {
  return durationMs % HOUR_MS === 0
    ? `PT${durationMs / HOUR_MS}H`
    : `PT${Math.floor(durationMs / 1_000)}S`
}

import { encodeCatalogSettings } from '@timelake/iceberg/rest/config-json'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { visibleWarehouse } from '../access/visible-warehouse.ts'
import { NoSuchWarehouseError } from '../catalog/catalog-errors.ts'
import { storageProperties } from '../catalog/storage-properties.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { queryParameter } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'

/** What separates namespace levels in paths, as it is written there. */
const NAMESPACE_SEPARATOR = '%1F'
const HOUR_MS = 3_600_000

/**
 * GET /v1/config?warehouse=: the prefix of the warehouse's routes, what clients need to reach its objects (never a secret),
 * and the routes. Without `warehouse` it is the default one; one that is unknown, or hidden, is refused and never replaced. Spec: REST
 * catalog, getConfig.
 */
export async function getConfig(
  call: RouteCall,
  endpoints: readonly string[],
): Promise<HttpAnswer> {
  const { config } = call.catalog
  const warehouse = await askedWarehouse(call)
  const settings = encodeCatalogSettings({
    defaults: { ...storageProperties(warehouse.row), ...warehouse.settings.defaults },
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

async function askedWarehouse({ catalog, caller, query }: RouteCall): Promise<Warehouse> {
  const { config } = catalog
  const name = queryParameter(query, 'warehouse') || undefined
  try {
    return await visibleWarehouse(catalog, caller, name ?? config.defaultWarehouse)
  } catch (cause) {
    if (name !== undefined || !(cause instanceof NoSuchWarehouseError)) throw cause
    const sentence = `name one: there is no default warehouse ${config.defaultWarehouse}`
    throw new InvalidInputError(sentence, 'warehouse', { cause })
  }
}

/** ISO 8601 text of a duration, for example PT24H. */
function isoDuration(durationMs: number): string {
  return durationMs % HOUR_MS === 0
    ? `PT${durationMs / HOUR_MS}H`
    : `PT${Math.floor(durationMs / 1_000)}S`
}

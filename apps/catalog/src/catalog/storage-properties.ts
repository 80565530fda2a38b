import type { WarehouseRow } from '@timelake/database/warehouses'
import { decodeStorageProfile } from '@timelake/storage/storage-profile'

/**
 * The properties by which clients reach the objects of a warehouse, under the names that Java, PyIceberg and DuckDB share;
 * keys are the client's own. They are defaults of `/v1/config` and not part of a table's config, because there DuckDB takes
 * properties without keys for an empty secret.
 */
export function storageProperties({ storageProfile }: WarehouseRow): Record<string, string> {
  const profile = decodeStorageProfile(JSON.parse(storageProfile))
  if (profile.type === 'file') return {}
  const { endpoint, region, pathStyle } = profile
  return {
    ...(endpoint === undefined ? {} : { 's3.endpoint': endpoint }),
    's3.region': region,
    'client.region': region,
    's3.path-style-access': String(pathStyle),
  }
}

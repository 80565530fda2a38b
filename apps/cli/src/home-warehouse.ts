import { ensureWarehouse, findWarehouse, type WarehouseRow } from '@timelake/database/warehouses'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { encodeStorageProfile, type StorageProfile } from '@timelake/storage/storage-profile'
import type { StoredWarehouse } from '@timelake/storage/warehouse-stores'
import type { Settings } from '@timelake/timelake/contract/settings'
import type { ProcessContext } from './context.ts'
import { WAREHOUSE_NAME, type DataDirectory } from './data-directory.ts'
import { CommandError, EXIT_CODES } from './exit-code.ts'

/** The warehouse that the settings describe. */
export interface HomeWarehouse {
  readonly location: string
  readonly storageProfile: string
}

/**
 * What the settings say of the warehouse `main`. Undefined when they say nothing and nothing can be assumed: on a shared
 * database a folder of this machine would be missing on the others. Throws CommandError for a location of no known kind.
 */
export function homeWarehouse(
  settings: Settings,
  directory: DataDirectory,
): HomeWarehouse | undefined {
  const { warehouseLocation, databaseUrl } = settings
  if (warehouseLocation === undefined) {
    if (databaseUrl !== undefined) return undefined
    return homeAt(directory.warehouseLocation, { type: 'file' })
  }
  const location = normalizeLocation(warehouseLocation)
  if (location.startsWith('file://')) return homeAt(location, { type: 'file' })
  if (location.startsWith('s3://')) return homeAt(location, s3Profile(settings))
  throw new CommandError(
    EXIT_CODES.wrongUsage,
    `TIMELAKE_WAREHOUSE_LOCATION is wrong: expected a location like s3://bucket/folder or file:///folder, found ${warehouseLocation}`,
  )
}

function homeAt(location: string, profile: StorageProfile): HomeWarehouse {
  return { location, storageProfile: encodeStorageProfile(profile) }
}

function s3Profile({ s3Endpoint, s3Region, isS3PathStyle }: Settings): StorageProfile {
  return {
    type: 's3',
    region: s3Region,
    pathStyle: isS3PathStyle,
    ...(s3Endpoint === undefined ? {} : { endpoint: s3Endpoint }),
  }
}

/** The warehouse as a row, for reaching its objects before there is a database. */
export function storedHome(home: HomeWarehouse): StoredWarehouse {
  return { ...home, id: WAREHOUSE_NAME, sealedCredentials: undefined, version: 0n }
}

/**
 * The row of the home warehouse, made at the first start; from then on the row says where its storage is, and
 * `timelake warehouse update` changes it. Throws CommandError when the database holds another place
 * under that name: tables name their files by absolute location.
 */
export async function openHomeWarehouse(
  { database, log, nowMs, newUuid }: Pick<ProcessContext, 'database' | 'log' | 'nowMs' | 'newUuid'>,
  home: HomeWarehouse | undefined,
): Promise<WarehouseRow | undefined> {
  if (home === undefined) return findWarehouse(database, WAREHOUSE_NAME)
  const wanted = { id: newUuid(), name: WAREHOUSE_NAME, ...home, nowMs: nowMs() }
  const warehouse = await ensureWarehouse(database, wanted)
  if (warehouse.location === home.location) {
    if (warehouse.storageProfile !== home.storageProfile) {
      log.info(
        'TIMELAKE_S3_… differ from what the database says of the warehouse main, which counts: ' +
          'change it with `timelake warehouse update main`',
      )
    }
    return warehouse
  }
  throw new CommandError(
    EXIT_CODES.refused,
    `the database belongs to the warehouse ${warehouse.location}, not to ${home.location}: ` +
      'tables name their files by absolute location, so move the data directory back',
  )
}

import { findWarehouseById, type WarehouseRow } from '@timelake/database/warehouses'
import { invariant } from '@timelake/iceberg/spec/invariant'
import type { ObjectStore } from '@timelake/storage/object-store'
import type { WorkerContext } from './context.ts'

/** The objects of a warehouse as its row says at this moment. Throws StorageProfileError. */
export async function objectsOf(
  { database, stores }: Pick<WorkerContext, 'database' | 'stores'>,
  warehouseId: string,
): Promise<ObjectStore> {
  const row = await findWarehouseById(database, warehouseId)
  invariant(row !== undefined, `a table belongs to warehouse ${warehouseId}, which does not exist`)
  return stores.storeOf(row)
}

/** The locations below which tables of a warehouse may lie by its row: its own, and those that its settings add. */
export function tableRootsOf({
  location,
  settings,
}: Pick<WarehouseRow, 'location' | 'settings'>): readonly string[] {
  // `as`: written by the catalog's codec of warehouse settings.
  const { allowedLocations = [] } = JSON.parse(settings) as {
    readonly allowedLocations?: readonly string[]
  }
  return [location, ...allowedLocations]
}

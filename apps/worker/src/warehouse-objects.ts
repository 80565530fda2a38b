import { findWarehouseById } from '@timelake/database/warehouses'
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

import type { AccessBroker } from './access-broker.ts'
import type { ObjectStore } from './object-store.ts'

/** What a row of the database says of a warehouse's objects. */
export interface StoredWarehouse {
  readonly id: string
  /** Normalized, without a trailing slash. */
  readonly location: string
  /** JSON text of a StorageProfile, as `encodeStorageProfile` writes it. */
  readonly storageProfile: string
  readonly sealedCredentials: string | undefined
  /** JSON text; its `allowedLocations` are served beside the warehouse's own. */
  readonly settings?: string
  /** Counts the changes of the row. */
  readonly version: bigint
}

/** The locations below which a warehouse's tables may lie by its row: its own, and those that its settings add. */
export function locationsOfWarehouse({
  location,
  settings = '{}',
}: Pick<StoredWarehouse, 'location' | 'settings'>): readonly string[] {
  // `as`: written by the catalog's codec of warehouse settings.
  const { allowedLocations = [] } = JSON.parse(settings) as {
    readonly allowedLocations?: readonly string[]
  }
  return [location, ...allowedLocations]
}

/** Finds the object store of a warehouse; the same one as long as the row stays the same. */
export interface WarehouseStores {
  /** Throws StorageProfileError for a row that this process cannot serve, such as one sealed with another key. */
  storeOf(warehouse: StoredWarehouse): ObjectStore
  /**
   * Gives clients access to a part of the warehouse's store; undefined where there is nothing to give: files of this
   * machine. Throws as `storeOf`.
   */
  brokerOf(warehouse: StoredWarehouse): AccessBroker | undefined
}

/** One store for every warehouse, and no access for clients but by the broker, if there is one. */
export function sameStoreForAll(store: ObjectStore, broker?: AccessBroker): WarehouseStores {
  return { storeOf: () => store, brokerOf: () => broker }
}

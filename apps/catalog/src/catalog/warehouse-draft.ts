import type { S3Credentials, StorageProfile } from '@timelake/storage/storage-profile'
import type { WarehouseSettings } from './warehouse.ts'

/** A warehouse that somebody wants: well formed, not checked against the world. Holds secrets: never log it. */
export interface WarehouseDraft {
  readonly name: string
  readonly location: string
  readonly profile: StorageProfile
  readonly credentials: S3Credentials | undefined
  readonly settings: WarehouseSettings
}

/** What is to be different in a warehouse; undefined: as it is. Holds secrets: never log it. */
export interface WarehouseChange {
  /** The version that the change was made from; undefined: whatever it is now. */
  readonly expectedVersion: bigint | undefined
  readonly location: string | undefined
  readonly profile: StorageProfile | undefined
  /** `null`: none any more. */
  readonly credentials: S3Credentials | null | undefined
  readonly allowedLocations: WarehouseSettings['allowedLocations'] | undefined
  readonly defaults: WarehouseSettings['defaults'] | undefined
  readonly overrides: WarehouseSettings['overrides'] | undefined
  readonly delegation: WarehouseSettings['delegation'] | undefined
}

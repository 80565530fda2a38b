import type { AccessBroker } from './access-broker.ts'
import { containPaths } from './contained-path.ts'
import { openLocalObjectStore } from './local-object-store.ts'
import { pathOfLocation } from './location-path.ts'
import { LocationError, type ObjectStore } from './object-store.ts'
import { openAccessBroker } from './open-access-broker.ts'
import { credentialSourceOf } from './s3-credential-source.ts'
import { openS3ObjectStore } from './s3-object-store.ts'
import { SealedTextError, SecretKeyError, type SecretBox } from './secret-box.ts'
import {
  decodeS3Credentials,
  decodeStorageProfile,
  type S3Credentials,
  type S3Profile,
  StorageProfileError,
} from './storage-profile.ts'
import {
  locationsOfWarehouse,
  type StoredWarehouse,
  type WarehouseStores,
} from './warehouse-stores.ts'

export interface WarehouseStoresOptions {
  readonly secretBox: SecretBox
  /** Warehouses on this machine must lie in one of these directories; without any there are none. */
  readonly localRootDirs: readonly string[]
  /** Locations that the operator of the process lets every warehouse use. */
  readonly extraAllowedLocations: readonly string[]
  /**
   * Keys for S3 warehouses that have none of their own, at this endpoint (absent: AWS) or at this location. Without them, and
   * elsewhere: the process's own identity.
   */
  readonly defaultCredentials?: {
    readonly endpoint: string | undefined
    readonly location: string | undefined
    readonly credentials: S3Credentials
  }
}

interface OpenStore {
  readonly version: bigint
  readonly store: ObjectStore
  readonly broker: AccessBroker | undefined
  close(): void
}

/** Stores that are kept open; beyond that the one that was not asked for longest is closed, and opened when needed. */
export const OPEN_STORES_MAX = 256

/**
 * The stores of all warehouses, each opened at first use and kept as long as its row stays the same; a store that is
 * replaced lets its calls end. A row older than the one that was seen last gets the newer one's store.
 */
export function openWarehouseStores(
  options: WarehouseStoresOptions,
): WarehouseStores & { close(): void } {
  const open = new Map<string, OpenStore>()
  const find = (warehouse: StoredWarehouse): OpenStore => {
    const known = open.get(warehouse.id)
    const isCurrent = known !== undefined && known.version >= warehouse.version
    const found = isCurrent ? known : openStore(options, warehouse)
    if (!isCurrent) known?.close()
    // Last place in the map: asked for most recently.
    open.delete(warehouse.id)
    open.set(warehouse.id, found)
    for (const [id, oldest] of open) {
      if (open.size <= OPEN_STORES_MAX) break
      open.delete(id)
      oldest.close()
    }
    return found
  }
  return {
    storeOf: (warehouse) => find(warehouse).store,
    brokerOf: (warehouse) => find(warehouse).broker,
    close() {
      for (const { close } of open.values()) close()
      open.clear()
    },
  }
}

function openStore(options: WarehouseStoresOptions, warehouse: StoredWarehouse): OpenStore {
  const profile = readProfile(warehouse)
  const { version } = warehouse
  switch (profile.type) {
    case 'file':
      return {
        version,
        store: openFileStore(options, warehouse),
        broker: undefined,
        close: () => undefined,
      }
    case 's3':
      return { version, ...openBucket(options, warehouse, profile) }
  }
}

function readProfile(warehouse: StoredWarehouse): ReturnType<typeof decodeStorageProfile> {
  try {
    return decodeStorageProfile(JSON.parse(warehouse.storageProfile))
  } catch (cause) {
    throw unservable(warehouse, 'its storage profile cannot be read', cause)
  }
}

function openFileStore(options: WarehouseStoresOptions, warehouse: StoredWarehouse): ObjectStore {
  const isInside = insideOf(options.localRootDirs)
  if (!isInside(warehouse.location)) {
    throw unservable(warehouse, 'it lies outside the directories that this process may use')
  }
  const locations = [
    ...locationsOfWarehouse(warehouse).filter(
      (location) => isLocal(location) && isInside(location),
    ),
    ...options.extraAllowedLocations.filter(isLocal),
  ]
  return openLocalObjectStore({ rootDirs: locations.map(pathOfLocation) })
}

/** Whether a location of this machine lies in one of the directories, links followed. */
function insideOf(rootDirs: readonly string[]): (location: string) => boolean {
  // No directories would mean all of them.
  if (rootDirs.length === 0) return () => false
  const paths = containPaths(rootDirs)
  return (location) => {
    try {
      paths.future(pathOfLocation(location))
      return true
    } catch (error) {
      if (error instanceof LocationError) return false
      throw error
    }
  }
}

function openBucket(
  options: WarehouseStoresOptions,
  warehouse: StoredWarehouse,
  profile: S3Profile,
): Omit<OpenStore, 'version'> {
  const credentials = credentialsOf(options, warehouse, profile)
  const locations = [...locationsOfWarehouse(warehouse), ...options.extraAllowedLocations]
  const roots = locations
    .map((location) => location.replace(/^s3[an]:/, 's3:'))
    .filter((location) => location.startsWith('s3:'))
  const store = openS3ObjectStore({
    profile,
    roots,
    ...(credentials === undefined ? {} : { credentials }),
  })
  const source = credentialSourceOf(profile, credentials, Date.now)
  const broker = openAccessBroker({ profile, credentials, source, roots, nowMs: Date.now })
  return {
    store,
    broker,
    close() {
      store.close()
      broker.close()
    },
  }
}

function credentialsOf(
  { secretBox, defaultCredentials }: WarehouseStoresOptions,
  warehouse: StoredWarehouse,
  { endpoint }: S3Profile,
): S3Credentials | undefined {
  if (warehouse.sealedCredentials === undefined) {
    if (defaultCredentials === undefined) return undefined
    const isMeant =
      defaultCredentials.endpoint === endpoint || defaultCredentials.location === warehouse.location
    return isMeant ? defaultCredentials.credentials : undefined
  }
  try {
    const text = secretBox.open(warehouse.sealedCredentials, warehouse.id)
    return decodeS3Credentials(JSON.parse(text))
  } catch (error) {
    // An error of JSON.parse quotes the text, which is the secret.
    const isSilent =
      error instanceof SealedTextError ||
      error instanceof SecretKeyError ||
      error instanceof StorageProfileError
    throw unservable(warehouse, 'its credentials do not open', isSilent ? error : undefined)
  }
}

function isLocal(location: string): boolean {
  return location.startsWith('file:') || location.startsWith('/')
}

function unservable(
  { id, location }: StoredWarehouse,
  reason: string,
  cause?: unknown,
): StorageProfileError {
  const options = cause === undefined ? {} : { cause }
  return new StorageProfileError(
    `cannot serve warehouse ${id} at ${location}: ${reason}`,
    undefined,
    options,
  )
}

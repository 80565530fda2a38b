import type { WarehouseRow } from '@timelake/database/warehouses'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { joinLocation } from '@timelake/iceberg/spec/location'
import { WAREHOUSE_FOLDER } from '@timelake/storage/name-records'
import { LocationError } from '@timelake/storage/object-store'
import { SecretKeyError } from '@timelake/storage/secret-box'
import {
  encodeS3Credentials,
  encodeStorageProfile,
  StorageProfileError,
  type S3Credentials,
} from '@timelake/storage/storage-profile'
import type { CatalogContext } from '../context.ts'
import { checkPlace, type WarehousePlace } from './warehouse-rules.ts'
import { encodeWarehouseSettings } from './warehouse.ts'

/**
 * The place with its locations checked and normalized, which the store of this process can serve. Throws
 * InvalidInputError that names the member.
 */
export async function checkWarehousePlace(
  context: CatalogContext,
  wanted: WarehousePlace,
): Promise<WarehousePlace> {
  const { profile, settings } = wanted
  const place = {
    profile,
    location: checkPlace(wanted.location, profile, 'location'),
    settings: {
      ...settings,
      allowedLocations: settings.allowedLocations.map((location, index) =>
        checkPlace(location, profile, `allowed-locations[${index}]`),
      ),
    },
  }
  if (profile.type === 'file') await checkDirectories(context, place)
  return place
}

/** Directories must be among those that the operator of the process gave to it. */
async function checkDirectories(context: CatalogContext, place: WarehousePlace): Promise<void> {
  const id = context.newUuid()
  const row = { id, name: id, version: 0n, sealedCredentials: undefined, ...encodePlace(place) }
  const allowed = place.settings.allowedLocations
  try {
    const store = context.stores.storeOf(row)
    await store.stat(joinLocation(place.location, WAREHOUSE_FOLDER))
    for (const [index, location] of allowed.entries()) {
      await store.stat(joinLocation(location, WAREHOUSE_FOLDER)).catch((cause: unknown) => {
        throw outsideError(cause, `allowed-locations[${index}]`, location)
      })
    }
  } catch (cause) {
    throw outsideError(cause, 'location', place.location)
  }
}

function outsideError(cause: unknown, path: string, location: string): unknown {
  if (!(cause instanceof LocationError) && !(cause instanceof StorageProfileError)) return cause
  return new InvalidInputError(
    `expected a directory that this process may use (TIMELAKE_DATA_DIR, TIMELAKE_EXTRA_ALLOWED_LOCATIONS), found ${location}`,
    path,
    { cause },
  )
}

/** The columns of a row that say where a warehouse is. */
export function encodePlace({
  location,
  profile,
  settings,
}: WarehousePlace): Pick<WarehouseRow, 'location' | 'storageProfile' | 'settings'> {
  return {
    location,
    storageProfile: encodeStorageProfile(profile),
    settings: encodeWarehouseSettings(settings),
  }
}

/** The sealed text for a row with this id. Throws InvalidInputError when this process has no key to seal with. */
export function sealCredentials(
  { secretBox }: CatalogContext,
  credentials: S3Credentials,
  warehouseId: string,
): string {
  try {
    return secretBox.seal(encodeS3Credentials(credentials), warehouseId)
  } catch (cause) {
    if (!(cause instanceof SecretKeyError)) throw cause
    throw new InvalidInputError(cause.message, 'credentials', { cause })
  }
}

/**
 * Throws InvalidInputError for ways of giving access to objects that this warehouse has no means for: a store of this machine has
 * none, sessions need a role, and the identity of the process is never given away.
 */
export function checkDelegationFits(
  { profile, settings: { delegation } }: WarehousePlace,
  hasCredentials: boolean,
): void {
  if (profile.type === 'file') {
    if (delegation.length === 0) return
    throw new InvalidInputError('expected an empty list for storage of type file', 'delegation')
  }
  const hasRole = profile.roleArn !== undefined || profile.clientRoleArn !== undefined
  if (delegation.includes('vended-credentials') && !hasRole) {
    const needed = 'storage.role-arn or storage.client-role-arn'
    throw new InvalidInputError(`vended-credentials need ${needed}, found neither`, 'delegation')
  }
  if (delegation.includes('static-keys') && !hasCredentials) {
    throw new InvalidInputError('static-keys need credentials, found none', 'delegation')
  }
}

/** Throws InvalidInputError for credentials that nothing would use. */
export function checkCredentialsFit(place: WarehousePlace, hasCredentials: boolean): void {
  if (place.profile.type === 's3' || !hasCredentials) return
  throw new InvalidInputError('expected only for storage of type s3', 'credentials')
}

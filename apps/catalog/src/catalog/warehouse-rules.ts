import type { WarehouseRow } from '@timelake/database/warehouses'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { checkLocation, isLocationBelow, isSameLocation } from '@timelake/iceberg/spec/location'
import {
  decodeStorageProfile,
  storeIdentity,
  type StorageProfile,
} from '@timelake/storage/storage-profile'
import { decodeWarehouseSettings, type WarehouseSettings } from './warehouse.ts'

/** Where a warehouse is to lie and how its objects are reached. */
export interface WarehousePlace {
  /** Normalized, without a trailing slash. */
  readonly location: string
  readonly profile: StorageProfile
  readonly settings: WarehouseSettings
}

const SCHEMES: Readonly<Record<StorageProfile['type'], string>> = { file: 'file://', s3: 's3://' }
const BUCKET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/

/**
 * The normalized location of a warehouse, or of a place that it allows besides. Throws InvalidInputError unless it is well
 * formed, of the scheme that the storage serves, and names a directory or a bucket. `path` names the member.
 */
export function checkPlace(text: string, { type }: StorageProfile, path: string): string {
  const location = checkWellFormed(text, path)
  const scheme = SCHEMES[type]
  if (!location.startsWith(scheme)) {
    throw new InvalidInputError(
      `expected a location like ${scheme}${type === 's3' ? 'bucket/folder' : '/folder'} for storage of type ${type}, found ${location}`,
      path,
    )
  }
  const [authority = '', folder = ''] = location.slice(scheme.length).split('/', 2)
  if (type === 'file' && folder === '') {
    throw new InvalidInputError('expected a directory, found the root of the machine', path)
  }
  if (type === 's3' && (!BUCKET_NAME.test(authority) || authority.includes('..'))) {
    throw new InvalidInputError(`expected the name of a bucket, found ${authority}`, path)
  }
  return location
}

function checkWellFormed(text: string, path: string): string {
  try {
    return checkLocation(text)
  } catch (cause) {
    if (!(cause instanceof InvalidInputError)) throw cause
    throw new InvalidInputError(cause.message, path, { cause })
  }
}

/**
 * Whether the places of the two, allowed ones included, equal, contain or lie inside one another in the same store: then a
 * purge, a recovery or a credential of the one could reach what the other keeps. A row that cannot be decoded counts as
 * the same store.
 */
export function overlaps(place: WarehousePlace, other: WarehouseRow): boolean {
  const identity = identityOf(other)
  if (identity !== undefined && identity !== storeIdentity(place.profile)) return false
  const own = [place.location, ...place.settings.allowedLocations]
  const others = [other.location, ...decodeWarehouseSettings(other.settings).allowedLocations]
  return own.some((one) => others.some((two) => touch(one, two)))
}

function touch(one: string, two: string): boolean {
  return isSameLocation(one, two) || isLocationBelow(one, two) || isLocationBelow(two, one)
}

function identityOf({ storageProfile }: WarehouseRow): string | undefined {
  try {
    return storeIdentity(decodeStorageProfile(JSON.parse(storageProfile)))
  } catch {
    // Written by a newer program: whatever it is, it may be this store.
    return undefined
  }
}

/**
 * Client properties that are secrets. They would be sent to every client and shown to every operator, so a warehouse keeps
 * none: clients bring their own access.
 */
const SECRET_PROPERTY =
  /^(token|credential|urn:ietf:params:oauth:token-type:.*)$|(^|[.-])(access-key-id|secret-access-key|session-token|password|secret|api-key|sas-token|connection-string|shared-key|encryption-key|decryption-key|sse\.key)([.-]|$)|^gcs\.oauth2\.token$|^adls\.token$|^header\.(proxy-)?(authorization|cookie)$/i

/** What the answer of `/v1/config` says itself. */
const OWN_PROPERTIES: readonly string[] = ['prefix', 'namespace-separator']

const PROPERTIES_MAX = 200
const PROPERTY_CHARACTERS_MAX = 4_096

/** Throws InvalidInputError for client properties that a warehouse must not hand out. `path` names the member. */
export function checkClientProperties(
  properties: Readonly<Record<string, string>>,
  path: string,
): void {
  const entries = Object.entries(properties)
  if (entries.length > PROPERTIES_MAX) {
    throw new InvalidInputError(
      `expected at most ${PROPERTIES_MAX} properties, found ${entries.length}`,
      path,
    )
  }
  for (const [key, value] of entries) {
    if (OWN_PROPERTIES.includes(key)) {
      throw new InvalidInputError('expected no such member: the server sets it', `${path}.${key}`)
    }
    if (SECRET_PROPERTY.test(key)) {
      throw new InvalidInputError('expected no secret: every client would get it', `${path}.${key}`)
    }
    if (key === '' || Math.max(key.length, value.length) > PROPERTY_CHARACTERS_MAX) {
      throw new InvalidInputError(
        `expected keys and values of at most ${PROPERTY_CHARACTERS_MAX} characters`,
        path,
      )
    }
  }
}

import type { WarehouseRow } from '@timelake/database/warehouses'
import { list, long, optional, stringMap, text } from '@timelake/iceberg/spec/decode'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { SecretBox } from '@timelake/storage/secret-box'
import {
  decodeS3Credentials,
  decodeStorageProfile,
  storageProfileJson,
  StorageProfileError,
  type S3Credentials,
  type StorageProfile,
} from '@timelake/storage/storage-profile'
import { checkName } from '../catalog/names.ts'
import type { WarehouseChange, WarehouseDraft } from '../catalog/warehouse-draft.ts'
import {
  decodeWarehouseSettings,
  DELEGATION_MODES,
  type DelegationMode,
} from '../catalog/warehouse.ts'
import { checkClientProperties } from '../catalog/warehouse-rules.ts'
import { refuseUnknown } from './unknown-members.ts'

const CHANGEABLE = [
  'location',
  'storage',
  'credentials',
  'allowed-locations',
  'defaults',
  'overrides',
  'delegation',
] as const
const ALLOWED_LOCATIONS_MAX = 100
/** An access key id shorter than this is not shown in part: what is left would tell most of it. */
const SHOWN_KEY_CHARACTERS_MIN = 12
const SHOWN_KEY_CHARACTERS = 4

/** What a request to make a warehouse says. Throws InvalidInputError that names the member and never holds a secret. */
export function decodeWarehouseDraft(json: JsonObject): WarehouseDraft {
  refuseUnknown(json, ['name', ...CHANGEABLE])
  const name = text(json['name'], 'name')
  checkName(name, 'name')
  const { location, profile, credentials, ...settings } = decodeMembers(json)
  if (location === undefined)
    throw new InvalidInputError('expected string, got nothing', 'location')
  return {
    name,
    location,
    profile: profile ?? decodeProfile(json['storage']),
    credentials: credentials ?? undefined,
    settings: {
      allowedLocations: settings.allowedLocations ?? [],
      defaults: settings.defaults ?? {},
      overrides: settings.overrides ?? {},
      delegation: settings.delegation ?? [],
    },
  }
}

/** What a request to change a warehouse says: absent members stay, `credentials: null` removes them. Errors as above. */
export function decodeWarehouseChange(json: JsonObject): WarehouseChange {
  refuseUnknown(json, ['version', ...CHANGEABLE])
  return { ...decodeMembers(json), expectedVersion: optional(json['version'], 'version', long) }
}

function decodeMembers(json: JsonObject): Omit<WarehouseChange, 'expectedVersion'> {
  const credentials = json['credentials']
  return {
    location: optional(json['location'], 'location', text),
    profile: optional(json['storage'], 'storage', decodeProfile),
    credentials: credentials === null ? null : optional(credentials, 'credentials', decodeKeys),
    allowedLocations: optional(json['allowed-locations'], 'allowed-locations', decodeLocations),
    defaults: optional(json['defaults'], 'defaults', decodeProperties),
    overrides: optional(json['overrides'], 'overrides', decodeProperties),
    delegation: optional(json['delegation'], 'delegation', decodeDelegation),
  }
}

function decodeProfile(value: JsonValue | undefined): StorageProfile {
  return asInvalidInput(() => decodeStorageProfile(value))
}

function decodeKeys(value: JsonValue | undefined): S3Credentials {
  return asInvalidInput(() => decodeS3Credentials(value))
}

function asInvalidInput<T>(decode: () => T): T {
  try {
    return decode()
  } catch (cause) {
    if (!(cause instanceof StorageProfileError)) throw cause
    // Its message names the member already.
    throw new InvalidInputError(cause.message, undefined, { cause })
  }
}

function decodeLocations(value: JsonValue | undefined, path: string): string[] {
  const locations = list(value, path, text)
  if (locations.length <= ALLOWED_LOCATIONS_MAX) return locations
  throw new InvalidInputError(
    `expected at most ${ALLOWED_LOCATIONS_MAX} locations, found ${locations.length}`,
    path,
  )
}

function decodeProperties(value: JsonValue | undefined, path: string): Record<string, string> {
  const properties = stringMap(value, path)
  checkClientProperties(properties, path)
  return properties
}

/** How clients may be given access by the catalog, in the order of preference. */
function decodeDelegation(value: JsonValue | undefined, path: string): DelegationMode[] {
  const modes = list(value, path, decodeMode)
  const again = modes.find((mode, index) => modes.indexOf(mode) < index)
  if (again === undefined) return modes
  throw new InvalidInputError(`expected each mode once, found ${again} twice`, path)
}

function decodeMode(value: JsonValue | undefined, path: string): DelegationMode {
  const found = text(value, path)
  const mode = DELEGATION_MODES.find((one) => one === found)
  if (mode !== undefined) return mode
  throw new InvalidInputError(
    `expected one of ${DELEGATION_MODES.join(', ')}, found ${found}`,
    path,
  )
}

/**
 * How the admin routes show a warehouse. Of its credentials only whether there are any and the end of the access key id; a
 * process that cannot open them shows less and does not fail.
 */
export function warehouseJson(row: WarehouseRow, box: SecretBox): JsonObject {
  const { allowedLocations, defaults, overrides, delegation } = decodeWarehouseSettings(
    row.settings,
  )
  return {
    id: row.id,
    name: row.name,
    location: row.location,
    storage: storageJson(row),
    credentials: credentialsJson(row, box),
    'allowed-locations': allowedLocations,
    defaults,
    overrides,
    delegation,
    version: row.version,
  }
}

function storageJson({ storageProfile }: WarehouseRow): JsonObject {
  return { ...storageProfileJson(decodeStorageProfile(JSON.parse(storageProfile))) }
}

function credentialsJson(row: WarehouseRow, box: SecretBox): JsonObject | null {
  const { sealedCredentials } = row
  if (sealedCredentials === undefined) return null
  const accessKeyId = openAccessKeyId(sealedCredentials, row.id, box)
  const isShown = (accessKeyId?.length ?? 0) >= SHOWN_KEY_CHARACTERS_MIN
  return {
    'opens-here': accessKeyId !== undefined,
    'access-key-id-end': isShown ? (accessKeyId?.slice(-SHOWN_KEY_CHARACTERS) ?? null) : null,
  }
}

function openAccessKeyId(sealed: string, context: string, box: SecretBox): string | undefined {
  try {
    return decodeS3Credentials(JSON.parse(box.open(sealed, context))).accessKeyId
  } catch {
    // Sealed with a key that this process does not have: that is what the answer says.
    return undefined
  }
}

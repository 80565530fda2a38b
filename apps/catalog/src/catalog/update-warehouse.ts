import { isDeepStrictEqual } from 'node:util'
import {
  findWarehouse,
  findWarehouseById,
  updateWarehouse as updateRow,
  type UpdateWarehouseOutcome,
  type WarehouseRow,
} from '@timelake/database/warehouses'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { decodeStorageProfile, type StorageProfile } from '@timelake/storage/storage-profile'
import type { CatalogContext } from '../context.ts'
import { NoSuchWarehouseError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import {
  checkCredentialsFit,
  checkDelegationFits,
  checkWarehousePlace,
  encodePlace,
  sealCredentials,
} from './warehouse-candidate.ts'
import { settleChange } from './settle-change.ts'
import type { WarehouseChange } from './warehouse-draft.ts'
import {
  WarehouseChangedError,
  WarehouseLocationTakenError,
  WarehouseNotEmptyError,
} from './admin-errors.ts'
import { overlaps, type WarehousePlace } from './warehouse-rules.ts'
import { decodeWarehouseSettings } from './warehouse.ts'

/**
 * Changes a warehouse; the next request of this process sees it, other processes within a second. Credentials stay only with
 * the endpoint that they were given for. Throws NoSuchWarehouseError, InvalidInputError, WarehouseChangedError,
 * WarehouseLocationTakenError, and WarehouseNotEmptyError for another location while anything is in it.
 */
export async function updateWarehouse(
  catalog: Catalog,
  name: string,
  change: WarehouseChange,
): Promise<WarehouseRow> {
  const { context, warehouses } = catalog
  const row = await findWarehouse(context.database, name)
  if (row === undefined) throw new NoSuchWarehouseError(name)
  const { expectedVersion = row.version } = change
  if (expectedVersion !== row.version) throw new WarehouseChangedError(name, expectedVersion)
  const place = await checkWarehousePlace(context, changedPlace(row, change))
  const sealedCredentials = changedCredentials(context, { row, change, place })
  checkDelegationFits(place, sealedCredentials !== undefined)
  const { database } = context
  const next = { id: row.id, ...encodePlace(place), sealedCredentials }
  const update = { ...next, expectedVersion, nowMs: context.nowMs() }
  const updated = await settleChange<UpdateWarehouseOutcome>({
    what: 'the change of the warehouse',
    send: () => updateRow(database, update, (other) => overlaps(place, other)),
    isApplied: ({ outcome }) => outcome === 'updated',
    findApplied: async () => {
      const found = await findWarehouseById(database, row.id)
      const isOurs =
        found?.version === expectedVersion + 1n && isDeepStrictEqual({ ...found, ...next }, found)
      return isOurs ? { outcome: 'updated', row: found } : undefined
    },
  }).finally(() => warehouses.forget())
  switch (updated.outcome) {
    case 'updated':
      context.log.info(
        { warehouse: name, version: String(updated.row.version) },
        'warehouse changed',
      )
      return updated.row
    case 'missing':
      throw new NoSuchWarehouseError(name)
    case 'stale':
      throw new WarehouseChangedError(name, expectedVersion)
    case 'location-taken':
      throw new WarehouseLocationTakenError(place.location, updated.by)
    case 'not-empty':
      throw new WarehouseNotEmptyError('move', name, updated.contents)
  }
}

function changedPlace(row: WarehouseRow, change: WarehouseChange): WarehousePlace {
  const settings = decodeWarehouseSettings(row.settings)
  return {
    location: change.location ?? row.location,
    profile: change.profile ?? storedProfile(row),
    settings: {
      allowedLocations: change.allowedLocations ?? settings.allowedLocations,
      defaults: change.defaults ?? settings.defaults,
      overrides: change.overrides ?? settings.overrides,
      delegation: change.delegation ?? settings.delegation,
    },
  }
}

function storedProfile({ storageProfile }: WarehouseRow): StorageProfile {
  return decodeStorageProfile(JSON.parse(storageProfile))
}

interface CredentialsChange {
  readonly row: WarehouseRow
  readonly change: WarehouseChange
  readonly place: WarehousePlace
}

function changedCredentials(
  context: CatalogContext,
  { row, change, place }: CredentialsChange,
): string | undefined {
  const { credentials, profile } = change
  if (credentials === null) return undefined
  const hasCredentials = credentials !== undefined || row.sealedCredentials !== undefined
  checkCredentialsFit(place, hasCredentials)
  if (credentials !== undefined) return sealCredentials(context, credentials, row.id)
  const goElsewhere =
    profile !== undefined && endpointsOf(profile) !== endpointsOf(storedProfile(row))
  if (row.sealedCredentials === undefined || !goElsewhere) return row.sealedCredentials
  // Otherwise whoever may change a warehouse could have its keys sent to a host of his own.
  throw new InvalidInputError(
    'expected with another endpoint: give them again, or null for none',
    'credentials',
  )
}

function endpointsOf(profile: StorageProfile): string {
  return profile.type === 'file' ? '' : `${profile.endpoint} ${profile.stsEndpoint}`
}

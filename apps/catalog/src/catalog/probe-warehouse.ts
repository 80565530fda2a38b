import { findWarehouse } from '@timelake/database/warehouses'
import type { ObjectStore } from '@timelake/storage/object-store'
import { probeStore, type ProbeFinding } from '@timelake/storage/probe-store'
import { StorageProfileError } from '@timelake/storage/storage-profile'
import type { StoredWarehouse } from '@timelake/storage/warehouse-stores'
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
import type { WarehouseDraft } from './warehouse-draft.ts'

/** Tries what the catalog needs of a warehouse's store, with small objects that are removed again. Throws NoSuchWarehouseError. */
export async function probeWarehouse(
  { context }: Catalog,
  name: string,
): Promise<readonly ProbeFinding[]> {
  const row = await findWarehouse(context.database, name)
  if (row === undefined) throw new NoSuchWarehouseError(name)
  return probe(context, row)
}

/** The same for a warehouse that is not kept. Throws InvalidInputError. */
export async function probeNewWarehouse(
  { context }: Catalog,
  draft: WarehouseDraft,
): Promise<readonly ProbeFinding[]> {
  const place = await checkWarehousePlace(context, draft)
  checkCredentialsFit(place, draft.credentials !== undefined)
  checkDelegationFits(place, draft.credentials !== undefined)
  const id = context.newUuid()
  return probe(context, {
    id,
    ...encodePlace(place),
    version: 0n,
    sealedCredentials:
      draft.credentials === undefined ? undefined : sealCredentials(context, draft.credentials, id),
  })
}

async function probe(
  { stores }: CatalogContext,
  warehouse: StoredWarehouse,
): Promise<readonly ProbeFinding[]> {
  let store: ObjectStore
  try {
    store = stores.storeOf(warehouse)
  } catch (cause) {
    if (!(cause instanceof StorageProfileError)) throw cause
    // This process has no key that opens the credentials: the answer to the operator's question.
    return [{ check: 'write', ok: false, detail: cause.message }]
  }
  return probeStore(store, warehouse.location)
}

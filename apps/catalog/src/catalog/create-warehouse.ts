import { createWarehouse as createRow, type WarehouseRow } from '@timelake/database/warehouses'
import type { Catalog } from './catalog.ts'
import {
  checkCredentialsFit,
  checkWarehousePlace,
  encodePlace,
  sealCredentials,
} from './warehouse-candidate.ts'
import type { WarehouseDraft } from './warehouse-draft.ts'
import { WarehouseExistsError, WarehouseLocationTakenError } from './admin-errors.ts'
import { overlaps } from './warehouse-rules.ts'

/**
 * Makes a warehouse; no object is touched. Two warehouses of one store never nest, whoever made them. Throws
 * InvalidInputError, WarehouseExistsError and WarehouseLocationTakenError.
 */
export async function createWarehouse(
  catalog: Catalog,
  draft: WarehouseDraft,
): Promise<WarehouseRow> {
  const { context, warehouses } = catalog
  const place = await checkWarehousePlace(context, draft)
  checkCredentialsFit(place, draft.credentials !== undefined)
  const id = context.newUuid()
  const created = await createRow(
    context.database,
    {
      id,
      name: draft.name,
      ...encodePlace(place),
      nowMs: context.nowMs(),
      ...(draft.credentials === undefined
        ? {}
        : { sealedCredentials: sealCredentials(context, draft.credentials, id) }),
    },
    (other) => overlaps(place, other),
  )
  switch (created.outcome) {
    case 'created':
      warehouses.forget()
      context.log.info({ warehouse: draft.name, location: place.location }, 'warehouse created')
      return created.row
    case 'exists':
      throw new WarehouseExistsError(draft.name)
    case 'location-taken':
      throw new WarehouseLocationTakenError(place.location, created.by)
  }
}

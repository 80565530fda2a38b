import {
  createWarehouse as createRow,
  findWarehouseById,
  type CreateWarehouseOutcome,
  type WarehouseRow,
} from '@timelake/database/warehouses'
import type { Catalog } from './catalog.ts'
import {
  checkCredentialsFit,
  checkDelegationFits,
  checkWarehousePlace,
  encodePlace,
  sealCredentials,
} from './warehouse-candidate.ts'
import { settleChange } from './settle-change.ts'
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
  checkDelegationFits(place, draft.credentials !== undefined)
  const { database } = context
  const id = context.newUuid()
  const row = {
    id,
    name: draft.name,
    ...encodePlace(place),
    nowMs: context.nowMs(),
    ...(draft.credentials === undefined
      ? {}
      : { sealedCredentials: sealCredentials(context, draft.credentials, id) }),
  }
  const created = await settleChange<CreateWarehouseOutcome>({
    what: 'the new warehouse',
    send: () => createRow(database, row, (other) => overlaps(place, other)),
    isApplied: ({ outcome }) => outcome === 'created',
    findApplied: async () => {
      const found = await findWarehouseById(database, id)
      return found && { outcome: 'created', row: found }
    },
  })
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

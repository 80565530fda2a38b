import {
  deleteWarehouse as deleteRow,
  findWarehouse,
  findWarehouseById,
  type DeleteWarehouseOutcome,
} from '@timelake/database/warehouses'
import { NoSuchWarehouseError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { settleChange } from './settle-change.ts'
import { WarehouseNotEmptyError } from './admin-errors.ts'

/**
 * Forgets an empty warehouse; no object is touched. Dropped tables hold it as long as they may come back or wait for their
 * purge; `isForced` gives them up. Throws NoSuchWarehouseError and WarehouseNotEmptyError.
 */
export async function deleteWarehouse(
  catalog: Catalog,
  name: string,
  { isForced }: { readonly isForced: boolean },
): Promise<void> {
  const { context, warehouses } = catalog
  const row = await findWarehouse(context.database, name)
  if (row === undefined) throw new NoSuchWarehouseError(name)
  const { database } = context
  const deleted = await settleChange<DeleteWarehouseOutcome>({
    what: 'the removal of the warehouse',
    send: () => deleteRow(database, { id: row.id, isForced }),
    isApplied: ({ outcome }) => outcome === 'deleted',
    findApplied: async () => {
      const isThere = (await findWarehouseById(database, row.id)) !== undefined
      return isThere ? undefined : { outcome: 'deleted' }
    },
  }).finally(() => warehouses.forget())
  switch (deleted.outcome) {
    case 'deleted':
      context.log.info({ warehouse: name }, 'warehouse deleted')
      return
    case 'missing':
      throw new NoSuchWarehouseError(name)
    case 'not-empty':
      throw new WarehouseNotEmptyError('delete', name, deleted.contents)
  }
}

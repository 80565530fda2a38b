import { deleteWarehouse as deleteRow, findWarehouse } from '@timelake/database/warehouses'
import { NoSuchWarehouseError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
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
  const deleted = await deleteRow(context.database, { id: row.id, isForced })
  warehouses.forget()
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

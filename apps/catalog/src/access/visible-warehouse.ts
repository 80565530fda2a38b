import { findWarehouse } from '@timelake/database/warehouses'
import { NoSuchWarehouseError } from '../catalog/catalog-errors.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import { ForbiddenError } from '../http/request-errors.ts'
import { includesRole, type Caller } from './caller.ts'

/** The warehouse, if the caller has a role in it. A hidden one is not there: NoSuchWarehouseError for both. */
export async function visibleWarehouse(
  catalog: Catalog,
  caller: Caller,
  name: string,
): Promise<Warehouse> {
  const { warehouses, context } = catalog
  const isRemembered = warehouses.remembers(name)
  const warehouse = await warehouses.byName(name)
  if (caller.grants.seesWarehouse(warehouse.id)) return warehouse
  // An unknown name costs a look-up, so a hidden one costs one too.
  if (isRemembered) await findWarehouse(context.database, name)
  throw new NoSuchWarehouseError(name)
}

/** The same for callers who administer the whole warehouse. Throws ForbiddenError for others who see it. */
export async function administeredWarehouse(
  catalog: Catalog,
  caller: Caller,
  name: string,
): Promise<Warehouse> {
  const warehouse = await visibleWarehouse(catalog, caller, name)
  if (includesRole(caller.grants.roleAt(warehouse.id), 'admin')) return warehouse
  throw new ForbiddenError(`${caller.name} lacks the role admin in warehouse ${name}`)
}

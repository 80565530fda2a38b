import type { Route } from '../http/route.ts'
import { compactTable } from './compact-table.ts'
import { createWarehouse } from './create-warehouse.ts'
import { deleteWarehouse } from './delete-warehouse.ts'
import { getMaintenance } from './get-maintenance.ts'
import { getTable } from './get-table.ts'
import { getWarehouse } from './get-warehouse.ts'
import { keepDroppedTable } from './keep-dropped-table.ts'
import { listAllTables } from './list-all-tables.ts'
import { listDroppedTables } from './list-dropped-tables.ts'
import { listWarehouses } from './list-warehouses.ts'
import { probeNewWarehouse } from './probe-new-warehouse.ts'
import { probeWarehouse } from './probe-warehouse.ts'
import { purgeDroppedTable } from './purge-dropped-table.ts'
import { undropTable } from './undrop-table.ts'
import { updateWarehouse } from './update-warehouse.ts'

const TABLES = '/admin/v1/tables'
const TABLE = `${TABLES}/{id}`
const DROPPED = '/admin/v1/dropped-tables'
const WAREHOUSES = '/admin/v1/warehouses'
const WAREHOUSE = `${WAREHOUSES}/{name}`

/** Routes for operators: warehouses, dropped tables, tables by id, and what maintenance did, decided and will do. */
// prettier-ignore
export const ADMIN_ROUTES: readonly Route[] = [
  { method: 'GET', template: TABLES, operationId: 'listAllTables', handle: listAllTables },
  { method: 'GET', template: TABLE, operationId: 'getTable', handle: getTable },
  { method: 'GET', template: `${TABLE}/maintenance`, operationId: 'getMaintenance', handle: getMaintenance },
  { method: 'POST', template: `${TABLE}/compact`, operationId: 'compactTable', handle: compactTable },
  { method: 'GET', template: WAREHOUSES, operationId: 'listWarehouses', handle: listWarehouses },
  { method: 'POST', template: WAREHOUSES, operationId: 'createWarehouse', handle: createWarehouse },
  { method: 'POST', template: `${WAREHOUSES}/test`, operationId: 'probeNewWarehouse', handle: probeNewWarehouse },
  { method: 'GET', template: WAREHOUSE, operationId: 'getWarehouse', handle: getWarehouse },
  { method: 'PATCH', template: WAREHOUSE, operationId: 'updateWarehouse', handle: updateWarehouse },
  { method: 'DELETE', template: WAREHOUSE, operationId: 'deleteWarehouse', handle: deleteWarehouse },
  { method: 'POST', template: `${WAREHOUSE}/test`, operationId: 'probeWarehouse', handle: probeWarehouse },
  { method: 'GET', template: DROPPED, operationId: 'listDroppedTables', handle: listDroppedTables },
  { method: 'DELETE', template: `${DROPPED}/{id}`, operationId: 'purgeDroppedTable', handle: purgeDroppedTable },
  { method: 'POST', template: `${DROPPED}/{id}/undrop`, operationId: 'undropTable', handle: undropTable },
  { method: 'POST', template: `${DROPPED}/{id}/keep`, operationId: 'keepDroppedTable', handle: keepDroppedTable },
]

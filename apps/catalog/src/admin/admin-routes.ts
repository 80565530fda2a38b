import type { Route } from '../http/route.ts'
import { compactTable } from './compact-table.ts'
import { getMaintenance } from './get-maintenance.ts'
import { getTable } from './get-table.ts'
import { listAllTables } from './list-all-tables.ts'

const TABLES = '/admin/v1/tables'
const TABLE = `${TABLES}/{id}`

/** Routes for operators: tables by id, and what maintenance did, decided and will do. */
// prettier-ignore
export const ADMIN_ROUTES: readonly Route[] = [
  { method: 'GET', template: TABLES, operationId: 'listAllTables', handle: listAllTables },
  { method: 'GET', template: TABLE, operationId: 'getTable', handle: getTable },
  { method: 'GET', template: `${TABLE}/maintenance`, operationId: 'getMaintenance', handle: getMaintenance },
  { method: 'POST', template: `${TABLE}/compact`, operationId: 'compactTable', handle: compactTable },
]

import type { Route } from '../http/route.ts'
import { compactTable } from './compact-table.ts'
import { createWarehouse } from './create-warehouse.ts'
import { createWebhook } from './create-webhook.ts'
import { deleteWarehouse } from './delete-warehouse.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { discardDeadLetters } from './discard-dead-letters.ts'
import { getMaintenance } from './get-maintenance.ts'
import { getTable } from './get-table.ts'
import { getTableQueue } from './get-table-queue.ts'
import { getWarehouse } from './get-warehouse.ts'
import { getWebhook } from './get-webhook.ts'
import { keepDroppedTable } from './keep-dropped-table.ts'
import { listAllTables } from './list-all-tables.ts'
import { listDeadLetters } from './list-dead-letters.ts'
import { listDroppedTables } from './list-dropped-tables.ts'
import { listWarehouses } from './list-warehouses.ts'
import { listWebhooks } from './list-webhooks.ts'
import { pauseWebhook } from './pause-webhook.ts'
import { probeNewWarehouse } from './probe-new-warehouse.ts'
import { probeWarehouse } from './probe-warehouse.ts'
import { probeWebhook } from './probe-webhook.ts'
import { purgeDroppedTable } from './purge-dropped-table.ts'
import { replayWebhook } from './replay-webhook.ts'
import { resumeWebhook } from './resume-webhook.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { undropTable } from './undrop-table.ts'
import { updateWarehouse } from './update-warehouse.ts'
import { updateWebhook } from './update-webhook.ts'

const TABLES = '/admin/v1/tables'
const TABLE = `${TABLES}/{id}`
const DROPPED = '/admin/v1/dropped-tables'
const WAREHOUSES = '/admin/v1/warehouses'
const WAREHOUSE = `${WAREHOUSES}/{name}`
const WEBHOOKS = '/admin/v1/webhooks'
const WEBHOOK = `${WEBHOOKS}/{name}`

/** Routes for operators: warehouses, dropped tables, tables by id, and what maintenance did, decided and will do. */
// prettier-ignore
export const ADMIN_ROUTES: readonly Route[] = [
  { method: 'GET', template: TABLES, operationId: 'listAllTables', handle: listAllTables },
  { method: 'GET', template: TABLE, operationId: 'getTable', handle: getTable },
  { method: 'GET', template: `${TABLE}/maintenance`, operationId: 'getMaintenance', handle: getMaintenance },
  { method: 'GET', template: `${TABLE}/queue`, operationId: 'getTableQueue', handle: getTableQueue },
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
  { method: 'GET', template: WEBHOOKS, operationId: 'listWebhooks', handle: listWebhooks },
  { method: 'POST', template: WEBHOOKS, operationId: 'createWebhook', handle: createWebhook },
  { method: 'GET', template: WEBHOOK, operationId: 'getWebhook', handle: getWebhook },
  { method: 'PATCH', template: WEBHOOK, operationId: 'updateWebhook', handle: updateWebhook },
  { method: 'DELETE', template: WEBHOOK, operationId: 'deleteWebhook', handle: deleteWebhook },
  { method: 'POST', template: `${WEBHOOK}/test`, operationId: 'probeWebhook', handle: probeWebhook },
  { method: 'POST', template: `${WEBHOOK}/pause`, operationId: 'pauseWebhook', handle: pauseWebhook },
  { method: 'POST', template: `${WEBHOOK}/resume`, operationId: 'resumeWebhook', handle: resumeWebhook },
  { method: 'POST', template: `${WEBHOOK}/secret`, operationId: 'rotateWebhookSecret', handle: rotateWebhookSecret },
  { method: 'POST', template: `${WEBHOOK}/replay`, operationId: 'replayWebhook', handle: replayWebhook },
  { method: 'GET', template: `${WEBHOOK}/dead-letters`, operationId: 'listDeadLetters', handle: listDeadLetters },
  { method: 'DELETE', template: `${WEBHOOK}/dead-letters`, operationId: 'discardDeadLetters', handle: discardDeadLetters },
]

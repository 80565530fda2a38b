import type { Route } from '../http/route.ts'
import { compactTable } from './compact-table.ts'
import { createAccount } from './create-account.ts'
import { createGrant } from './create-grant.ts'
import { createWarehouse } from './create-warehouse.ts'
import { createWebhook } from './create-webhook.ts'
import { deleteAccount } from './delete-account.ts'
import { deleteGrant } from './delete-grant.ts'
import { deleteWarehouse } from './delete-warehouse.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { discardDeadLetters } from './discard-dead-letters.ts'
import { getAccount } from './get-account.ts'
import { getMaintenance } from './get-maintenance.ts'
import { getTable } from './get-table.ts'
import { getTableQueue } from './get-table-queue.ts'
import { getWarehouse } from './get-warehouse.ts'
import { getWebhook } from './get-webhook.ts'
import { keepDroppedTable } from './keep-dropped-table.ts'
import { listAccounts } from './list-accounts.ts'
import { listAllTables } from './list-all-tables.ts'
import { listAuditEntries } from './list-audit-entries.ts'
import { listDeadLetters } from './list-dead-letters.ts'
import { listDroppedTables } from './list-dropped-tables.ts'
import { listGrants } from './list-grants.ts'
import { listWarehouses } from './list-warehouses.ts'
import { listWebhooks } from './list-webhooks.ts'
import { pauseWebhook } from './pause-webhook.ts'
import { probeNewWarehouse } from './probe-new-warehouse.ts'
import { probeWarehouse } from './probe-warehouse.ts'
import { probeWebhook } from './probe-webhook.ts'
import { purgeDroppedTable } from './purge-dropped-table.ts'
import { replayWebhook } from './replay-webhook.ts'
import { resumeWebhook } from './resume-webhook.ts'
import { rotateAccountSecret } from './rotate-account-secret.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { undropTable } from './undrop-table.ts'
import { updateAccount } from './update-account.ts'
import { updateWarehouse } from './update-warehouse.ts'
import { updateWebhook } from './update-webhook.ts'

const TABLES = '/admin/v1/tables'
const TABLE = `${TABLES}/{id}`
const DROPPED = '/admin/v1/dropped-tables'
const WAREHOUSES = '/admin/v1/warehouses'
const WAREHOUSE = `${WAREHOUSES}/{name}`
const WEBHOOKS = '/admin/v1/webhooks'
const WEBHOOK = `${WEBHOOKS}/{name}`
const ACCOUNTS = '/admin/v1/accounts'
const ACCOUNT = `${ACCOUNTS}/{name}`
const GRANTS = '/admin/v1/grants'

/** Routes for operators: accounts, grants, the audit log, warehouses, dropped tables, tables by id, and what maintenance did, decided and will do. */
// prettier-ignore
export const ADMIN_ROUTES: readonly Route[] = [
  { method: 'GET', template: TABLES, operationId: 'listAllTables', access: 'caller', handle: listAllTables },
  { method: 'GET', template: TABLE, operationId: 'getTable', access: 'caller', handle: getTable },
  { method: 'GET', template: `${TABLE}/maintenance`, operationId: 'getMaintenance', access: 'caller', handle: getMaintenance },
  { method: 'GET', template: `${TABLE}/queue`, operationId: 'getTableQueue', access: 'caller', handle: getTableQueue },
  { method: 'POST', template: `${TABLE}/compact`, operationId: 'compactTable', access: 'caller', handle: compactTable },
  { method: 'GET', template: WAREHOUSES, operationId: 'listWarehouses', access: 'server-admin', handle: listWarehouses },
  { method: 'POST', template: WAREHOUSES, operationId: 'createWarehouse', access: 'server-admin', handle: createWarehouse },
  { method: 'POST', template: `${WAREHOUSES}/test`, operationId: 'probeNewWarehouse', access: 'server-admin', handle: probeNewWarehouse },
  { method: 'GET', template: WAREHOUSE, operationId: 'getWarehouse', access: 'server-admin', handle: getWarehouse },
  { method: 'PATCH', template: WAREHOUSE, operationId: 'updateWarehouse', access: 'server-admin', handle: updateWarehouse },
  { method: 'DELETE', template: WAREHOUSE, operationId: 'deleteWarehouse', access: 'server-admin', handle: deleteWarehouse },
  { method: 'POST', template: `${WAREHOUSE}/test`, operationId: 'probeWarehouse', access: 'server-admin', handle: probeWarehouse },
  { method: 'GET', template: DROPPED, operationId: 'listDroppedTables', access: 'caller', handle: listDroppedTables },
  { method: 'DELETE', template: `${DROPPED}/{id}`, operationId: 'purgeDroppedTable', access: 'caller', handle: purgeDroppedTable },
  { method: 'POST', template: `${DROPPED}/{id}/undrop`, operationId: 'undropTable', access: 'caller', handle: undropTable },
  { method: 'POST', template: `${DROPPED}/{id}/keep`, operationId: 'keepDroppedTable', access: 'caller', handle: keepDroppedTable },
  { method: 'GET', template: WEBHOOKS, operationId: 'listWebhooks', access: 'server-admin', handle: listWebhooks },
  { method: 'POST', template: WEBHOOKS, operationId: 'createWebhook', access: 'server-admin', handle: createWebhook },
  { method: 'GET', template: WEBHOOK, operationId: 'getWebhook', access: 'server-admin', handle: getWebhook },
  { method: 'PATCH', template: WEBHOOK, operationId: 'updateWebhook', access: 'server-admin', handle: updateWebhook },
  { method: 'DELETE', template: WEBHOOK, operationId: 'deleteWebhook', access: 'server-admin', handle: deleteWebhook },
  { method: 'POST', template: `${WEBHOOK}/test`, operationId: 'probeWebhook', access: 'server-admin', handle: probeWebhook },
  { method: 'POST', template: `${WEBHOOK}/pause`, operationId: 'pauseWebhook', access: 'server-admin', handle: pauseWebhook },
  { method: 'POST', template: `${WEBHOOK}/resume`, operationId: 'resumeWebhook', access: 'server-admin', handle: resumeWebhook },
  { method: 'POST', template: `${WEBHOOK}/secret`, operationId: 'rotateWebhookSecret', access: 'server-admin', handle: rotateWebhookSecret },
  { method: 'POST', template: `${WEBHOOK}/replay`, operationId: 'replayWebhook', access: 'server-admin', handle: replayWebhook },
  { method: 'GET', template: `${WEBHOOK}/dead-letters`, operationId: 'listDeadLetters', access: 'server-admin', handle: listDeadLetters },
  { method: 'DELETE', template: `${WEBHOOK}/dead-letters`, operationId: 'discardDeadLetters', access: 'server-admin', handle: discardDeadLetters },
  { method: 'GET', template: ACCOUNTS, operationId: 'listAccounts', access: 'server-admin', handle: listAccounts },
  { method: 'POST', template: ACCOUNTS, operationId: 'createAccount', access: 'server-admin', handle: createAccount },
  { method: 'GET', template: ACCOUNT, operationId: 'getAccount', access: 'server-admin', handle: getAccount },
  { method: 'PATCH', template: ACCOUNT, operationId: 'updateAccount', access: 'server-admin', handle: updateAccount },
  { method: 'DELETE', template: ACCOUNT, operationId: 'deleteAccount', access: 'server-admin', handle: deleteAccount },
  { method: 'POST', template: `${ACCOUNT}/secret`, operationId: 'rotateAccountSecret', access: 'server-admin', handle: rotateAccountSecret },
  { method: 'GET', template: GRANTS, operationId: 'listGrants', access: 'server-admin', handle: listGrants },
  { method: 'POST', template: GRANTS, operationId: 'createGrant', access: 'server-admin', handle: createGrant },
  { method: 'DELETE', template: `${GRANTS}/{id}`, operationId: 'deleteGrant', access: 'server-admin', handle: deleteGrant },
  { method: 'GET', template: '/admin/v1/audit', operationId: 'listAuditEntries', access: 'server-admin', handle: listAuditEntries },
]

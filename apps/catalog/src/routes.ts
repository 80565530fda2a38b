import { ADMIN_ROUTES } from './admin/admin-routes.ts'
import { oauthErrorAnswer } from './access/oauth-error.ts'
import { storedAnswer } from './http/idempotency.ts'
import type { Route } from './http/route.ts'
import { LAKE_ROUTES } from './lake/lake-routes.ts'
import { cancelPlanning } from './routes/cancel-planning.ts'
import { commitTransaction } from './routes/commit-transaction.ts'
import { createNamespace, replayCreateNamespace } from './routes/create-namespace.ts'
import { createTable, replayCreateTable } from './routes/create-table.ts'
import { createView, replayCreateView } from './routes/create-view.ts'
import { dropNamespace } from './routes/drop-namespace.ts'
import { dropTable } from './routes/drop-table.ts'
import { dropView } from './routes/drop-view.ts'
import { fetchPlanningResult } from './routes/fetch-planning-result.ts'
import { fetchScanTasks } from './routes/fetch-scan-tasks.ts'
import { getConfig } from './routes/get-config.ts'
import { getToken } from './routes/get-token.ts'
import { healthLive, healthReady } from './routes/health.ts'
import { listNamespaces } from './routes/list-namespaces.ts'
import { listTables } from './routes/list-tables.ts'
import { listViews } from './routes/list-views.ts'
import { loadCredentials } from './routes/load-credentials.ts'
import { loadNamespaceMetadata } from './routes/load-namespace-metadata.ts'
import { loadTable } from './routes/load-table.ts'
import { loadView } from './routes/load-view.ts'
import { metrics } from './routes/metrics.ts'
import { namespaceExists } from './routes/namespace-exists.ts'
import { planTableScan } from './routes/plan-table-scan.ts'
import { registerTable, replayRegisterTable } from './routes/register-table.ts'
import { registerView, replayRegisterView } from './routes/register-view.ts'
import { renameTable } from './routes/rename-table.ts'
import { renameView } from './routes/rename-view.ts'
import { replaceView, replayReplaceView } from './routes/replace-view.ts'
import { reportMetrics } from './routes/report-metrics.ts'
import { signRequest } from './routes/sign-request.ts'
import { tableExists } from './routes/table-exists.ts'
import { replayUpdateTable, updateTable } from './routes/update-table.ts'
import { updateProperties } from './routes/update-properties.ts'
import { viewExists } from './routes/view-exists.ts'

const NAMESPACES = '/v1/{prefix}/namespaces'
const NAMESPACE = `${NAMESPACES}/{namespace}`
const TABLES = `${NAMESPACE}/tables`
const TABLE = `${TABLES}/{table}`
const VIEWS = `${NAMESPACE}/views`
const VIEW = `${VIEWS}/{view}`

/** The answer is the stored one, word for word. */
const replayStored: NonNullable<Route['replay']> = async (_call, outcome) => storedAnswer(outcome)

/** Routes of the Iceberg REST protocol that a client learns from `endpoints`. */
// prettier-ignore
const ICEBERG_ROUTES: readonly Route[] = [
  { method: 'GET', template: NAMESPACES, operationId: 'listNamespaces', access: 'warehouse', handle: listNamespaces },
  { method: 'POST', template: NAMESPACES, operationId: 'createNamespace', access: 'warehouse', handle: createNamespace, replay: replayCreateNamespace },
  { method: 'GET', template: NAMESPACE, operationId: 'loadNamespaceMetadata', access: 'namespace-seen', handle: loadNamespaceMetadata },
  { method: 'HEAD', template: NAMESPACE, operationId: 'namespaceExists', access: 'namespace-seen', handle: namespaceExists },
  { method: 'DELETE', template: NAMESPACE, operationId: 'dropNamespace', access: 'namespace-writer', handle: dropNamespace, replay: replayStored },
  { method: 'POST', template: `${NAMESPACE}/properties`, operationId: 'updateProperties', access: 'namespace-writer', handle: updateProperties, replay: replayStored },
  { method: 'POST', template: `${NAMESPACE}/register`, operationId: 'registerTable', access: 'namespace-writer', handle: registerTable, replay: replayRegisterTable },
  { method: 'GET', template: TABLES, operationId: 'listTables', access: 'namespace-reader', handle: listTables },
  { method: 'POST', template: TABLES, operationId: 'createTable', access: 'namespace-writer', handle: createTable, replay: replayCreateTable },
  { method: 'GET', template: TABLE, operationId: 'loadTable', access: 'table-reader', handle: loadTable },
  { method: 'HEAD', template: TABLE, operationId: 'tableExists', access: 'table-reader', handle: tableExists },
  { method: 'POST', template: TABLE, operationId: 'updateTable', access: 'table-writer', handle: updateTable, replay: replayUpdateTable },
  { method: 'DELETE', template: TABLE, operationId: 'dropTable', access: 'table-writer', handle: dropTable, replay: replayStored },
  { method: 'GET', template: `${TABLE}/credentials`, operationId: 'loadCredentials', access: 'table-reader', handle: loadCredentials },
  { method: 'POST', template: `${TABLE}/sign`, operationId: 'signRequest', access: 'table-reader', handle: signRequest },
  { method: 'POST', template: `${TABLE}/metrics`, operationId: 'reportMetrics', access: 'table-reader', handle: reportMetrics },
  { method: 'POST', template: `${TABLE}/plan`, operationId: 'planTableScan', access: 'table-reader', handle: planTableScan },
  { method: 'GET', template: `${TABLE}/plan/{plan-id}`, operationId: 'fetchPlanningResult', access: 'table-reader', handle: fetchPlanningResult },
  { method: 'DELETE', template: `${TABLE}/plan/{plan-id}`, operationId: 'cancelPlanning', access: 'table-reader', handle: cancelPlanning },
  { method: 'POST', template: `${TABLE}/tasks`, operationId: 'fetchScanTasks', access: 'table-reader', handle: fetchScanTasks },
  { method: 'POST', template: '/v1/{prefix}/tables/rename', operationId: 'renameTable', access: 'warehouse', handle: renameTable, replay: replayStored },
  { method: 'POST', template: `${NAMESPACE}/register-view`, operationId: 'registerView', access: 'namespace-writer', handle: registerView, replay: replayRegisterView },
  { method: 'GET', template: VIEWS, operationId: 'listViews', access: 'namespace-reader', handle: listViews },
  { method: 'POST', template: VIEWS, operationId: 'createView', access: 'namespace-writer', handle: createView, replay: replayCreateView },
  { method: 'GET', template: VIEW, operationId: 'loadView', access: 'view-reader', handle: loadView },
  { method: 'HEAD', template: VIEW, operationId: 'viewExists', access: 'view-reader', handle: viewExists },
  { method: 'POST', template: VIEW, operationId: 'replaceView', access: 'view-writer', handle: replaceView, replay: replayReplaceView },
  { method: 'DELETE', template: VIEW, operationId: 'dropView', access: 'view-writer', handle: dropView, replay: replayStored },
  { method: 'POST', template: '/v1/{prefix}/views/rename', operationId: 'renameView', access: 'warehouse', handle: renameView, replay: replayStored },
  { method: 'POST', template: '/v1/{prefix}/transactions/commit', operationId: 'commitTransaction', access: 'warehouse', handle: commitTransaction, replay: replayStored },
]

/** What `endpoints` of the configuration says: exactly the routes that are served. */
const ENDPOINTS: readonly string[] = ICEBERG_ROUTES.map(
  (route) => `${route.method} ${route.template}`,
)

/** Every route of the server. Mutations that honour an Idempotency-Key have a `replay`. */
// prettier-ignore
export const ROUTES: readonly Route[] = [
  { method: 'GET', template: '/v1/config', operationId: 'getConfig', access: 'caller', handle: (call) => getConfig(call, ENDPOINTS) },
  { method: 'POST', template: '/v1/oauth/tokens', operationId: 'getToken', access: 'open', handle: getToken, answerError: oauthErrorAnswer },
  ...ICEBERG_ROUTES,
  { method: 'GET', template: '/health/live', operationId: 'healthLive', access: 'open', handle: healthLive },
  { method: 'GET', template: '/health/ready', operationId: 'healthReady', access: 'open', handle: healthReady },
  { method: 'GET', template: '/metrics', operationId: 'metrics', access: 'server-admin', handle: metrics },
  ...LAKE_ROUTES,
  ...ADMIN_ROUTES,
]

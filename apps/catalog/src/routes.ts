import { ADMIN_ROUTES } from './admin/admin-routes.ts'
import { storedAnswer } from './http/idempotency.ts'
import type { Route } from './http/route.ts'
import { LAKE_ROUTES } from './lake/lake-routes.ts'
import { commitTransaction } from './routes/commit-transaction.ts'
import { createNamespace, replayCreateNamespace } from './routes/create-namespace.ts'
import { createTable, replayCreateTable } from './routes/create-table.ts'
import { createView, replayCreateView } from './routes/create-view.ts'
import { dropNamespace } from './routes/drop-namespace.ts'
import { dropTable } from './routes/drop-table.ts'
import { dropView } from './routes/drop-view.ts'
import { getConfig } from './routes/get-config.ts'
import { healthLive, healthReady } from './routes/health.ts'
import { listNamespaces } from './routes/list-namespaces.ts'
import { listTables } from './routes/list-tables.ts'
import { listViews } from './routes/list-views.ts'
import { loadNamespaceMetadata } from './routes/load-namespace-metadata.ts'
import { loadTable } from './routes/load-table.ts'
import { loadView } from './routes/load-view.ts'
import { metrics } from './routes/metrics.ts'
import { namespaceExists } from './routes/namespace-exists.ts'
import { registerTable, replayRegisterTable } from './routes/register-table.ts'
import { registerView, replayRegisterView } from './routes/register-view.ts'
import { renameTable } from './routes/rename-table.ts'
import { renameView } from './routes/rename-view.ts'
import { replaceView, replayReplaceView } from './routes/replace-view.ts'
import { reportMetrics } from './routes/report-metrics.ts'
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
  { method: 'GET', template: NAMESPACES, operationId: 'listNamespaces', handle: listNamespaces },
  { method: 'POST', template: NAMESPACES, operationId: 'createNamespace', handle: createNamespace, replay: replayCreateNamespace },
  { method: 'GET', template: NAMESPACE, operationId: 'loadNamespaceMetadata', handle: loadNamespaceMetadata },
  { method: 'HEAD', template: NAMESPACE, operationId: 'namespaceExists', handle: namespaceExists },
  { method: 'DELETE', template: NAMESPACE, operationId: 'dropNamespace', handle: dropNamespace, replay: replayStored },
  { method: 'POST', template: `${NAMESPACE}/properties`, operationId: 'updateProperties', handle: updateProperties, replay: replayStored },
  { method: 'POST', template: `${NAMESPACE}/register`, operationId: 'registerTable', handle: registerTable, replay: replayRegisterTable },
  { method: 'GET', template: TABLES, operationId: 'listTables', handle: listTables },
  { method: 'POST', template: TABLES, operationId: 'createTable', handle: createTable, replay: replayCreateTable },
  { method: 'GET', template: TABLE, operationId: 'loadTable', handle: loadTable },
  { method: 'HEAD', template: TABLE, operationId: 'tableExists', handle: tableExists },
  { method: 'POST', template: TABLE, operationId: 'updateTable', handle: updateTable, replay: replayUpdateTable },
  { method: 'DELETE', template: TABLE, operationId: 'dropTable', handle: dropTable, replay: replayStored },
  { method: 'POST', template: `${TABLE}/metrics`, operationId: 'reportMetrics', handle: reportMetrics },
  { method: 'POST', template: '/v1/{prefix}/tables/rename', operationId: 'renameTable', handle: renameTable, replay: replayStored },
  { method: 'POST', template: `${NAMESPACE}/register-view`, operationId: 'registerView', handle: registerView, replay: replayRegisterView },
  { method: 'GET', template: VIEWS, operationId: 'listViews', handle: listViews },
  { method: 'POST', template: VIEWS, operationId: 'createView', handle: createView, replay: replayCreateView },
  { method: 'GET', template: VIEW, operationId: 'loadView', handle: loadView },
  { method: 'HEAD', template: VIEW, operationId: 'viewExists', handle: viewExists },
  { method: 'POST', template: VIEW, operationId: 'replaceView', handle: replaceView, replay: replayReplaceView },
  { method: 'DELETE', template: VIEW, operationId: 'dropView', handle: dropView, replay: replayStored },
  { method: 'POST', template: '/v1/{prefix}/views/rename', operationId: 'renameView', handle: renameView, replay: replayStored },
  { method: 'POST', template: '/v1/{prefix}/transactions/commit', operationId: 'commitTransaction', handle: commitTransaction, replay: replayStored },
]

/** What `endpoints` of the configuration says: exactly the routes that are served. */
const ENDPOINTS: readonly string[] = ICEBERG_ROUTES.map(
  (route) => `${route.method} ${route.template}`,
)

/** Every route of the server. Mutations that honour an Idempotency-Key have a `replay`. */
// prettier-ignore
export const ROUTES: readonly Route[] = [
  { method: 'GET', template: '/v1/config', operationId: 'getConfig', handle: (call) => getConfig(call, ENDPOINTS) },
  ...ICEBERG_ROUTES,
  { method: 'GET', template: '/health/live', operationId: 'healthLive', handle: healthLive, isOpen: true },
  { method: 'GET', template: '/health/ready', operationId: 'healthReady', handle: healthReady, isOpen: true },
  { method: 'GET', template: '/metrics', operationId: 'metrics', handle: metrics },
  ...LAKE_ROUTES,
  ...ADMIN_ROUTES,
]

import { tableText } from '../catalog/table-identifier.ts'
import { decodeNamespaceSegment, decodeSegment } from './raw-path.ts'
import { NoSuchViewError, OperationNotSupportedError } from './request-errors.ts'
import { Router, type HttpMethod, type RawParameters } from './router.ts'

const NAMESPACE = '/v1/{prefix}/namespaces/{namespace}'
const TABLE = `${NAMESPACE}/tables/{table}`
const VIEW = `${NAMESPACE}/views/{view}`

/** Operations of the protocol that this server neither serves nor announces. */
const UNSERVED: readonly { method: HttpMethod; template: string; operationId: string }[] = [
  { method: 'POST', template: '/v1/oauth/tokens', operationId: 'getToken' },
  { method: 'GET', template: `${NAMESPACE}/functions`, operationId: 'listFunctions' },
  { method: 'GET', template: `${NAMESPACE}/functions/{function}`, operationId: 'loadFunction' },
  { method: 'POST', template: `${TABLE}/plan`, operationId: 'planTableScan' },
  { method: 'GET', template: `${TABLE}/plan/{plan-id}`, operationId: 'fetchPlanningResult' },
  { method: 'DELETE', template: `${TABLE}/plan/{plan-id}`, operationId: 'cancelPlanning' },
  { method: 'POST', template: `${TABLE}/tasks`, operationId: 'fetchScanTasks' },
  { method: 'POST', template: `${TABLE}/unregister`, operationId: 'unregisterTable' },
  { method: 'GET', template: `${TABLE}/credentials`, operationId: 'loadCredentials' },
  { method: 'POST', template: `${TABLE}/sign`, operationId: 'signRequest' },
  {
    method: 'POST',
    template: '/v1/{prefix}/transactions/commit',
    operationId: 'commitTransaction',
  },
  { method: 'GET', template: `${NAMESPACE}/views`, operationId: 'listViews' },
  { method: 'POST', template: `${NAMESPACE}/views`, operationId: 'createView' },
  { method: 'GET', template: VIEW, operationId: 'loadView' },
  { method: 'HEAD', template: VIEW, operationId: 'viewExists' },
  { method: 'POST', template: VIEW, operationId: 'replaceView' },
  { method: 'DELETE', template: VIEW, operationId: 'dropView' },
  { method: 'POST', template: '/v1/{prefix}/views/rename', operationId: 'renameView' },
  { method: 'POST', template: `${NAMESPACE}/register-view`, operationId: 'registerView' },
]

const router = new Router(UNSERVED)
const ASKS_FOR_A_VIEW = new Set(['loadView', 'viewExists', 'replaceView', 'dropView'])

/**
 * The error for an operation that the protocol has and this server has not: a look-up of a view truthfully finds none (engines
 * ask for a view before every table, announced or not), anything else is not supported. Undefined for other paths.
 */
export function refuseUnserved(method: string, path: string): Error | undefined {
  const match = router.match(method, path)
  if (match.outcome !== 'matched') return undefined
  const { operationId } = match.route
  if (ASKS_FOR_A_VIEW.has(operationId)) return noSuchView(match.parameters)
  return new OperationNotSupportedError(`operation ${operationId} is not supported by this server`)
}

function noSuchView(parameters: RawParameters): Error {
  const levels = decodeNamespaceSegment(parameters['namespace'] ?? '')
  const name = decodeSegment(parameters['view'] ?? '')
  return new NoSuchViewError(`View does not exist: ${tableText({ levels, name })}`)
}

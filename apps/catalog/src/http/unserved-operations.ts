import { OperationNotSupportedError } from './request-errors.ts'
import { Router, type HttpMethod } from './router.ts'

const NAMESPACE = '/v1/{prefix}/namespaces/{namespace}'
const TABLE = `${NAMESPACE}/tables/{table}`

/** Operations of the protocol that this server neither serves nor announces. */
const UNSERVED: readonly { method: HttpMethod; template: string; operationId: string }[] = [
  { method: 'GET', template: `${NAMESPACE}/functions`, operationId: 'listFunctions' },
  { method: 'GET', template: `${NAMESPACE}/functions/{function}`, operationId: 'loadFunction' },
  { method: 'POST', template: `${TABLE}/unregister`, operationId: 'unregisterTable' },
]

const router = new Router(UNSERVED)

/** The error for an operation that the protocol has and this server has not. Undefined for other paths. */
export function refuseUnserved(method: string, path: string): Error | undefined {
  const match = router.match(method, path)
  if (match.outcome !== 'matched') return undefined
  const { operationId } = match.route
  return new OperationNotSupportedError(`operation ${operationId} is not supported by this server`)
}

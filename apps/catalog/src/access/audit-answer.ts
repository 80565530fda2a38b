import { checkNamespace } from '../catalog/names.ts'
import { decodeNamespaceSegment, decodeSegment } from '../http/raw-path.ts'
import type { Route, RouteCall } from '../http/route.ts'
import type { RawParameters } from '../http/router.ts'
import type { AuditSubject } from './audit.ts'

/** What became of a call. */
export interface AuditedOutcome {
  readonly status: number
  /** Whether the caller lacked a right, whatever it was told. */
  readonly isDenied: boolean
}

/**
 * Records a call if it changed something, may have changed something, or was refused for want of a right. Callers inside this
 * process, and everybody on a server without authentication, have no name to record.
 */
export function auditAnswer(call: RouteCall, route: Route, outcome: AuditedOutcome): void {
  const { status, isDenied } = outcome
  if (call.caller.kind === 'trusted') return
  const isDone = status < 400
  if (!isDenied && !(changesSomething(route) && (isDone || status >= 500))) return
  const { operationId: action } = route
  auditCall(call, { action, status, outcome: isDenied ? 'denied' : isDone ? 'done' : 'failed' })
}

/** Records something that was done inside a call, such as giving access to the objects of a table. */
export function auditCall(
  call: RouteCall,
  done: {
    readonly action: string
    readonly outcome: 'done' | 'denied' | 'failed'
    readonly status: number
    readonly detail?: string
  },
): void {
  const { catalog, caller, warehouse, subject, request } = call
  if (caller.kind === 'trusted') return
  catalog.audit.record({
    atMs: catalog.context.nowMs(),
    callerId: caller.id,
    callerName: caller.name,
    callerKind: caller.kind,
    ...done,
    warehouse: warehouse?.name,
    namespace: subject.namespace,
    object: subject.object,
    detail: done.detail ?? subject.detail,
    remoteAddress: request.connection?.remoteAddress,
  })
}

/** What the path says of the subject; nothing where it cannot be read. */
export function subjectInPath(parameters: RawParameters): AuditSubject {
  const object = parameters['table'] ?? parameters['view'] ?? parameters['name'] ?? parameters['id']
  const { namespace } = parameters
  try {
    const levels = namespace === undefined ? undefined : decodeNamespaceSegment(namespace)
    if (levels !== undefined) checkNamespace(levels, 'namespace')
    return { namespace: levels, object: object === undefined ? undefined : decodeSegment(object) }
  } catch {
    // The route refuses it, with the reason.
    return {}
  }
}

// What readers may do changes nothing that lasts.
function changesSomething({ method, access }: Route): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  return access !== 'open' && !access.endsWith('-reader')
}

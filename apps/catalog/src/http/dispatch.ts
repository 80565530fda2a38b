import { auditAnswer, subjectInPath } from '../access/audit-answer.ts'
import { authorize } from '../access/authorize.ts'
import { TRUSTED_CALLER, type Caller } from '../access/caller.ts'
import { visibleWarehouse } from '../access/visible-warehouse.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { errorAnswer } from './error-response.ts'
import type { HttpAnswer, HttpRequest } from './exchange.ts'
import type { Guard } from './guard.ts'
import { runKeyed, type RunningKeys } from './idempotency.ts'
import { decodeSegment, splitTarget } from './raw-path.ts'
import { MethodNotAllowedError, NoRouteError, NotAuthorizedError } from './request-errors.ts'
import { readBody, type Route, type RouteCall } from './route.ts'
import { Router } from './router.ts'
import { refuseUnserved } from './unserved-operations.ts'

export interface Answered {
  readonly answer: HttpAnswer
  readonly operationId: string
  readonly error?: unknown
}

/** Turns a request into its answer; never rejects. `guard` is absent for callers inside this process. */
export type Dispatch = (request: HttpRequest, guard?: Guard) => Promise<Answered>

/** Builds the way of a request: match the raw path, check the caller, find the warehouse, run the route. */
export function makeDispatch(catalog: Catalog, routes: readonly Route[]): Dispatch {
  const router = new Router(routes)
  const running: RunningKeys = new Map()

  return async (request, guard) => {
    const { path, query } = splitTarget(request.target)
    const match = router.match(request.method, path)
    const route = match.outcome === 'matched' ? match.route : undefined
    const operationId = route?.operationId ?? 'none'
    let admitted: Admitted | undefined
    try {
      const caller = guard === undefined ? TRUSTED_CALLER : await identify(guard, request, route)
      if (match.outcome !== 'matched') throw unmatched(request.method, path, match)
      const { parameters } = match
      const subject = caller.kind === 'trusted' ? {} : subjectInPath(parameters)
      const base = { catalog, caller, request, parameters, query, subject }
      admitted = { route: match.route, call: { ...base, ...NOTHING_YET }, isAllowed: false }
      const call = await findWarehouseOf(admitted.call)
      admitted = { ...admitted, call }
      authorize(call, match.route.access)
      admitted = { ...admitted, isAllowed: true }
      const answer = await runRoute(match.route, call, running)
      auditAnswer(call, match.route, { status: answer.status, isDenied: answer.status === 403 })
      return { answer, operationId }
    } catch (error) {
      const answer = (route?.answerError ?? errorAnswer)(error)
      if (admitted !== undefined) auditRefusal(admitted, answer.status)
      if (error instanceof NotAuthorizedError) noteRefusal(catalog, request, { error, operationId })
      return { answer, operationId, error }
    }
  }
}

/** A call whose sender is known. */
interface Admitted {
  readonly route: Route
  readonly call: RouteCall
  /** Whether the caller may call the route. */
  readonly isAllowed: boolean
}

const NOTHING_YET = { warehouse: undefined, body: undefined, slot: undefined } as const

async function findWarehouseOf(call: RouteCall): Promise<RouteCall> {
  const prefix = call.parameters['prefix']
  if (prefix === undefined) return call
  const warehouse = await visibleWarehouse(call.catalog, call.caller, decodeSegment(prefix))
  return { ...call, warehouse }
}

function auditRefusal({ route, call, isAllowed }: Admitted, status: number): void {
  const isDenied = status === 403 || (!isAllowed && status === 404)
  auditAnswer(call, route, { status, isDenied })
}

function noteRefusal(
  { notedRefusals }: Catalog,
  { connection }: HttpRequest,
  refused: { readonly error: NotAuthorizedError; readonly operationId: string },
): void {
  const { reason } = refused.error
  const remoteAddress = connection?.remoteAddress
  notedRefusals.note({ reason, action: refused.operationId, remoteAddress })
}

function identify(
  guard: Guard,
  request: HttpRequest,
  route: Route | undefined,
): Caller | Promise<Caller> {
  return guard(
    {
      host: request.header('host'),
      origin: request.header('origin'),
      authorization: request.header('authorization'),
    },
    route?.access === 'open',
  )
}

function unmatched(
  method: string,
  path: string,
  match: { outcome: 'no-route' } | { outcome: 'wrong-method'; allowed: readonly string[] },
): Error {
  if (match.outcome === 'wrong-method')
    return new MethodNotAllowedError(method, path, match.allowed)
  return refuseUnserved(method, path) ?? new NoRouteError(method, path)
}

async function runRoute(route: Route, call: RouteCall, running: RunningKeys): Promise<HttpAnswer> {
  const key = call.request.header('idempotency-key')
  const { replay } = route
  if (key === undefined || replay === undefined || call.warehouse === undefined) {
    return route.handle(call)
  }
  const body = await readBody(call)
  const { path, query } = splitTarget(call.request.target)
  return runKeyed(call.catalog, running, {
    warehouseId: call.warehouse.id,
    key,
    caller: call.caller,
    operationId: route.operationId,
    parts: [path, query, body],
    run: (slot) => route.handle({ ...call, body, slot }),
    replay: (outcome) => replay({ ...call, body }, outcome),
  })
}

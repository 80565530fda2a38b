import {
  NoSuchNamespaceError,
  NoSuchTableError,
  NoSuchViewError,
} from '../catalog/catalog-errors.ts'
import { namespaceText } from '../catalog/table-identifier.ts'
import { namespaceInPath, tableInPath, viewInPath } from '../http/path-names.ts'
import { ForbiddenError } from '../http/request-errors.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'
import { assertNever } from '@timelake/iceberg/spec/invariant'
import { includesRole, type Role } from './caller.ts'
import type { RouteAccess } from './route-access.ts'

/**
 * Throws unless the caller may call the route. It looks at nothing but grants and the names in the request, so neither the
 * answer nor the time it takes tells what exists: where the caller has no role, everything is missing (404), and where its role is
 * too low, everything is forbidden (403). Throws ForbiddenError, NoSuchNamespaceError, NoSuchTableError, NoSuchViewError, and
 * InvalidInputError for names that cannot be.
 */
export function authorize(call: RouteCall, access: RouteAccess): void {
  if (call.caller.grants.isServerAdmin) return
  switch (access) {
    case 'open':
    case 'caller':
    case 'warehouse':
      return
    case 'server-admin':
      throw new ForbiddenError(`${call.caller.name} is no administrator of this server`)
    case 'namespace-seen':
      return requireSeen(call)
    case 'namespace-reader':
      return requireNamespace(call, 'reader')
    case 'namespace-writer':
      return requireNamespace(call, 'writer')
    case 'table-reader':
      return requireTable(call, 'reader')
    case 'table-writer':
      return requireTable(call, 'writer')
    case 'view-reader':
      return requireView(call, 'reader')
    case 'view-writer':
      return requireView(call, 'writer')
    default:
      return assertNever(access, 'route access')
  }
}

/** The role of the caller in a namespace of the call's warehouse. */
export function roleIn(call: RouteCall, levels: readonly string[]): Role | undefined {
  return call.caller.grants.roleAt(warehouseOf(call).id, levels)
}

/**
 * Throws ForbiddenError unless the caller may write in every one of the namespaces, which the body of its request names:
 * nothing of the request is done then. Namespaces where it has no role are refused like those where its role is too low.
 */
export function requireWriter(call: RouteCall, namespaces: readonly (readonly string[])[]): void {
  for (const levels of namespaces) {
    if (!includesRole(roleIn(call, levels), 'writer')) throw forbidden(call, levels, 'writer')
  }
}

function requireSeen(call: RouteCall): void {
  const levels = namespaceInPath(call)
  if (call.caller.grants.seesNamespace(warehouseOf(call).id, levels)) return
  throw new NoSuchNamespaceError(levels)
}

function requireNamespace(call: RouteCall, needed: Role): void {
  const levels = namespaceInPath(call)
  const role = roleIn(call, levels)
  if (includesRole(role, needed)) return
  // Whoever sees the name, because of a role further down, is told what it lacks.
  const isSeen = call.caller.grants.seesNamespace(warehouseOf(call).id, levels)
  throw isSeen ? forbidden(call, levels, needed) : new NoSuchNamespaceError(levels)
}

function requireTable(call: RouteCall, needed: Role): void {
  const identifier = tableInPath(call)
  const role = roleIn(call, identifier.levels)
  if (role === undefined) throw new NoSuchTableError(identifier)
  if (!includesRole(role, needed)) throw forbidden(call, identifier.levels, needed)
}

function requireView(call: RouteCall, needed: Role): void {
  const identifier = viewInPath(call)
  const role = roleIn(call, identifier.levels)
  if (role === undefined) throw new NoSuchViewError(identifier)
  if (!includesRole(role, needed)) throw forbidden(call, identifier.levels, needed)
}

function forbidden(call: RouteCall, levels: readonly string[], needed: Role): ForbiddenError {
  return new ForbiddenError(
    `${call.caller.name} lacks the role ${needed} in namespace ${namespaceText(levels)}`,
  )
}

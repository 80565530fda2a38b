/** What a caller may do, each including the one before it. */
export const ROLES = ['reader', 'writer', 'admin'] as const
export type Role = (typeof ROLES)[number]

/**
 * Who sent a request, and what it may do. `id` is stable and unique among callers; it binds plan tokens, vended credentials
 * and lines of the audit log to them, and is no secret.
 */
export interface Caller {
  readonly id: string
  /** For people: logs, audit, errors. */
  readonly name: string
  /**
   * `trusted`: inside this process, or anybody on a server without authentication; `operator`: holds the server's static token;
   * `account`: a service account; `federated`: a token of an identity provider.
   */
  readonly kind: 'trusted' | 'operator' | 'account' | 'federated'
  readonly grants: Grants
}

/** What a caller may do where. Namespaces inherit the role of what is around them; the higher role wins. */
export interface Grants {
  /** Whether it may manage warehouses, accounts and the whole server. */
  readonly isServerAdmin: boolean
  /** The role in a namespace of the warehouse, or in the whole warehouse without `levels`; undefined: none. */
  roleAt(warehouseId: string, levels?: readonly string[]): Role | undefined
  /** Whether it has any role in the warehouse, however deep. */
  seesWarehouse(warehouseId: string): boolean
  /** Whether it has a role in the namespace or in one below it, which it then sees the name of. */
  seesNamespace(warehouseId: string, levels: readonly string[]): boolean
  /**
   * Last levels of the children of the namespace, or of the top level, that it sees the name of for a role deeper down. Where
   * it has a role in the namespace itself it sees every child, and this does not count.
   */
  namesBelow(warehouseId: string, levels: readonly string[]): readonly string[]
}

const EVERYTHING: Grants = {
  isServerAdmin: true,
  roleAt: () => 'admin',
  seesWarehouse: () => true,
  seesNamespace: () => true,
  namesBelow: () => [],
}

/** A caller inside this process, or anybody where there is no authentication. */
export const TRUSTED_CALLER: Caller = {
  id: 'trusted',
  name: 'trusted',
  kind: 'trusted',
  grants: EVERYTHING,
}

/** Whoever holds the static token of the server. */
export const OPERATOR: Caller = {
  id: 'operator',
  name: 'operator',
  kind: 'operator',
  grants: EVERYTHING,
}

/** Whether a role includes another. */
export function includesRole(held: Role | undefined, needed: Role): boolean {
  return held !== undefined && ROLES.indexOf(held) >= ROLES.indexOf(needed)
}

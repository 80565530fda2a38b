import type { HeldGrant } from '@timelake/database/accounts'
import { includesRole, type Grants, type Role } from './caller.ts'

interface WarehouseGrants {
  role: Role | undefined
  readonly namespaces: Map<string, Role>
  /** Namespaces that hold one with a grant, however deep. */
  readonly ancestors: Set<string>
  /** Last levels on the way to a grant, by the namespace that they are in. */
  readonly children: Map<string, Set<string>>
}

/** The grants of a caller, from those of its accounts. */
export function grantsOf(held: readonly HeldGrant[]): Grants {
  let everywhere: Role | undefined
  const warehouses = new Map<string, WarehouseGrants>()
  for (const { warehouseId, levels, role } of held) {
    if (warehouseId === undefined) everywhere = higher(everywhere, role)
    else addTo(warehouses, warehouseId, { levels, role })
  }
  const roleAt = (warehouseId: string, levels: readonly string[] = []): Role | undefined => {
    const within = warehouses.get(warehouseId)
    let role = higher(everywhere, within?.role)
    if (within === undefined) return role
    for (const prefix of prefixes(levels)) role = higher(role, within.namespaces.get(prefix))
    return role
  }
  return {
    isServerAdmin: everywhere === 'admin',
    roleAt,
    seesWarehouse: (warehouseId) => everywhere !== undefined || warehouses.has(warehouseId),
    seesNamespace: (warehouseId, levels) =>
      roleAt(warehouseId, levels) !== undefined ||
      warehouses.get(warehouseId)?.ancestors.has(keyOf(levels)) === true,
    namesBelow: (warehouseId, levels) => [
      ...(warehouses.get(warehouseId)?.children.get(keyOf(levels)) ?? []),
    ],
  }
}

function addTo(
  warehouses: Map<string, WarehouseGrants>,
  warehouseId: string,
  { levels, role }: Pick<HeldGrant, 'levels' | 'role'>,
): void {
  const within = warehouses.get(warehouseId) ?? {
    role: undefined,
    namespaces: new Map<string, Role>(),
    ancestors: new Set<string>(),
    children: new Map<string, Set<string>>(),
  }
  warehouses.set(warehouseId, within)
  if (levels.length === 0) {
    within.role = higher(within.role, role)
    return
  }
  const key = keyOf(levels)
  within.namespaces.set(key, higher(within.namespaces.get(key), role) ?? role)
  for (const prefix of prefixes(levels.slice(0, -1))) within.ancestors.add(prefix)
  for (const [depth, name] of levels.entries()) {
    const parent = keyOf(levels.slice(0, depth))
    const names = within.children.get(parent) ?? new Set<string>()
    within.children.set(parent, names.add(name))
  }
}

function higher(a: Role | undefined, b: Role | undefined): Role | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return includesRole(a, b) ? a : b
}

// JSON, because a level from a request may hold any character.
function keyOf(levels: readonly string[]): string {
  return JSON.stringify(levels)
}

function* prefixes(levels: readonly string[]): Iterable<string> {
  for (let depth = 1; depth <= levels.length; depth += 1) yield keyOf(levels.slice(0, depth))
}

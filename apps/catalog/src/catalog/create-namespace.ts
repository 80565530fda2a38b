import {
  createNamespace as insertNamespace,
  findNamespace,
  type CreateNamespaceOutcome,
  type NamespaceRow,
} from '@timelake/database/namespaces'
import { printJson } from '@timelake/iceberg/spec/json'
import { NamespaceExistsError, NoSuchNamespaceError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { idempotencyOf, type MutationScope } from './mutation-scope.ts'
import { allowedPrefixes, checkAllowed } from './location-rules.ts'
import { checkNamespace } from './names.ts'
import { settleChange } from './settle-change.ts'
import { namespaceText } from './table-identifier.ts'
import type { Warehouse } from './warehouse.ts'

export interface NamespaceCreation extends MutationScope {
  readonly levels: readonly string[]
  readonly properties: Readonly<Record<string, string>>
}

/**
 * Creates a namespace. The parent of a nested one must exist, and a `location` property must be inside the allowed
 * prefixes. Throws NamespaceExistsError, NoSuchNamespaceError (parent) and InvalidInputError, and what `settleChange`
 * throws.
 */
export async function createNamespace(
  catalog: Catalog,
  creation: NamespaceCreation,
): Promise<NamespaceRow> {
  const { warehouse, levels, properties } = creation
  checkNamespace(levels, 'namespace')
  checkNamespaceProperties(catalog, warehouse, properties)
  const created = await settle(catalog, creation)
  switch (created.outcome) {
    case 'created':
      return created.row
    case 'exists':
      throw new NamespaceExistsError(levels)
    case 'parent-missing':
      throw new NoSuchNamespaceError(
        created.parent,
        `Cannot create namespace ${namespaceText(levels)}`,
      )
  }
}

function settle(catalog: Catalog, creation: NamespaceCreation): Promise<CreateNamespaceOutcome> {
  const { database, newUuid, nowMs } = catalog.context
  const { warehouse, levels, properties } = creation
  const namespace = {
    id: newUuid(),
    warehouseId: warehouse.id,
    levels,
    properties,
    nowMs: nowMs(),
    event: { kind: 'namespace-created' as const, payload: printJson({ properties }) },
    ...idempotencyOf(creation, { status: 200 }),
  }
  return settleChange<CreateNamespaceOutcome>({
    what: 'the creation of the namespace',
    send: () => insertNamespace(database, namespace),
    isApplied: ({ outcome }) => outcome === 'created',
    findApplied: async () => {
      const row = await findNamespace(database, warehouse.id, levels)
      return row?.id === namespace.id ? { outcome: 'created', row } : undefined
    },
  })
}

/** Throws InvalidInputError for properties that point outside the allowed prefixes. */
export function checkNamespaceProperties(
  catalog: Catalog,
  warehouse: Warehouse,
  properties: Readonly<Record<string, string>>,
): void {
  const { location } = properties
  if (location === undefined) return
  checkAllowed(location, allowedPrefixes(catalog, warehouse), 'namespace location')
}

/** The properties as clients see them: the computed location is always among them. */
export function shownProperties(row: NamespaceRow): Record<string, string> {
  return { ...row.properties, location: row.location }
}

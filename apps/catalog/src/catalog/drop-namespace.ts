import {
  dropNamespace as deleteNamespace,
  findNamespace,
  type DropNamespaceOutcome,
  type NamespaceContent,
  type NamespaceRow,
} from '@timelake/database/namespaces'
import { NamespaceNotEmptyError, NoSuchNamespaceError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { idempotencyOf, type MutationScope } from './mutation-scope.ts'
import { findExistingNamespace } from './find-existing-namespace.ts'
import { settleChange } from './settle-change.ts'

export interface NamespaceDropping extends MutationScope {
  readonly levels: readonly string[]
}

/**
 * Drops an empty namespace. Throws NoSuchNamespaceError, NamespaceNotEmptyError while anything is in it, and what
 * `settleChange` throws.
 */
export async function dropNamespace(catalog: Catalog, drop: NamespaceDropping): Promise<void> {
  const { warehouse, levels } = drop
  const namespace = await findExistingNamespace(catalog, warehouse, { levels })
  const outcome = await settle(catalog, drop, namespace)
  if (outcome === 'dropped') return
  if (outcome === 'missing') throw new NoSuchNamespaceError(levels)
  throw new NamespaceNotEmptyError(levels, contentText(outcome))
}

function settle(
  catalog: Catalog,
  drop: NamespaceDropping,
  namespace: NamespaceRow,
): Promise<DropNamespaceOutcome> {
  const { database, nowMs } = catalog.context
  const change = {
    namespaceId: namespace.id,
    nowMs: nowMs(),
    event: { kind: 'namespace-dropped' as const, payload: '{}' },
    ...idempotencyOf(drop, { status: 204 }),
  }
  return settleChange<DropNamespaceOutcome>({
    what: 'the drop of the namespace',
    send: () => deleteNamespace(database, change),
    isApplied: (outcome) => outcome === 'dropped',
    findApplied: async () => {
      const found = await findNamespace(database, namespace.warehouseId, namespace.levels)
      return found?.id === namespace.id ? undefined : 'dropped'
    },
  })
}

function contentText({ tables, views, children }: NamespaceContent): string {
  const parts = [
    ...(tables > 0 ? [`${tables} table(s)`] : []),
    ...(views > 0 ? [`${views} view(s)`] : []),
    ...(children > 0 ? [`${children} namespace(s)`] : []),
  ]
  return parts.length === 0 ? 'something that was just created' : parts.join(' and ')
}

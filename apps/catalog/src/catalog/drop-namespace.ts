import { dropNamespace as deleteNamespace } from '@timelake/database/namespaces'
import { NamespaceNotEmptyError, NoSuchNamespaceError } from './catalog-errors.ts'
import { idempotencyOf, type Catalog, type MutationScope } from './catalog.ts'
import { findExistingNamespace } from './find-existing-namespace.ts'

export interface NamespaceDropping extends MutationScope {
  readonly levels: readonly string[]
}

/** Drops an empty namespace. Throws NoSuchNamespaceError, and NamespaceNotEmptyError while anything is in it. */
export async function dropNamespace(catalog: Catalog, drop: NamespaceDropping): Promise<void> {
  const { warehouse, levels } = drop
  const namespace = await findExistingNamespace(catalog, warehouse, { levels })
  const outcome = await deleteNamespace(catalog.context.database, {
    namespaceId: namespace.id,
    nowMs: catalog.context.nowMs(),
    event: { kind: 'namespace-dropped', payload: '{}' },
    ...idempotencyOf(drop, { status: 204 }),
  })
  if (outcome === 'dropped') return
  if (outcome === 'missing') throw new NoSuchNamespaceError(levels)
  throw new NamespaceNotEmptyError(levels, contentText(outcome))
}

function contentText({ tables, children }: { tables: number; children: number }): string {
  if (tables === 0 && children === 0) return 'something that was just created'
  const parts = [
    ...(tables > 0 ? [`${tables} table(s)`] : []),
    ...(children > 0 ? [`${children} namespace(s)`] : []),
  ]
  return parts.join(' and ')
}

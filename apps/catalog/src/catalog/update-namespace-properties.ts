import {
  updateNamespaceProperties as storeProperties,
  type NamespacePropertiesResult,
} from '@timelake/database/namespaces'
import { printJson } from '@timelake/iceberg/spec/json'
import { ContradictoryPropertiesError, NoSuchNamespaceError } from './catalog-errors.ts'
import type { Catalog, MutationScope } from './catalog.ts'
import { checkNamespaceProperties } from './create-namespace.ts'
import { findExistingNamespace } from './find-existing-namespace.ts'

export interface NamespaceUpdate extends MutationScope {
  readonly levels: readonly string[]
  readonly updates: Readonly<Record<string, string>>
  readonly removals: readonly string[]
  /** The answer to keep for a repetition. */
  readonly encode: (result: NamespacePropertiesResult) => string
}

/**
 * Sets and removes properties of a namespace in one step. Throws NoSuchNamespaceError, ContradictoryPropertiesError
 * when a key is both set and removed, and InvalidInputError for a location outside the allowed prefixes.
 */
export async function updateNamespaceProperties(
  catalog: Catalog,
  update: NamespaceUpdate,
): Promise<NamespacePropertiesResult> {
  const { warehouse, levels, updates, slot, encode } = update
  const removals = [...new Set(update.removals)]
  const both = removals.filter((key) => Object.hasOwn(updates, key))
  if (both.length > 0) throw new ContradictoryPropertiesError(both)
  checkNamespaceProperties(catalog, warehouse, updates)
  const namespace = await findExistingNamespace(catalog, warehouse, { levels })
  const result = await storeProperties(catalog.context.database, {
    namespaceId: namespace.id,
    updates,
    removals,
    nowMs: catalog.context.nowMs(),
    event: { kind: 'namespace-updated', payload: printJson({ updates, removals }) },
    ...(slot === undefined
      ? {}
      : { idempotency: (made) => slot.ticket({ status: 200, body: encode(made) }) }),
  })
  if (result === undefined) throw new NoSuchNamespaceError(levels)
  return result
}

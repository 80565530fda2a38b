import {
  updateNamespaceProperties as storeProperties,
  type NamespacePropertiesResult,
} from '@timelake/database/namespaces'
import { printJson } from '@timelake/iceberg/spec/json'
import { ContradictoryPropertiesError, NoSuchNamespaceError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { checkNamespaceProperties } from './create-namespace.ts'
import { findExistingNamespace } from './find-existing-namespace.ts'
import { settleChange } from './settle-change.ts'

export interface NamespaceUpdate extends MutationScope {
  readonly levels: readonly string[]
  readonly updates: Readonly<Record<string, string>>
  readonly removals: readonly string[]
  /** The answer to keep for a repetition. */
  readonly encode: (result: NamespacePropertiesResult) => string
}

/**
 * Sets and removes properties of a namespace in one step. Throws NoSuchNamespaceError, ContradictoryPropertiesError
 * when a key is both set and removed, InvalidInputError for a location outside the allowed prefixes, and what
 * `settleChange` throws.
 */
export async function updateNamespaceProperties(
  catalog: Catalog,
  update: NamespaceUpdate,
): Promise<NamespacePropertiesResult> {
  const { warehouse, levels, updates } = update
  const removals = [...new Set(update.removals)]
  const both = removals.filter((key) => Object.hasOwn(updates, key))
  if (both.length > 0) throw new ContradictoryPropertiesError(both)
  checkNamespaceProperties(catalog, warehouse, updates)
  const namespace = await findExistingNamespace(catalog, warehouse, { levels })
  const result = await settle(catalog, { ...update, removals }, namespace.id)
  if (result === undefined) throw new NoSuchNamespaceError(levels)
  return result
}

type UpdateOutcome = NamespacePropertiesResult | undefined

function settle(
  catalog: Catalog,
  { slot, updates, removals, encode }: NamespaceUpdate,
  namespaceId: string,
): Promise<UpdateOutcome> {
  const { database, nowMs } = catalog.context
  const change = {
    namespaceId,
    updates,
    removals,
    nowMs: nowMs(),
    event: { kind: 'namespace-updated' as const, payload: printJson({ updates, removals }) },
    ...(slot === undefined
      ? {}
      : {
          idempotency: (made: NamespacePropertiesResult) =>
            slot.ticket({ status: 200, body: encode(made) }),
        }),
  }
  let sendCount = 0
  return settleChange<UpdateOutcome>({
    what: 'the change of the namespace',
    send: () => {
      sendCount += 1
      // With a key the outcome that is stored under it refuses a repetition, and is the answer.
      const isRepeated = sendCount > 1 && slot === undefined
      return storeProperties(database, { ...change, isRepeated })
    },
    isApplied: (outcome) => outcome !== undefined,
    findApplied: async () => undefined,
  })
}

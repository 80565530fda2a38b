import { findNamespace, type NamespaceRow } from '@timelake/database/namespaces'
import { NoSuchNamespaceError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { Warehouse } from './warehouse.ts'

/** The namespace of these levels. Throws NoSuchNamespaceError, with `context` in front of its text. */
export async function findExistingNamespace(
  catalog: Catalog,
  warehouse: Warehouse,
  namespace: { readonly levels: readonly string[]; readonly context?: string },
): Promise<NamespaceRow> {
  const { levels, context } = namespace
  const row = await findNamespace(catalog.context.database, warehouse.id, levels)
  if (row === undefined) throw new NoSuchNamespaceError(levels, context)
  return row
}

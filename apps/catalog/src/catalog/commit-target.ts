import { findNamespace, type NamespaceRow } from '@timelake/database/namespaces'
import type { TableRow } from '@timelake/database/table-row'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { NameTakenError, NoSuchNamespaceError, NoSuchTableError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { findAnyRow } from './find-row.ts'
import { checkName } from './names.ts'
import { createsItsTable, type TableCommit } from './table-commit.ts'
import type { Warehouse } from './warehouse.ts'

/** What a commit finds under the name of its table. */
export type CommitTarget = ExistingTarget | NewTarget

export interface ExistingTarget {
  readonly kind: 'existing'
  readonly commit: TableCommit
  readonly row: TableRow
  readonly base: LoadedMetadata
}

/** What a look-up found under a name. */
export interface KnownRow {
  readonly row: TableRow | undefined
}

/** Nothing yet: the commit creates the table. */
export interface NewTarget {
  readonly kind: 'new'
  readonly commit: TableCommit
  readonly namespace: NamespaceRow
}

/**
 * The table of the commit as it is now, or as `known` says of a moment ago. Throws NoSuchTableError when there is none and the commit does not create it,
 * NoSuchNamespaceError when it has nowhere to create it, NameTakenError when it would create it under the name of a view.
 */
export async function findTarget(
  catalog: Catalog,
  warehouse: Warehouse,
  { commit, known }: { readonly commit: TableCommit; readonly known?: KnownRow | undefined },
): Promise<CommitTarget> {
  const { identifier, requests } = commit
  const creates = createsItsTable(requests)
  const row = known === undefined ? await findAnyRow(catalog, warehouse, identifier) : known.row
  if (row === undefined) {
    if (!creates) throw new NoSuchTableError(identifier)
    return findHome(catalog, warehouse, commit)
  }
  if (row.kind === 'view') {
    throw creates
      ? new NameTakenError(identifier, { wanted: 'table', existing: 'view' })
      : new NoSuchTableError(identifier)
  }
  const base = await catalog.metadata.get(warehouse, row.metadataLocation)
  return { kind: 'existing', commit, row, base }
}

async function findHome(
  catalog: Catalog,
  warehouse: Warehouse,
  commit: TableCommit,
): Promise<NewTarget> {
  const { levels, name } = commit.identifier
  checkName(name, 'table')
  const namespace = await findNamespace(catalog.context.database, warehouse.id, levels)
  if (namespace === undefined) throw new NoSuchNamespaceError(levels)
  return { kind: 'new', commit, namespace }
}

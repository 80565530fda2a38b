import { findTableById } from '@timelake/database/find-tables'
import { findNamespace } from '@timelake/database/namespaces'
import type { RowKind } from '@timelake/database/table-row'
import { renameTable as renameTableRow } from '@timelake/database/tables'
import {
  NoSuchNamespaceError,
  RenameDestinationExistsError,
  RenamedViewMissingError,
  RenameSourceMissingError,
} from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { idempotencyOf, type MutationScope } from './mutation-scope.ts'
import { findAnyRow } from './find-row.ts'
import { settleChange } from './settle-change.ts'
import { renamedPayload } from './table-event-payloads.ts'
import { checkName, checkNamespace } from './names.ts'
import { identifierKey, tableText, type TableIdentifier } from './table-identifier.ts'

export interface Rename extends MutationScope {
  readonly source: TableIdentifier
  readonly destination: TableIdentifier
}

type KindRename = Rename & { readonly kind: RowKind }

/**
 * Gives a table or a view another name, also in another namespace; its location and UUID stay. Renaming onto itself changes
 * nothing, and what has the name but is of the other kind is not there. Throws RenameSourceMissingError or
 * RenamedViewMissingError, NoSuchNamespaceError, RenameDestinationExistsError, and what `settleChange` throws.
 */
export async function renameRow(catalog: Catalog, rename: KindRename): Promise<void> {
  const { warehouse, source, destination } = rename
  checkNamespace(destination.levels, 'destination.namespace')
  checkName(destination.name, 'destination.name')
  const row = await findAnyRow(catalog, warehouse, source)
  const lane = row?.id ?? identifierKey(warehouse.id, source)
  return catalog.lanes.run(lane, () => renameInTurn(catalog, rename))
}

async function renameInTurn(catalog: Catalog, rename: KindRename): Promise<void> {
  const { warehouse, kind, source, destination } = rename
  const namespace = await findNamespace(catalog.context.database, warehouse.id, destination.levels)
  if (namespace === undefined) throw missingNamespace(rename)
  const row = await findAnyRow(catalog, warehouse, source)
  if (row?.kind !== kind) throw missingSource(rename)
  if (isSame(warehouse.id, source, destination)) return
  let outcome: RenameOutcome
  try {
    outcome = await settle(catalog, rename, { tableId: row.id, toNamespaceId: namespace.id })
  } finally {
    catalog.pointers.forget(warehouse.id, source)
    catalog.pointers.forget(warehouse.id, destination)
  }
  if (outcome !== 'renamed') throw await refusalOf(catalog, outcome, rename)
}

type RenameOutcome = 'renamed' | 'missing' | 'exists' | 'namespace-missing'

function settle(
  catalog: Catalog,
  rename: KindRename,
  move: { readonly tableId: string; readonly toNamespaceId: string },
): Promise<RenameOutcome> {
  const { kind, source, destination } = rename
  const { database, nowMs } = catalog.context
  const change = {
    ...move,
    toName: destination.name,
    nowMs: nowMs(),
    event: {
      kind: kind === 'table' ? ('table-renamed' as const) : ('view-renamed' as const),
      payload: renamedPayload(source, destination),
    },
    ...idempotencyOf(rename, { status: 204 }),
  }
  return settleChange<RenameOutcome>({
    what: `the renaming of the ${kind}`,
    send: () => renameTableRow(database, change),
    isApplied: (outcome) => outcome === 'renamed',
    findApplied: async () => {
      const row = await findTableById(database, move.tableId)
      const isThere = row?.namespaceId === move.toNamespaceId && row.name === destination.name
      return isThere ? 'renamed' : undefined
    },
  })
}

async function refusalOf(
  catalog: Catalog,
  outcome: Exclude<RenameOutcome, 'renamed'>,
  rename: KindRename,
): Promise<Error> {
  const { warehouse, kind, source, destination } = rename
  switch (outcome) {
    case 'missing':
      return missingSource(rename)
    case 'exists': {
      const existing = await findAnyRow(catalog, warehouse, destination)
      return new RenameDestinationExistsError(source, destination, existing?.kind ?? kind)
    }
    case 'namespace-missing':
      return missingNamespace(rename)
  }
}

function missingSource({ kind, source, destination }: KindRename): Error {
  return kind === 'table'
    ? new RenameSourceMissingError(source, destination)
    : new RenamedViewMissingError(source, destination)
}

function missingNamespace({ source, destination }: Rename): NoSuchNamespaceError {
  const context = `Cannot rename ${tableText(source)} to ${tableText(destination)}`
  return new NoSuchNamespaceError(destination.levels, context)
}

function isSame(warehouseId: string, a: TableIdentifier, b: TableIdentifier): boolean {
  return identifierKey(warehouseId, a) === identifierKey(warehouseId, b)
}

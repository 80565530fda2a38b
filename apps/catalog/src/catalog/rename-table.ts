import { findNamespace } from '@timelake/database/namespaces'
import { renameTable as renameTableRow } from '@timelake/database/tables'
import {
  NoSuchNamespaceError,
  RenameDestinationExistsError,
  RenameSourceMissingError,
} from './catalog-errors.ts'
import { idempotencyOf, type Catalog, type MutationScope } from './catalog.ts'
import { renamedPayload } from './table-event-payloads.ts'
import { checkName, checkNamespace } from './names.ts'
import { identifierKey, tableText, type TableIdentifier } from './table-identifier.ts'

export interface TableRename extends MutationScope {
  readonly source: TableIdentifier
  readonly destination: TableIdentifier
}

/**
 * Gives the table another name, also in another namespace; its location and UUID stay. Renaming onto itself changes
 * nothing. Throws RenameSourceMissingError, NoSuchNamespaceError and RenameDestinationExistsError.
 */
export async function renameTable(catalog: Catalog, rename: TableRename): Promise<void> {
  const { warehouse, source, destination } = rename
  checkNamespace(destination.levels, 'destination.namespace')
  checkName(destination.name, 'destination.name')
  const row = await catalog.pointers.find(warehouse.id, source)
  const lane = row?.id ?? identifierKey(warehouse.id, source)
  return catalog.lanes.run(lane, () => renameInTurn(catalog, rename))
}

async function renameInTurn(catalog: Catalog, rename: TableRename): Promise<void> {
  const { warehouse, source, destination } = rename
  const namespace = await findNamespace(catalog.context.database, warehouse.id, destination.levels)
  if (namespace === undefined) throw missingNamespace(rename)
  const row = await catalog.pointers.find(warehouse.id, source)
  if (row === undefined) throw new RenameSourceMissingError(source, destination)
  if (isSame(warehouse.id, source, destination)) return
  try {
    const outcome = await renameTableRow(catalog.context.database, {
      tableId: row.id,
      toNamespaceId: namespace.id,
      toName: destination.name,
      nowMs: catalog.context.nowMs(),
      event: { kind: 'table-renamed', payload: renamedPayload(source, destination) },
      ...idempotencyOf(rename, { status: 204 }),
    })
    checkOutcome(outcome, rename)
  } finally {
    catalog.pointers.forget(warehouse.id, source)
    catalog.pointers.forget(warehouse.id, destination)
  }
}

function checkOutcome(
  outcome: 'renamed' | 'missing' | 'exists' | 'namespace-missing',
  rename: TableRename,
): void {
  const { source, destination } = rename
  switch (outcome) {
    case 'renamed':
      return
    case 'missing':
      throw new RenameSourceMissingError(source, destination)
    case 'exists':
      throw new RenameDestinationExistsError(source, destination)
    case 'namespace-missing':
      throw missingNamespace(rename)
  }
}

function missingNamespace({ source, destination }: TableRename): NoSuchNamespaceError {
  const context = `Cannot rename ${tableText(source)} to ${tableText(destination)}`
  return new NoSuchNamespaceError(destination.levels, context)
}

function isSame(warehouseId: string, a: TableIdentifier, b: TableIdentifier): boolean {
  return identifierKey(warehouseId, a) === identifierKey(warehouseId, b)
}

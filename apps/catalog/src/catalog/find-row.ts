import type { RowKind, TableRow } from '@timelake/database/table-row'
import { NameTakenError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { TableIdentifier } from './table-identifier.ts'
import type { Warehouse } from './warehouse.ts'

type Found = TableRow | undefined

/**
 * The row of a name, which has at most one: a table or a view. From memory where that is exact, otherwise one query; never
 * an object read. At once when it is in memory.
 */
export function findAnyRow(
  catalog: Catalog,
  warehouse: Pick<Warehouse, 'id'>,
  identifier: TableIdentifier,
): Found | Promise<Found> {
  return catalog.pointers.find(warehouse.id, identifier)
}

/** The row of a table; undefined when the name is free or has a view. */
export function findTableRow(
  catalog: Catalog,
  warehouse: Pick<Warehouse, 'id'>,
  identifier: TableIdentifier,
): Found | Promise<Found> {
  return onlyKind('table', findAnyRow(catalog, warehouse, identifier))
}

/** The row of a view; undefined when the name is free or has a table. */
export function findViewRow(
  catalog: Catalog,
  warehouse: Pick<Warehouse, 'id'>,
  identifier: TableIdentifier,
): Found | Promise<Found> {
  return onlyKind('view', findAnyRow(catalog, warehouse, identifier))
}

function onlyKind(kind: RowKind, found: Found | Promise<Found>): Found | Promise<Found> {
  if (found instanceof Promise) return found.then((row) => rowOfKind(kind, row))
  return rowOfKind(kind, found)
}

function rowOfKind(kind: RowKind, row: Found): Found {
  return row?.kind === kind ? row : undefined
}

/** The error for a name that turned out to be taken, by whatever has it now. */
export async function nameTakenBy(
  catalog: Catalog,
  warehouse: Pick<Warehouse, 'id'>,
  wanted: TableIdentifier & { readonly kind: RowKind },
): Promise<NameTakenError> {
  const row = await findAnyRow(catalog, warehouse, wanted)
  // It may be gone again.
  return new NameTakenError(wanted, { wanted: wanted.kind, existing: row?.kind ?? wanted.kind })
}

import { findTablesNear } from '@timelake/database/find-tables'
import type { TableRow } from '@timelake/database/table-row'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import {
  checkLocation,
  isLocationBelow,
  isSameLocation,
  joinLocation,
  normalizeLocation,
} from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { WAREHOUSE_FOLDER } from '@timelake/storage/name-records'
import type { Catalog } from './catalog.ts'
import type { Warehouse } from './warehouse.ts'

/** Locations below which the tables of a warehouse may lie, as far as the caller reaches. */
export function allowedPrefixes(catalog: Catalog, warehouse: Warehouse): readonly string[] {
  if (warehouse.confinedTo !== undefined) return warehouse.confinedTo
  return [
    warehouse.location,
    ...warehouse.settings.allowedLocations,
    ...catalog.config.extraAllowedLocations,
  ]
}

/**
 * Throws InvalidInputError unless the location is well formed and strictly inside one of the prefixes. `what` names
 * it in the message, for example `table location`.
 */
export function checkAllowed(location: string, prefixes: readonly string[], what: string): void {
  checkLocation(location)
  if (prefixes.some((prefix) => isLocationBelow(prefix, location))) return
  throw new InvalidInputError(
    `${what} ${location} is outside the allowed locations: expected one below ${prefixes.join(' or ')}`,
  )
}

/** What says where the folders of a table are. */
type TableFolders = Pick<TableMetadata, 'location' | 'properties'>

/**
 * Refuses (InvalidInputError) a table whose folders are outside the allowed prefixes or equal, contain or lie inside
 * those of another live table. Folders that `base` had already are not checked again.
 */
export async function checkTableRoots(
  catalog: Catalog,
  warehouse: Warehouse,
  table: { readonly id?: string; readonly metadata: TableFolders; readonly base?: TableFolders },
): Promise<void> {
  await checkNewRoots(catalog, warehouse, {
    what: 'table location',
    roots: tableRoots(table.metadata),
    known: table.base === undefined ? [] : tableRoots(table.base),
    isInTheWay: ({ id }) => id !== table.id,
    overlapError: (root) => new LocationOverlapError(root),
  })
}

/** The folders of a table or view, and what they must keep away from. */
export interface NewRoots {
  /** For messages, such as `table location`. */
  readonly what: string
  readonly roots: readonly string[]
  /** Those that were there before, which are not checked again. */
  readonly known: readonly string[]
  isInTheWay(other: TableRow): boolean
  overlapError(root: string): Error
}

/** Refuses (InvalidInputError) folders outside the allowed prefixes, in the server's own folder, or in somebody's way. */
export async function checkNewRoots(
  catalog: Catalog,
  warehouse: Warehouse,
  { what, roots, known, isInTheWay, overlapError }: NewRoots,
): Promise<void> {
  const prefixes = allowedPrefixes(catalog, warehouse)
  for (const root of roots.filter((one) => !known.includes(one))) {
    checkAllowed(root, prefixes, what)
    checkUnreserved(root, warehouse)
    const near = await findTablesNear(catalog.context.database, {
      warehouseId: warehouse.id,
      location: normalizeLocation(root),
    })
    if (near.some(isInTheWay)) throw overlapError(root)
  }
}

/** A table or view would equal, contain or lie inside another one. */
export class LocationOverlapError extends InvalidInputError {
  override readonly name = 'LocationOverlapError'
  constructor(root: string) {
    super(
      `table location ${root} overlaps with the location of another table: choose one that is neither inside nor above it`,
    )
  }
}

/** Throws InvalidInputError for a location in the folder that is the server's own. */
function checkUnreserved(root: string, warehouse: Warehouse): void {
  const reserved = joinLocation(warehouse.location, WAREHOUSE_FOLDER)
  if (!isSameLocation(reserved, root) && !isLocationBelow(reserved, root)) return
  throw new InvalidInputError(
    `table location ${root} is in a reserved folder: expected one outside ${reserved}`,
  )
}

/**
 * Refuses (InvalidInputError) a file that a commit brings in from outside the table's own folders, before or after
 * the commit.
 */
export function checkIntroducedFiles(
  locations: Iterable<string>,
  metadata: TableMetadata,
  base?: TableMetadata,
): void {
  const roots = [...tableRoots(metadata), ...(base === undefined ? [] : tableRoots(base))]
  for (const location of locations) {
    // Folders have their own check, and an empty property is no folder.
    if (location === '' || roots.some((root) => isSameLocation(root, location))) continue
    checkLocation(location)
    if (roots.some((root) => isLocationBelow(root, location))) continue
    const expected = [...new Set(roots)].join(' or ')
    throw new InvalidInputError(
      `file ${location} is outside the table: expected a location below ${expected}`,
    )
  }
}

import { findTablesNear } from '@timelake/database/find-tables'
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

/** Locations below which the tables of a warehouse may lie. */
export function allowedPrefixes(catalog: Catalog, warehouse: Warehouse): readonly string[] {
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

/**
 * Refuses (InvalidInputError) a table whose folders are outside the allowed prefixes or equal, contain or lie inside
 * those of another live table. Folders that `base` had already are not checked again.
 */
export async function checkTableRoots(
  catalog: Catalog,
  warehouse: Warehouse,
  table: { readonly id?: string; readonly metadata: TableMetadata; readonly base?: TableMetadata },
): Promise<void> {
  const known = new Set(table.base === undefined ? [] : tableRoots(table.base))
  const prefixes = allowedPrefixes(catalog, warehouse)
  for (const root of tableRoots(table.metadata)) {
    if (known.has(root)) continue
    checkAllowed(root, prefixes, 'table location')
    checkUnreserved(root, warehouse)
    const near = await findTablesNear(catalog.context.database, {
      warehouseId: warehouse.id,
      location: normalizeLocation(root),
    })
    const other = near.find(({ id }) => id !== table.id)
    if (other === undefined) continue
    throw new LocationOverlapError(root)
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
export function checkUnreserved(root: string, warehouse: Warehouse): void {
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

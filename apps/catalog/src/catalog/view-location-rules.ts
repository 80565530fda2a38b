import { findTablesNear } from '@timelake/database/find-tables'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { ViewMetadata } from '@timelake/iceberg/view/view-metadata'
import type { Catalog } from './catalog.ts'
import { allowedPrefixes, checkAllowed, checkUnreserved } from './location-rules.ts'
import type { Warehouse } from './warehouse.ts'

/**
 * Refuses (InvalidInputError) a view whose folders are outside the allowed prefixes or equal, contain or lie inside
 * those of a table. Views may share folders: they own nothing but metadata files of unique names. Folders that `base`
 * had already are not checked again.
 */
export async function checkViewRoots(
  catalog: Catalog,
  warehouse: Warehouse,
  view: { readonly metadata: ViewMetadata; readonly base?: ViewMetadata },
): Promise<void> {
  const known = new Set(view.base === undefined ? [] : viewRoots(view.base))
  const prefixes = allowedPrefixes(catalog, warehouse)
  for (const root of viewRoots(view.metadata)) {
    if (known.has(root)) continue
    checkAllowed(root, prefixes, 'view location')
    checkUnreserved(root, warehouse)
    const near = await findTablesNear(catalog.context.database, {
      warehouseId: warehouse.id,
      location: normalizeLocation(root),
    })
    if (!near.some(({ kind }) => kind === 'table')) continue
    throw new InvalidInputError(
      `view location ${root} overlaps with the location of a table: choose one that is neither inside nor above it`,
    )
  }
}

function viewRoots({ location, properties }: ViewMetadata): readonly string[] {
  const configured = properties['write.metadata.path']
  return configured ? [location, configured] : [location]
}

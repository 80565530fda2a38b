import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { isLocationBelow, normalizeLocation } from '@timelake/iceberg/spec/location'
import type { ViewMetadata } from '@timelake/iceberg/view/view-metadata'
import type { MovedRoots } from '@timelake/database/table-roots'
import type { Catalog } from './catalog.ts'
import { checkNewRoots } from './location-rules.ts'
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
  await checkNewRoots(catalog, warehouse, {
    what: 'view location',
    roots: viewRoots(view.metadata),
    known: view.base === undefined ? [] : viewRoots(view.base),
    isInTheWay: ({ kind }) => kind === 'table',
    overlapError: (root) =>
      new InvalidInputError(
        `view location ${root} overlaps with the location of a table: choose one that is neither inside nor above it`,
      ),
  })
}

/** Its folders outside its location, normalized. */
export function extraViewRoots(metadata: ViewMetadata): readonly string[] {
  const [own = '', ...others] = viewRoots(metadata).map(normalizeLocation)
  return others.filter((root) => root !== own && !isLocationBelow(own, root))
}

/** Where a view has its folders after a change; undefined when they are those that it had. What it gave up has no live file. */
export function movedViewRoots(base: ViewMetadata, next: ViewMetadata): MovedRoots | undefined {
  const had = viewRoots(base).map(normalizeLocation)
  const has = viewRoots(next).map(normalizeLocation)
  if (had.length === has.length && had.every((root, index) => root === has[index])) return undefined
  const fresh = has.filter((root) => !had.includes(root))
  return { extra: extraViewRoots(next), fresh, left: undefined }
}

function viewRoots({ location, properties }: ViewMetadata): readonly string[] {
  const configured = properties['write.metadata.path']
  return configured ? [location, configured] : [location]
}

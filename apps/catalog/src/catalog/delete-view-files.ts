import { findTableSharing } from '@timelake/database/dropped-tables'
import type { TableRow } from '@timelake/database/table-row'
import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import { isLocationBelow, normalizeLocation } from '@timelake/iceberg/spec/location'
import type { ViewMetadata } from '@timelake/iceberg/view/view-metadata'
import type { LoadedView } from '../cache/loaded-view.ts'
import { MetadataFileMissingError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { metadataFolder } from './metadata-location.ts'
import type { Warehouse } from './warehouse.ts'

/** More than a view is ever replaced by hand; what is left over is garbage, not damage. */
const FILES_MAX = 1_000

/**
 * Deletes, later and at best effort, the metadata files of a dropped view, the earlier ones included. Only files below
 * the view's location that hold metadata with its UUID, and none when `gc.enabled` is false or anything live shares
 * its UUID, its file or its folder. Spec: REST catalog, dropView; the property `gc.enabled`.
 */
export function deleteViewFiles(catalog: Catalog, warehouse: Warehouse, dropped: TableRow): void {
  catalog.background.start('delete the metadata files of a dropped view', async () => {
    const { metadataLocation } = dropped
    const metadata = await readView(catalog, warehouse, metadataLocation)
    catalog.views.delete(warehouse, metadataLocation)
    if (metadata === undefined || isKept(metadata)) return
    const sharing = await findTableSharing(catalog.context.database, {
      tableUuid: metadata.viewUuid,
      metadataLocation,
      folder: normalizeLocation(metadata.location),
    })
    if (sharing !== undefined) return
    for (const file of await metadataFiles(warehouse, metadata)) {
      const found = await readView(catalog, warehouse, file)
      catalog.views.delete(warehouse, file)
      if (found?.viewUuid === metadata.viewUuid) await warehouse.store.delete(file)
    }
  })
}

function isKept({ properties }: ViewMetadata): boolean {
  return properties['gc.enabled']?.toLowerCase() === 'false'
}

/** Normalized. The file that the view was registered from may lie outside and is then not among them. */
async function metadataFiles(
  { store }: Warehouse,
  metadata: ViewMetadata,
): Promise<readonly string[]> {
  const folder = metadataFolder(metadata)
  if (!isLocationBelow(metadata.location, folder)) return []
  const files: string[] = []
  for await (const { location } of store.list(normalizeLocation(folder))) {
    if (location.endsWith('.metadata.json')) files.push(normalizeLocation(location))
    if (files.length === FILES_MAX) break
  }
  return files
}

/** The metadata in the file; undefined when it is gone or holds something else. */
async function readView(
  catalog: Catalog,
  warehouse: Warehouse,
  location: string,
): Promise<ViewMetadata | undefined> {
  try {
    const loaded: LoadedView = await catalog.views.get(warehouse, location)
    return loaded.metadata
  } catch (error) {
    if (error instanceof MetadataFileMissingError || error instanceof CorruptFileError)
      return undefined
    throw error
  }
}

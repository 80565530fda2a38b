import type { ViewMetadata } from '@timelake/iceberg/view/view-metadata'
import { LoadedView } from '../cache/loaded-view.ts'
import type { Catalog } from './catalog.ts'
import type { Warehouse } from './warehouse.ts'
import { writeMetadataFile, type Written } from './write-metadata.ts'

export type WrittenView = Written<LoadedView>

export interface NextView {
  readonly warehouse: Warehouse
  readonly metadata: ViewMetadata
  readonly previousLocation?: string
}

/** Writes a new metadata file of a view, as `writeMetadataFile` does. */
export function writeView(catalog: Catalog, next: NextView): Promise<WrittenView> {
  return writeMetadataFile(catalog, {
    ...next,
    atLocation: (location) => new LoadedView(location, next.metadata),
  })
}

import type { Catalog } from './catalog.ts'
import { renameRow, type Rename } from './rename-row.ts'

/** Renames a view, as `renameRow` does. Spec: REST catalog, renameView. */
export async function renameView(catalog: Catalog, rename: Rename): Promise<void> {
  return renameRow(catalog, { ...rename, kind: 'view' })
}

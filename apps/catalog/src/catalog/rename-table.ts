import type { Catalog } from './catalog.ts'
import { renameRow, type Rename } from './rename-row.ts'

/** Renames a table, as `renameRow` does. Spec: REST catalog, renameTable. */
export async function renameTable(catalog: Catalog, rename: Rename): Promise<void> {
  return renameRow(catalog, { ...rename, kind: 'table' })
}

import { isLocationBelow, normalizeLocation } from './location.ts'
import type { TableMetadata } from './table-metadata.ts'

/** The properties that put files of a table elsewhere than below its location. */
const FOLDER_PROPERTIES = [
  'write.metadata.path',
  'write.data.path',
  'write.object-storage.path',
  'write.folder-storage.path',
]

/**
 * The folders that belong to a table: its location, and where its properties put metadata and data. Whoever reads,
 * writes or deletes files for a table stays below them; the catalog sees to it that no two tables share one.
 */
export function tableRoots({
  location,
  properties,
}: Pick<TableMetadata, 'location' | 'properties'>): readonly string[] {
  const folders = FOLDER_PROPERTIES.flatMap((property) => properties[property] ?? [])
  return [location, ...folders.filter((folder) => folder !== '')]
}

/** Those of the folders that lie outside the location, each once and normalized. */
export function extraRoots(
  table: Pick<TableMetadata, 'location' | 'properties'>,
): readonly string[] {
  const [own = '', ...others] = tableRoots(table).map(normalizeLocation)
  return [...new Set(others)].filter((root) => root !== own && !isLocationBelow(own, root))
}

/** Whether `tableRoots` looks at the property of this name. */
export function isRootProperty(name: string): boolean {
  return FOLDER_PROPERTIES.includes(name)
}

/** Those of the properties that `tableRoots` looks at. */
export function tableRootProperties(
  properties: TableMetadata['properties'],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    FOLDER_PROPERTIES.flatMap((property) => {
      const folder = properties[property]
      return folder === undefined ? [] : [[property, folder] as const]
    }),
  )
}

import { isLocationBelow, isSameLocation, normalizeLocation } from '../spec/location.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'

/** The files that a metadata file names itself, normalized and without doubles; what they name is not in here. */
export interface NamedFiles {
  readonly manifestLists: readonly string[]
  /** Only of old v1 snapshots that have no manifest list. */
  readonly manifests: readonly string[]
  /** Statistics and partition statistics. */
  readonly statistics: readonly string[]
  /** The metadata log, oldest first. */
  readonly earlierMetadata: readonly string[]
}

/** Everything that one metadata file names, of all its snapshots. Spec: Table Metadata Fields. */
export function namedFiles(metadata: TableMetadata): NamedFiles {
  const { snapshots, statistics, partitionStatistics, metadataLog } = metadata
  return {
    manifestLists: distinct(snapshots.flatMap(({ manifestList }) => manifestList ?? [])),
    manifests: distinct(
      snapshots.flatMap(({ manifestList, manifests }) =>
        manifestList === undefined ? (manifests ?? []) : [],
      ),
    ),
    statistics: distinct(
      [...statistics, ...partitionStatistics].map(({ statisticsPath }) => statisticsPath),
    ),
    earlierMetadata: distinct(metadataLog.map(({ metadataFile }) => metadataFile)),
  }
}

/** Where a table's files are beside its location, as far as its metadata file says. Few texts, whatever the history. */
export interface TableReach {
  /** The table's own folders, its location among them. */
  readonly roots: readonly string[]
  /** Folders outside of its location that hold files which its metadata names. */
  readonly fileFolders: readonly string[]
}

/** The reach of a table whose own folders are `roots`. */
export function tableReach(metadata: TableMetadata, roots: readonly string[]): TableReach {
  const { manifestLists, manifests, statistics, earlierMetadata } = namedFiles(metadata)
  const files = [...manifestLists, ...manifests, ...statistics, ...earlierMetadata]
  const elsewhere = files.filter((file) => !isLocationBelow(metadata.location, file))
  return { roots: distinct(roots), fileFolders: distinct(elsewhere.map(folderOf)) }
}

/** Whether a table of this reach may have files below the folder. */
export function reachesInto({ roots, fileFolders }: TableReach, folder: string): boolean {
  const isInside = (inner: string, outer: string): boolean =>
    isSameLocation(outer, inner) || isLocationBelow(outer, inner)
  return (
    roots.some((root) => isInside(root, folder) || isInside(folder, root)) ||
    fileFolders.some((each) => isInside(each, folder))
  )
}

function distinct(locations: readonly string[]): string[] {
  return [...new Set(locations.map(normalizeLocation))]
}

function folderOf(location: string): string {
  return location.slice(0, Math.max(0, location.lastIndexOf('/')))
}

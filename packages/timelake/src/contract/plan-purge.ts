import { isLocationBelow, isSameLocation, normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'

/** The table property by which its owner forbids deleting files; any text but `true` does, as other engines read it. */
export const GC_PROPERTY = 'gc.enabled'

/** What the catalog says of the table whose files are to go. */
export interface PurgedTable {
  readonly tableUuid: string
  /** Normalized, without a trailing slash. */
  readonly location: string
  readonly metadataLocation: string
}

/** Why no file of a table may be deleted, whoever asks; undefined when they may. */
export function purgeObstacle(metadata: TableMetadata, table: PurgedTable): string | undefined {
  if (
    metadata.tableUuid !== table.tableUuid ||
    !isSameLocation(metadata.location, table.location)
  ) {
    return `its metadata file is now that of table ${metadata.tableUuid} at ${metadata.location}`
  }
  const gc = metadata.properties[GC_PROPERTY]
  if (gc !== undefined && gc.trim().toLowerCase() !== 'true') return `${GC_PROPERTY} is ${gc}`
  const isEncrypted =
    metadata.encryptionKeys.length > 0 ||
    metadata.snapshots.some(({ keyId }) => keyId !== undefined)
  return isEncrypted ? 'the table is encrypted' : undefined
}

/** Where a purge may delete at all. */
export interface PurgeBounds {
  /** Locations below which tables may lie. */
  readonly allowedRoots: readonly string[]
  /** Folders that belong to the catalog itself. */
  readonly reserved: readonly string[]
}

/**
 * The table's own folders in which files may be deleted, normalized: strictly inside an allowed root, and neither in nor
 * around a reserved folder.
 */
export function purgeFolders(
  tableFolders: readonly string[],
  { allowedRoots, reserved }: PurgeBounds,
): readonly string[] {
  const isAllowed = (folder: string): boolean =>
    allowedRoots.some((root) => isLocationBelow(root, folder)) &&
    !reserved.some((each) => overlap(each, folder))
  return [...new Set(tableFolders.map(normalizeLocation))].filter(isAllowed)
}

function overlap(a: string, b: string): boolean {
  return isSameLocation(a, b) || isLocationBelow(a, b) || isLocationBelow(b, a)
}

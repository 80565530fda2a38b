import type { MovedRoots } from '@timelake/database/table-roots'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { extraRoots, tableRoots } from '@timelake/iceberg/spec/table-roots'

/** A table, as far as it says where its files are. */
export type RootedTable = Pick<TableMetadata, 'location' | 'properties' | 'snapshots'>

/** Where a table has its folders after a change of its metadata; undefined when they are those that it had. */
export function movedRoots(base: RootedTable, next: RootedTable): MovedRoots | undefined {
  const had = new Set(tableRoots(base).map(normalizeLocation))
  const has = new Set(tableRoots(next).map(normalizeLocation))
  const isSame = had.size === has.size && [...has].every((root) => had.has(root))
  if (isSame && normalizeLocation(base.location) === normalizeLocation(next.location)) {
    return undefined
  }
  const extra = extraRoots(next)
  const fresh = [normalizeLocation(next.location), ...extra].filter((root) => !had.has(root))
  // What a table without snapshots has written is no file of it.
  return { extra, fresh, left: base.snapshots.length === 0 ? undefined : [...had] }
}

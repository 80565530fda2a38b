import { listExtraRoots } from '@timelake/database/table-roots'
import type { TableRow } from '@timelake/database/table-row'
import { normalizeLocation, stripTrailingSlashes } from '@timelake/iceberg/spec/location'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import type { AccessScope } from '@timelake/storage/access-broker'
import type { Catalog } from '../catalog/catalog.ts'
import type { StagedTable } from './staged-tickets.ts'

/** A table, as far as it says where its objects are. */
export interface ScopedTable {
  readonly metadata: StagedTable
  /** Folders that it gave up and may still have files in, the last one first; normalized. Absent: none. */
  readonly formerRoots?: readonly string[]
}

/** Folders that a table gave up which are handed out; a policy has room for fewer. */
const FORMER_ROOTS_MAX = 20

/** The folders of the table on the store, and what may be done there. */
export function scopeOf(table: ScopedTable, access: AccessScope['access']): AccessScope {
  const { metadata, formerRoots: former = [] } = table
  const prefixes = [...new Set(tableRoots(metadata).map(normalizeLocation))]
  return { prefixes, access, ...(former.length === 0 ? {} : { former }) }
}

/**
 * The one prefix of everything in the table, as its files spell it: clients compare texts. It ends with `/`, so that it is no
 * prefix of a sibling; folders in different buckets have no more in common than their scheme.
 */
export function prefixOf({ metadata, formerRoots = [] }: ScopedTable): string {
  const [first = '', ...others] = [...tableRoots(metadata), ...formerRoots].map(
    (root) => `${stripTrailingSlashes(root)}/`,
  )
  const common = others.reduce(commonPrefix, first)
  const isInBucket = /^[^:]+:\/\/[^/]+\//.test(common)
  return isInBucket ? common : 's3'
}

/** `{ formerRoots }` of a table, as a part of it: nothing for one that never moved, which needs no look-up. */
export async function formerRootsOf(
  { context }: Catalog,
  row: TableRow,
): Promise<Pick<ScopedTable, 'formerRoots'>> {
  if (row.rootState !== 'some') return {}
  const roots = await listExtraRoots(context.database, row.id)
  const former = roots.filter(({ leftAtMs }) => leftAtMs !== undefined)
  return { formerRoots: former.slice(0, FORMER_ROOTS_MAX).map(({ location }) => location) }
}

/** The longest beginning of both that ends with a slash. */
function commonPrefix(one: string, two: string): string {
  let at = 0
  while (at < one.length && one[at] === two[at]) at += 1
  return one.slice(0, one.slice(0, at).lastIndexOf('/') + 1)
}

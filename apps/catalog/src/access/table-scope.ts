import { normalizeLocation, stripTrailingSlashes } from '@timelake/iceberg/spec/location'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import type { AccessScope } from '@timelake/storage/access-broker'
import type { StagedTable } from './staged-tickets.ts'

/** The folders of the table on the store, and what may be done there. */
export function scopeOf(table: StagedTable, access: AccessScope['access']): AccessScope {
  return { prefixes: [...new Set(tableRoots(table).map(normalizeLocation))], access }
}

/**
 * The one prefix of everything in the table, as its files spell it: clients compare texts. It ends with `/`, so that it is no
 * prefix of a sibling; folders in different buckets have no more in common than their scheme.
 */
export function prefixOf(table: StagedTable): string {
  const [first = '', ...others] = tableRoots(table).map((root) => `${stripTrailingSlashes(root)}/`)
  const common = others.reduce(commonPrefix, first)
  const isInBucket = /^[^:]+:\/\/[^/]+\//.test(common)
  return isInBucket ? common : 's3'
}

/** The longest beginning of both that ends with a slash. */
function commonPrefix(one: string, two: string): string {
  let at = 0
  while (at < one.length && one[at] === two[at]) at += 1
  return one.slice(0, one.slice(0, at).lastIndexOf('/') + 1)
}

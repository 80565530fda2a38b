import { assertNever } from '../spec/invariant.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import type { CommitRequest, TableUpdate } from './table-update.ts'

const PATH_PROPERTY = /^write\..+\.path$/

/**
 * Every location that the request would bring into the table, in order, as sent: the table's own, manifest lists and
 * manifests of snapshots, statistics files, and the folders of `write.*.path` properties (these may be relative to
 * the table). The caller checks them against the storage that it allows, before anything is applied.
 */
export function locationsIn(request: CommitRequest): string[] {
  return request.updates.flatMap(locationsOfUpdate)
}

function locationsOfUpdate(update: TableUpdate): readonly string[] {
  switch (update.action) {
    case 'set-location':
      return [update.location]
    case 'add-snapshot':
      return locationsOfSnapshot(update.snapshot)
    case 'set-statistics':
      return [update.statistics.statisticsPath]
    case 'set-partition-statistics':
      return [update.partitionStatistics.statisticsPath]
    case 'set-properties':
      return Object.entries(update.updates).flatMap(([key, value]) =>
        PATH_PROPERTY.test(key) ? [value] : [],
      )
    case 'assign-uuid':
    case 'upgrade-format-version':
    case 'add-schema':
    case 'set-current-schema':
    case 'add-spec':
    case 'set-default-spec':
    case 'add-sort-order':
    case 'set-default-sort-order':
    case 'set-snapshot-ref':
    case 'remove-snapshot-ref':
    case 'remove-snapshots':
    case 'remove-properties':
    case 'remove-statistics':
    case 'remove-partition-statistics':
    case 'remove-partition-specs':
    case 'remove-schemas':
    case 'add-encryption-key':
    case 'remove-encryption-key':
      return []
    default:
      return assertNever(update, 'table update')
  }
}

function locationsOfSnapshot({ manifestList, manifests }: Snapshot): readonly string[] {
  return [...(manifestList === undefined ? [] : [manifestList]), ...(manifests ?? [])]
}

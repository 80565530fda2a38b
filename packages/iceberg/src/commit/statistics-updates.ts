import type { PartitionStatisticsFile, StatisticsFile } from '../spec/table-metadata.ts'
import { sameValue } from './same-value.ts'
import type { TableMetadataDraft } from './table-metadata-draft.ts'

/**
 * Lists a statistics file in the place of what was listed for its snapshot. The snapshot need not exist: a writer of
 * statistics may race with expiry, and the entry is dropped with the snapshot.
 */
export function setStatistics(draft: TableMetadataDraft, statistics: StatisticsFile): void {
  if (sameValue(draft.statistics.get(statistics.snapshotId), [statistics])) return
  draft.statistics.set(statistics)
  draft.record({ action: 'set-statistics', statistics })
}

/** Unlists the statistics of a snapshot, if there are any. */
export function removeStatistics(draft: TableMetadataDraft, snapshotId: bigint): void {
  if (draft.statistics.delete(snapshotId)) draft.record({ action: 'remove-statistics', snapshotId })
}

/** Lists a partition statistics file, one for each snapshot. */
export function setPartitionStatistics(
  draft: TableMetadataDraft,
  file: PartitionStatisticsFile,
): void {
  if (sameValue(draft.partitionStatistics.get(file.snapshotId), [file])) return
  draft.partitionStatistics.set(file)
  draft.record({ action: 'set-partition-statistics', partitionStatistics: file })
}

/** Unlists the partition statistics of a snapshot, if there are any. */
export function removePartitionStatistics(draft: TableMetadataDraft, snapshotId: bigint): void {
  if (draft.partitionStatistics.delete(snapshotId)) {
    draft.record({ action: 'remove-partition-statistics', snapshotId })
  }
}

import { describe, expect, it } from 'vitest'
import type { PartitionStatisticsFile, StatisticsFile } from '../spec/table-metadata.ts'
import { appended, commit, sampleTable } from './sample-table.ts'

const table = appended(sampleTable(), 11n)
const statistics = (snapshotId: bigint, fileSizeBytes = 1n): StatisticsFile => ({
  snapshotId,
  statisticsPath: `file:///s/${snapshotId}`,
  fileSizeBytes,
  fileFooterSizeBytes: 1n,
  blobMetadata: [],
})
const partitionStatistics = (snapshotId: bigint, fileSizeBytes = 1n): PartitionStatisticsFile => ({
  snapshotId,
  statisticsPath: `file:///p/${snapshotId}`,
  fileSizeBytes,
})

describe('statistics', () => {
  const two = commit(table, [
    { action: 'set-statistics', statistics: statistics(11n) },
    { action: 'set-statistics', statistics: statistics(99n) },
  ])

  it('are listed, also for a snapshot that expiry took meanwhile', () => {
    expect(two.statistics).toEqual([statistics(11n), statistics(99n)])
  })

  it('are replaced in place', () => {
    const after = commit(two, [{ action: 'set-statistics', statistics: statistics(11n, 2n) }])
    expect(after.statistics).toEqual([statistics(11n, 2n), statistics(99n)])
  })

  it('that are the same change nothing', () => {
    expect(commit(two, [{ action: 'set-statistics', statistics: statistics(99n) }])).toBe(two)
  })

  it('are removed', () => {
    expect(commit(two, [{ action: 'remove-statistics', snapshotId: 99n }]).statistics).toEqual([
      statistics(11n),
    ])
  })

  it('of one snapshot, listed twice elsewhere, become one when set', () => {
    const foreign = {
      ...table,
      statistics: [statistics(11n), statistics(12n), statistics(11n, 2n)],
    }
    const after = commit(foreign, [{ action: 'set-statistics', statistics: statistics(11n, 3n) }])
    expect(after.statistics).toEqual([statistics(11n, 3n), statistics(12n)])
  })
})

describe('partition statistics', () => {
  it('are listed once for each snapshot, replaced and removed', () => {
    const one = commit(table, [
      { action: 'set-partition-statistics', partitionStatistics: partitionStatistics(11n) },
      { action: 'set-partition-statistics', partitionStatistics: partitionStatistics(11n, 2n) },
    ])
    expect(one.partitionStatistics).toEqual([partitionStatistics(11n, 2n)])
    const again = {
      action: 'set-partition-statistics',
      partitionStatistics: partitionStatistics(11n, 2n),
    } as const
    expect(commit(one, [again])).toBe(one)
    const removed = commit(one, [{ action: 'remove-partition-statistics', snapshotId: 11n }])
    expect(removed.partitionStatistics).toEqual([])
  })

  it('go with their snapshot', () => {
    const one = commit(table, [
      { action: 'set-partition-statistics', partitionStatistics: partitionStatistics(11n) },
    ])
    const after = commit(one, [{ action: 'remove-snapshots', snapshotIds: [11n] }])
    expect(after.partitionStatistics).toEqual([])
  })
})

import { expect, it } from 'vitest'
import { locationsIn } from './introduced-locations.ts'
import { sampleTable, snapshotOf } from './sample-table.ts'
import { snapshotsAdded } from './snapshots-added.ts'

const snapshot = { ...snapshotOf(sampleTable(), 11n), manifestList: 'l', manifests: ['m1', 'm2'] }
const request = {
  requirements: [],
  updates: [
    { action: 'set-location', location: 'root/' },
    { action: 'add-snapshot', snapshot },
    {
      action: 'set-statistics',
      statistics: {
        snapshotId: 1n,
        statisticsPath: 's',
        fileSizeBytes: 1n,
        fileFooterSizeBytes: 1n,
        blobMetadata: [],
      },
    },
    {
      action: 'set-partition-statistics',
      partitionStatistics: { snapshotId: 1n, statisticsPath: 'p', fileSizeBytes: 1n },
    },
    {
      action: 'set-properties',
      updates: {
        'write.data.path': 'd',
        'write.metadata.path': 'w',
        'write.format.default': 'no',
        path: 'no',
      },
    },
    { action: 'remove-properties', removals: ['write.data.path'] },
  ],
} as const

it('every location that a request introduces is listed', () => {
  expect(locationsIn(request)).toEqual(['root/', 'l', 'm1', 'm2', 's', 'p', 'd', 'w'])
})

it('the snapshots that a request adds are listed', () => {
  expect(snapshotsAdded(request)).toEqual([11n])
})

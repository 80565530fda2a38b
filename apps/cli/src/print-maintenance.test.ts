import { describe, expect, it } from 'vitest'
import { printDryRun, printMaintenance } from './print-maintenance.ts'

const NOW_MS = 1_767_600_000_000

describe('printMaintenance', () => {
  it('says when nothing was looked at yet', () => {
    expect(printMaintenance({ 'table-id': 't', jobs: [], runs: [] }, NOW_MS)).toEqual([
      'maintenance: nothing was looked at yet',
    ])
  })

  it('shows the next trigger, the last decision and the last runs', () => {
    const lines = printMaintenance(
      {
        'table-id': 't',
        jobs: [
          {
            'job-kind': 'compact-table',
            'next-trigger-ms': BigInt(NOW_MS + 3_000),
            reason: 'commits calmed down',
            'pending-commits': 12n,
            'first-pending-ms': BigInt(NOW_MS - 5_000),
            'last-commit-ms': BigInt(NOW_MS),
            'last-decision': { outcome: 'nothing-to-do', reason: 'every partition has one file' },
            'decided-ms': BigInt(NOW_MS - 60_000),
          },
        ],
        runs: [
          {
            id: 'r',
            'job-kind': 'compact-table',
            state: 'succeeded',
            reason: '240 files became 12',
            outcome: null,
            'started-ms': BigInt(NOW_MS - 61_000),
            'finished-ms': BigInt(NOW_MS - 60_000),
            'deadline-ms': BigInt(NOW_MS),
            'worker-id': 'w',
          },
        ],
      },
      NOW_MS,
    )
    expect(lines).toEqual([
      'compact-table',
      '  next trigger    2026-01-05T08:00:03Z (in 3 s), commits calmed down',
      '  new commits     12',
      '  last decision   nothing-to-do: every partition has one file',
      '  decided         2026-01-05T07:59:00Z (1 min ago)',
      'last runs',
      '  2026-01-05T07:58:59Z (1 min ago), 1000 ms  compact-table succeeded: 240 files became 12',
    ])
  })
})

describe('printDryRun', () => {
  it('shows each group with its files, size, rows and reason', () => {
    const lines = printDryRun({
      'table-id': 't',
      outcome: 'compact',
      reason: 'one partition has 40 small files',
      numbers: {
        'live-file-count': 41n,
        'small-file-count': 40n,
        'partition-count': 1n,
        'largest-small-file-count': 40n,
      },
      groups: [
        {
          'spec-id': 0n,
          partition: [672n],
          'input-file-count': 2n,
          'input-size-bytes': 2_048n,
          'input-row-count': 1_000n,
          'output-file-count': 1n,
          reason: 'small files',
        },
      ],
      'remaining-group-count': 3n,
    })
    expect(lines).toEqual([
      'compact: one partition has 40 small files',
      '  41 live files, 40 small files in 1 partition',
      '  2 files of partition (672), 2.0 KiB, 1,000 rows: small files',
      '  3 groups left for a later run',
    ])
  })
})

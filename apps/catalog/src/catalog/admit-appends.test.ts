import { sampleTable, SAMPLE_LOCATION } from '@timelake/iceberg/commit/sample-table'
import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { ValidationFailedError } from '@timelake/iceberg/spec/errors'
import { describe, expect, it } from 'vitest'
import { admitAppends } from './admit-appends.ts'
import type { AppendBranch } from './append-branch.ts'
import { appendSummary, SUMMARY_BATCH_IDS_MAX } from './append-summary.ts'
import { FileAlreadyLiveError } from './catalog-errors.ts'
import type { AppendIntent } from './append-intent.ts'

const metadata = sampleTable()

function file(name: string, changes: Partial<DataFile> = {}): DataFile {
  return {
    content: 'data',
    filePath: `${SAMPLE_LOCATION}/data/${name}`,
    fileFormat: 'PARQUET',
    partition: [3],
    recordCount: 1n,
    fileSizeBytes: 1n,
    ...changes,
  }
}

function intent(batchId: string, changes: Partial<AppendIntent> = {}): AppendIntent {
  return {
    batchId,
    requestHash: 'h',
    files: [file(`of-${batchId}`)],
    specId: 0,
    summary: {},
    branch: 'main',
    ...changes,
  }
}

const branch: AppendBranch = {
  name: 'main',
  head: undefined,
  manifests: [],
  live: new Set([`${SAMPLE_LOCATION}/data/live`]),
  snapshotId: 9n,
}

const verdictOf = (one: AppendIntent) =>
  admitAppends({ metadata, branch, intents: [one], batches: new Map() }).verdicts[0]

describe('admitAppends', () => {
  it('decides in order, each intent on what those before it leave', () => {
    const intents = [
      intent('a'),
      intent('b', { files: [file('live'), file('of-c')] }),
      intent('c'),
      intent('d', { files: [file('new'), file('of-a')] }),
      intent('a', { files: [file('new')] }),
      intent('e', { files: [file('new')] }),
      intent('known'),
    ]
    const known = { batchId: 'known', requestHash: 'h', snapshotId: 4n, expiresAtMs: 1 }
    const batches = new Map([['known', known]])
    const { verdicts, admitted } = admitAppends({ metadata, branch, intents, batches })
    expect(verdicts).toEqual([
      { outcome: 'added', snapshotId: 9n },
      { outcome: 'refused', error: expect.any(FileAlreadyLiveError) as Error },
      { outcome: 'added', snapshotId: 9n },
      { outcome: 'refused', error: expect.any(FileAlreadyLiveError) as Error },
      { outcome: 'landed-before', snapshotId: 9n },
      { outcome: 'added', snapshotId: 9n },
      { outcome: 'landed-before', snapshotId: 4n },
    ])
    expect(admitted.map(({ batchId }) => batchId)).toEqual(['a', 'c', 'e'])
  })

  it.each<[string, Partial<AppendIntent>, string]>([
    ['the spec is gone', { specId: 5 }, 'cannot append: the table has no partition spec 5'],
    [
      'the partition is of another type by now',
      { files: [file('a', { partition: [3n] })] },
      `cannot append ${SAMPLE_LOCATION}/data/a: its partition does not fit spec 0`,
    ],
    [
      'the partition has other fields by now',
      { files: [file('a', { partition: [3, 4] })] },
      `cannot append ${SAMPLE_LOCATION}/data/a: its partition does not fit spec 0`,
    ],
    [
      'the folder is not the table’s any more',
      { files: [file('a', { filePath: 'file:///elsewhere/a' })] },
      `cannot append file:///elsewhere/a: expected a location below ${SAMPLE_LOCATION}`,
    ],
  ])('refuses an intent when %s', (_, changes, message) => {
    const verdict = verdictOf(intent('a', changes))
    expect(verdict).toEqual({ outcome: 'refused', error: new ValidationFailedError(message) })
  })

  it('refuses all of a branch that nothing can be appended to, but not what landed', () => {
    const error = new ValidationFailedError('no such branch')
    const known = { batchId: 'b', requestHash: 'h', snapshotId: 4n, expiresAtMs: 1 }
    const { verdicts, admitted } = admitAppends({
      metadata,
      branch: error,
      intents: [intent('a'), intent('b')],
      batches: new Map([['b', known]]),
    })
    expect(verdicts).toEqual([
      { outcome: 'refused', error },
      { outcome: 'landed-before', snapshotId: 4n },
    ])
    expect(admitted).toEqual([])
  })
})

describe('appendSummary', () => {
  it('names one batch, lists several, and only counts many', () => {
    const batches = (count: number) =>
      Array.from({ length: count }, (_, index) => intent(`b${index}`))
    expect(appendSummary(batches(1))).toEqual({ 'timelake.batch-id': 'b0' })
    expect(appendSummary(batches(2))).toEqual({
      'timelake.batch-count': '2',
      'timelake.batch-ids': '["b0","b1"]',
    })
    const many = SUMMARY_BATCH_IDS_MAX + 1
    expect(appendSummary(batches(many))).toEqual({ 'timelake.batch-count': String(many) })
  })

  it('keeps the members on which all agree', () => {
    const summaries = [
      { engine: 'x', run: '1', only: 'first' },
      { engine: 'x', run: '2' },
    ]
    const merged = appendSummary(summaries.map((summary, at) => intent(`b${at}`, { summary })))
    expect(merged).toMatchObject({ engine: 'x' })
    expect(Object.keys(merged)).not.toContain('run')
    expect(Object.keys(merged)).not.toContain('only')
  })
})

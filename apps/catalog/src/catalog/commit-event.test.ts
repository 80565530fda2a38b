import { parseJson } from '@timelake/iceberg/spec/json'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { appended, sampleTable } from '@timelake/iceberg/commit/sample-table'
import { expect, it } from 'vitest'
import { commitEventPayload } from './commit-event.ts'

const at = { metadataLocation: 'file:///t/m1.json', previousMetadataLocation: 'file:///t/m0.json' }

const payload = (
  metadata: TableMetadata,
  added?: readonly bigint[],
  batchIds?: readonly string[],
) =>
  parseJson(
    commitEventPayload({
      ...at,
      metadata,
      ...(added === undefined ? {} : { addedSnapshotIds: added }),
      ...(batchIds === undefined ? {} : { batchIds }),
    }),
  )

it('shows the snapshot that became current, and names the others of the commit', () => {
  const table = appended(sampleTable(), 1n, 2n, 3n)
  expect(payload(table, [2n, 3n])).toMatchObject({
    'snapshot-id': 3n,
    'parent-snapshot-id': 2n,
    'manifest-list': manifestListOf(table, 3n),
    refs: ['main'],
    'further-snapshots': [{ 'snapshot-id': 2n, 'manifest-list': manifestListOf(table, 2n) }],
  })
})

it('shows the snapshot that was added last where another one stays current', () => {
  const table = appended(sampleTable(), 1n, 2n)
  const staged = { ...table, currentSnapshotId: 1n, refs: {} }
  expect(payload(staged, [2n])).toMatchObject({ 'snapshot-id': 2n, refs: [] })
})

it('names the batches, and leaves out what there is not', () => {
  const table = appended(sampleTable(), 1n)
  expect(payload(table, [1n], ['a', 'b'])).toMatchObject({ 'batch-ids': ['a', 'b'] })
  const plain = payload(table, [1n], [])
  expect(plain).not.toHaveProperty('batch-ids')
  expect(plain).not.toHaveProperty('further-snapshots')
  const withoutSnapshot = payload(table, [])
  expect(withoutSnapshot).not.toHaveProperty('snapshot-id')
  expect(withoutSnapshot).not.toHaveProperty('refs')
})

it('takes the current snapshot of a table that is new as a whole', () => {
  expect(payload(appended(sampleTable(), 1n, 2n))).toMatchObject({ 'snapshot-id': 2n })
})

function manifestListOf(table: TableMetadata, id: bigint): Snapshot['manifestList'] {
  return table.snapshots.find(({ snapshotId }) => snapshotId === id)?.manifestList
}

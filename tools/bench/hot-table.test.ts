import { expect, it } from 'vitest'
import { compareFiles } from './contention-cell.ts'
import { readHead } from './hot-table.ts'

const ID = '9007199254740993'
const LIST = 's3://lake/t/metadata/snap-2.avro'

function loaded(snapshot: string): string {
  return (
    `{"metadata-location":"x","metadata":{"last-sequence-number":7,"last-updated-ms":1700,"current-snapshot-id":${ID},` +
    `"refs":{"main":{"snapshot-id":${ID},"type":"branch"}},"snapshots":[` +
    `{"snapshot-id":1,"manifest-list":"other","summary":{"operation":"append"}},${snapshot}],` +
    `"snapshot-log":[{"snapshot-id":1,"timestamp-ms":1},{"snapshot-id":${ID},"timestamp-ms":2}]}}`
  )
}

it.each([
  [
    'after',
    `{"snapshot-id":${ID},"parent-snapshot-id":1,"summary":{"operation":"append"},"manifest-list":"${LIST}"}`,
  ],
  [
    'before',
    `{"manifest-list":"${LIST}","summary":{"operation":"append"},"snapshot-id":${ID},"schema-id":0}`,
  ],
])('finds the head of a table whose manifest list stands %s the snapshot id', (_, snapshot) => {
  expect(readHead(loaded(snapshot))).toEqual({
    snapshotId: BigInt(ID),
    manifestList: LIST,
    sequenceNumber: 7n,
    lastUpdatedMs: 1700,
  })
})

it('finds no snapshot in an empty table', () => {
  const text =
    '{"metadata":{"last-sequence-number":0,"last-updated-ms":5,"current-snapshot-id":-1}}'
  expect(readHead(text).snapshotId).toBeUndefined()
})

it('names appends that are lost, strange or doubled', () => {
  expect(compareFiles(['a', 'b'], ['b', 'a'])).toEqual([])
  expect(compareFiles(['a', 'b'], ['b', 'b', 'c'])).toEqual([
    '1 acknowledged and lost, such as a',
    '1 live, not acknowledged: c',
    '1 live more than once',
  ])
})

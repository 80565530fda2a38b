import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FileTotals } from '../snapshot/partition-changes.ts'
import { decodeTableMetadata } from '../spec/table-metadata-json.ts'
import { tableRoots } from '../spec/table-roots.ts'
import {
  OWN_ENTRIES_MAX,
  OWN_MANIFESTS_MAX,
  readPartitionChanges,
} from './read-partition-changes.ts'
import { type ReadFile, readSnapshotManifests } from './snapshot-files.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures')
const tables = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((name) => basename(name) === 'expected.json')
  .map((name) => dirname(name))
  .sort()

function openFixture(table: string) {
  const folder = join(FIXTURES, table)
  const metadata = decodeTableMetadata(readFileSync(join(folder, 'table.metadata.json')))
  const read: ReadFile = (location) =>
    Promise.resolve(new Uint8Array(readFileSync(join(folder, basename(location)))))
  return { metadata, read, options: { allowedPrefixes: tableRoots(metadata) } }
}

async function changesOf(table: string, snapshotId: bigint) {
  const { metadata, read, options } = openFixture(table)
  const snapshot = metadata.snapshots.find((one) => one.snapshotId === snapshotId)
  if (snapshot === undefined) throw new Error('the fixture has this snapshot')
  const list = await readSnapshotManifests(read, { metadata, snapshot }, options)
  if (list.outcome !== 'read') throw new Error(`the list of the fixture is ${list.outcome}`)
  const snapshots = [{ snapshotId, manifests: list.manifests }]
  const listed = { metadata, snapshots }
  const found = await readPartitionChanges(read, listed, options)
  if (found.outcome !== 'read') throw new Error(`the fixture is ${found.outcome}`)
  return { summary: snapshot.summary ?? {}, changes: found.changes }
}

const snapshots = tables.flatMap((table) =>
  openFixture(table).metadata.snapshots.map(({ snapshotId }) => [table, snapshotId] as const),
)

describe('what a snapshot of another engine did to its partitions', () => {
  it.each(snapshots)('adds up to the summary of %s, snapshot %s', async (table, snapshotId) => {
    const { summary, changes } = await changesOf(table, snapshotId)
    const sum = (side: 'added' | 'removed', pick: (totals: FileTotals) => bigint) =>
      changes.partitions.reduce((total, change) => total + pick(change[side]), 0n)
    const expected = (key: string, total: bigint) => {
      const text = summary[key]
      return text === undefined ? total : BigInt(text)
    }
    const sums = {
      'added-data-files': sum('added', ({ dataFileCount }) => BigInt(dataFileCount)),
      'added-delete-files': sum('added', ({ deleteFileCount }) => BigInt(deleteFileCount)),
      'added-records': sum('added', ({ rowCount }) => rowCount),
      'added-files-size': sum('added', ({ sizeBytes }) => sizeBytes),
      'deleted-data-files': sum('removed', ({ dataFileCount }) => BigInt(dataFileCount)),
      'deleted-records': sum('removed', ({ rowCount }) => rowCount),
    }
    for (const [key, total] of Object.entries(sums))
      expect({ [key]: total }).toEqual({ [key]: expected(key, total) })
  })
})

it('reads no snapshot that has too many files of its own', async () => {
  const { metadata, read, options } = openFixture(tables[0] ?? '')
  const manifest = {
    manifestPath: `${metadata.location}/metadata/m.avro`,
    manifestLengthBytes: 1n,
    partitionSpecId: 0,
    content: 'data' as const,
    sequenceNumber: 1n,
    minSequenceNumber: 1n,
    addedSnapshotId: 7n,
  }
  const changes = (snapshotId: bigint, manifests: readonly (typeof manifest)[]) =>
    readPartitionChanges(read, { metadata, snapshots: [{ snapshotId, manifests }] }, options)
  const many = Array.from({ length: OWN_MANIFESTS_MAX + 1 }, () => manifest)
  expect(await changes(7n, many)).toEqual({ outcome: 'too-many', what: '65 manifests' })
  const large = [{ ...manifest, addedFilesCount: OWN_ENTRIES_MAX, deletedFilesCount: 1 }]
  expect(await changes(7n, large)).toEqual({ outcome: 'too-many', what: '100001 files' })
  expect(await changes(8n, many)).toMatchObject({ outcome: 'read', changes: { partitions: [] } })
  const outside = [{ ...manifest, manifestPath: 's3://elsewhere/m.avro' }]
  expect(await changes(7n, outside)).toMatchObject({ outcome: 'outside' })
})

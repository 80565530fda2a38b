import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { DataFile, ResolvedEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { decodeTableMetadata } from '../spec/table-metadata-json.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { ReadFile } from './snapshot-files.ts'
import { readLiveFiles, readSnapshotManifests } from './snapshot-files.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures')
/** Every table folder of the engines that left what they read themselves, for example `pyiceberg-0.12/plain-v1`. */
const tables = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((name) => basename(name) === 'expected.json')
  .map((name) => dirname(name))
  .sort()

interface ExpectedEntry {
  readonly dataFile: object
}

interface ExpectedManifest {
  readonly manifestPath: string
  readonly entries: readonly ExpectedEntry[]
}

function openFixture(table: string) {
  const folder = join(FIXTURES, table)
  const metadata = decodeTableMetadata(readFileSync(join(folder, 'table.metadata.json')))
  const expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Record<
    string,
    ExpectedManifest[]
  >
  const reads: string[] = []
  const read: ReadFile = (location) => {
    reads.push(location)
    return Promise.resolve(new Uint8Array(readFileSync(join(folder, basename(location)))))
  }
  const snapshots = metadata.snapshots.map((snapshot) => ({
    snapshot,
    expected: expected[String(snapshot.snapshotId)] ?? [],
  }))
  return { metadata, snapshots, read, reads, options: { allowedPrefixes: [metadata.location] } }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function scalar(value: PartitionValue | bigint | undefined): string | null {
  if (value === null || value === undefined) return null
  return value instanceof Uint8Array ? hex(value) : String(value)
}

function byId(values: ReadonlyMap<number, bigint | Uint8Array> | undefined) {
  if (values === undefined) return null
  return Object.fromEntries([...values].map(([id, value]) => [String(id), scalar(value)]))
}

function fileJson(file: DataFile) {
  return {
    content: ['data', 'position-deletes', 'equality-deletes'].indexOf(file.content),
    filePath: file.filePath,
    fileFormat: file.fileFormat,
    partition: file.partition.map(scalar),
    recordCount: String(file.recordCount),
    fileSizeBytes: String(file.fileSizeBytes),
    columnSizesBytes: byId(file.columnSizesBytes),
    valueCounts: byId(file.valueCounts),
    nullValueCounts: byId(file.nullValueCounts),
    nanValueCounts: byId(file.nanValueCounts),
    lowerBounds: byId(file.lowerBounds),
    upperBounds: byId(file.upperBounds),
    splitOffsets: file.splitOffsets?.map(String) ?? null,
    sortOrderId: file.sortOrderId ?? null,
    equalityIds: file.equalityIds ?? null,
    firstRowId: scalar(file.firstRowId),
    referencedDataFile: file.referencedDataFile ?? null,
    contentOffset: scalar(file.contentOffset),
    contentSizeBytes: scalar(file.contentSizeBytes),
  }
}

/** Members that PyIceberg cannot have, and that Java leaves out for data files. */
const ABSENT = {
  equalityIds: null,
  firstRowId: null,
  referencedDataFile: null,
  contentOffset: null,
  contentSizeBytes: null,
}

const withAbsent = (entry: ExpectedEntry) => ({
  ...entry,
  dataFile: { ...ABSENT, ...entry.dataFile },
})

function entryJson(entry: ResolvedEntry) {
  return {
    status: ['existing', 'added', 'deleted'].indexOf(entry.status),
    snapshotId: String(entry.snapshotId),
    sequenceNumber: String(entry.sequenceNumber),
    fileSequenceNumber: String(entry.fileSequenceNumber),
    dataFile: fileJson(entry.dataFile),
  }
}

function manifestJson(manifest: ManifestFile) {
  return {
    manifestPath: manifest.manifestPath,
    manifestLengthBytes: String(manifest.manifestLengthBytes),
    partitionSpecId: manifest.partitionSpecId,
    content: manifest.content === 'data' ? 0 : 1,
    sequenceNumber: String(manifest.sequenceNumber),
    minSequenceNumber: String(manifest.minSequenceNumber),
    addedSnapshotId: String(manifest.addedSnapshotId),
    firstRowId: scalar(manifest.firstRowId),
    filesCounts: [
      manifest.addedFilesCount,
      manifest.existingFilesCount,
      manifest.deletedFilesCount,
    ],
    rowsCounts: [
      manifest.addedRowsCount,
      manifest.existingRowsCount,
      manifest.deletedRowsCount,
    ].map(String),
    partitions: manifest.partitions?.map((summary) => ({
      containsNull: summary.containsNull,
      containsNan: summary.containsNan ?? null,
      lowerBound: scalar(summary.lowerBound),
      upperBound: scalar(summary.upperBound),
    })),
  }
}

const isDead = (manifest: ManifestFile): boolean =>
  manifest.addedFilesCount === 0 && manifest.existingFilesCount === 0

describe.each(tables)('the table %s', (table) => {
  const { metadata, snapshots, read, options } = openFixture(table)

  it.each(snapshots)('has the manifests that its engine lists', async ({ snapshot, expected }) => {
    const found = await readSnapshotManifests(read, { metadata, snapshot }, options)
    if (found.outcome !== 'read') throw new Error(found.outcome)
    expect(found.manifests.map(manifestJson)).toEqual(
      expected.map(({ entries, ...manifest }) => ({ firstRowId: null, ...manifest })),
    )
  })

  it.each(snapshots)('has the entries that its engine reads', async ({ snapshot, expected }) => {
    const found = await readLiveFiles(read, { metadata, snapshot }, options)
    if (found.outcome !== 'read') throw new Error(found.outcome)
    const opened = found.manifests.filter((manifest) => !isDead(manifest))
    expect(found.entriesByManifest.size).toBe(opened.length)
    for (const manifest of opened) {
      const { entries } = expected.find((e) => e.manifestPath === manifest.manifestPath)!
      expect(found.entriesByManifest.get(manifest.manifestPath)?.map(entryJson)).toEqual(
        entries.map(withAbsent),
      )
    }
  })

  it.each(snapshots)('has the totals of its summary', async ({ snapshot }) => {
    const found = await readLiveFiles(read, { metadata, snapshot }, { ...options, metrics: 'none' })
    if (found.outcome !== 'read') throw new Error(found.outcome)
    expect(String(found.dataFiles.length)).toBe(snapshot.summary?.['total-data-files'])
    expect(String(found.dataRowsCount)).toBe(snapshot.summary?.['total-records'])
    const deleteBytes = found.deleteFiles.map(
      ({ entry: { dataFile } }) => dataFile.contentSizeBytes ?? dataFile.fileSizeBytes,
    )
    const sizeBytes = deleteBytes.reduce((sum, bytes) => sum + bytes, found.dataSizeBytes)
    expect(String(found.deleteFiles.length)).toBe(snapshot.summary?.['total-delete-files'])
    expect(String(sizeBytes)).toBe(snapshot.summary?.['total-files-size'])
  })
})

describe('readLiveFiles', () => {
  const fixture = () => {
    const opened = openFixture('pyiceberg-0.12/transforms-v2')
    return { ...opened, snapshot: opened.metadata.snapshots.at(-1)! }
  }

  it('reads nothing when the manifest list is outside the prefixes', async () => {
    const { metadata, snapshot, read, reads } = fixture()
    const found = await readLiveFiles(
      read,
      { metadata, snapshot },
      { allowedPrefixes: ['file:///lake/ns/transforms-v'] },
    )
    expect(found).toEqual({ outcome: 'outside', location: snapshot.manifestList })
    expect(reads).toEqual([])
  })

  it('reads no manifest when one of them is outside', async () => {
    const { metadata, snapshot, read, reads } = fixture()
    const list = `${metadata.location}/metadata`
    const found = await readLiveFiles(
      read,
      {
        metadata,
        snapshot: {
          ...snapshot,
          manifestList: `file:///moved/${basename(snapshot.manifestList!)}`,
        },
      },
      { allowedPrefixes: ['file:///moved'] },
    )
    expect(found).toMatchObject({ outcome: 'outside', location: expect.stringContaining(list) })
    expect(reads).toHaveLength(1)
  })

  it('reports a data file outside', async () => {
    const { metadata, snapshot, read } = fixture()
    const found = await readLiveFiles(
      read,
      { metadata, snapshot },
      { allowedPrefixes: [`${metadata.location}/metadata`] },
    )
    expect(found).toMatchObject({
      outcome: 'outside',
      location: expect.stringContaining(`${metadata.location}/data/`),
    })
  })

  it('does not follow a path with dots out of the prefix', async () => {
    const { metadata, snapshot, read, reads, options } = fixture()
    const manifestList = `${metadata.location}/../other/${basename(snapshot.manifestList!)}`
    const found = await readLiveFiles(
      read,
      { metadata, snapshot: { ...snapshot, manifestList } },
      options,
    )
    expect(found).toEqual({ outcome: 'outside', location: manifestList })
    expect(reads).toEqual([])
  })

  it('leaves an encrypted manifest list alone', async () => {
    const { metadata, snapshot, read, reads, options } = fixture()
    const found = await readLiveFiles(
      read,
      { metadata, snapshot: { ...snapshot, keyId: 'k1' } },
      options,
    )
    expect(found).toEqual({ outcome: 'encrypted', location: snapshot.manifestList })
    expect(reads).toEqual([])
  })

  it('never reads more manifests at a time than allowed', async () => {
    const { metadata, snapshot, read, options } = fixture()
    let running = 0
    let runningMax = 0
    const counted: ReadFile = async (location, readOptions) => {
      running += 1
      runningMax = Math.max(runningMax, running)
      const bytes = await read(location, readOptions)
      running -= 1
      return bytes
    }
    await readLiveFiles(counted, { metadata, snapshot }, { ...options, manifestReadsMax: 2 })
    expect(runningMax).toBe(2)
  })

  it('stops between reads once the signal fires', async () => {
    const { metadata, snapshot, read, reads, options } = fixture()
    const stop = new AbortController()
    const stopping: ReadFile = (location, readOptions) => {
      stop.abort(new Error('deadline'))
      return read(location, readOptions)
    }
    const reading = readLiveFiles(
      stopping,
      { metadata, snapshot },
      { ...options, signal: stop.signal },
    )
    await expect(reading).rejects.toThrow('deadline')
    expect(reads).toHaveLength(1)
  })

  it('passes on what the store says, and begins no further read', async () => {
    const { metadata, snapshot, read, options } = fixture()
    let failures = 0
    const failing: ReadFile = (location, readOptions) => {
      if (!location.endsWith('-m0.avro') && !location.endsWith('-m1.avro'))
        return read(location, readOptions)
      failures += 1
      return Promise.reject(new Error('store is down'))
    }
    const reading = readLiveFiles(
      failing,
      { metadata, snapshot },
      { ...options, manifestReadsMax: 1 },
    )
    await expect(reading).rejects.toThrow('store is down')
    expect(failures).toBe(1)
  })
})

describe('a v1 snapshot without a manifest list', () => {
  it('is read from the manifests that it names', async () => {
    const { metadata, snapshots, read, options } = openFixture('pyiceberg-0.12/plain-v1')
    const { snapshot, expected } = snapshots.at(-1)!
    const { manifestList: _, ...rest } = snapshot
    const old = { ...rest, manifests: expected.map(({ manifestPath }) => manifestPath) }
    const listed = await readLiveFiles(read, { metadata, snapshot }, options)
    const found = await readLiveFiles(read, { metadata, snapshot: old }, options)
    if (found.outcome !== 'read' || listed.outcome !== 'read') throw new Error(found.outcome)
    expect(found.dataFiles.map(({ entry }) => entryJson(entry))).toEqual(
      listed.dataFiles.map(({ entry }) => entryJson(entry)),
    )
  })

  it('is not read when one of them is outside', async () => {
    const { metadata, snapshots, read, reads, options } = openFixture('pyiceberg-0.12/plain-v1')
    const { manifestList: _, ...rest } = snapshots[0]!.snapshot
    const old = { ...rest, manifests: ['file:///etc/passwd'] }
    const found = await readLiveFiles(
      read,
      { metadata: metadata satisfies TableMetadata, snapshot: old },
      options,
    )
    expect(found).toEqual({ outcome: 'outside', location: 'file:///etc/passwd' })
    expect(reads).toEqual([])
  })
})

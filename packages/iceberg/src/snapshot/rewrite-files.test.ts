import { describe, expect, it } from 'vitest'
import type { DataFile, ManifestEntry, ResolvedEntry } from '../manifest/data-file.ts'
import { describeManifest } from '../manifest/describe-manifest.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionType } from '../manifest/partition-type.ts'
import { readManifestList } from '../manifest/read-manifest-list.ts'
import { readManifest } from '../manifest/read-manifest.ts'
import { resolveEntries } from '../manifest/resolve-entries.ts'
import type { PartitionSpec } from '../spec/partition-spec.ts'
import type { Schema } from '../spec/schema.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import type { FormatVersion, TableMetadata } from '../spec/table-metadata.ts'
import { appendFiles } from './append-files.ts'
import type { NewSnapshotFiles, SnapshotIdentity } from './new-snapshot.ts'
import { rewriteFiles } from './rewrite-files.ts'
import type { RewriteFiles } from './rewrite-request.ts'

const schema: Schema = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: [
    { id: 1, name: 'id', required: false, type: { kind: 'long' } },
    { id: 2, name: 'day', required: false, type: { kind: 'date' } },
  ],
}
const byDay: PartitionSpec = {
  specId: 0,
  fields: [{ sourceIds: [2], fieldId: 1000, name: 'day', transform: { kind: 'identity' } }],
}
const unpartitioned: PartitionSpec = { specId: 1, fields: [] }
const partition = partitionType(byDay, [schema])

const emptyTable = (formatVersion: FormatVersion): TableMetadata => ({
  formatVersion,
  tableUuid: '5f8b14d8-0a14-4e6a-8b04-7b1f3c5e9a11',
  location: 'file:///lake/t',
  lastSequenceNumber: 0n,
  lastUpdatedMs: 1_000,
  lastColumnId: 2,
  currentSchemaId: 0,
  schemas: [schema],
  defaultSpecId: 0,
  partitionSpecs: [byDay, unpartitioned],
  lastPartitionId: 1000,
  defaultSortOrderId: 0,
  sortOrders: [],
  properties: {},
  snapshots: [],
  snapshotLog: [],
  metadataLog: [],
  refs: {},
  statistics: [],
  partitionStatistics: [],
  encryptionKeys: [],
  ...(formatVersion === 3 ? { nextRowId: 1000n } : {}),
})

const file = (name: string, day: number | null, extra: Partial<DataFile> = {}): DataFile => ({
  content: 'data',
  filePath: `file:///lake/t/data/${name}.parquet`,
  fileFormat: 'PARQUET',
  partition: [day],
  recordCount: 10n,
  fileSizeBytes: 1000n,
  lowerBounds: new Map([[1, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0)]]),
  sortOrderId: 0,
  ...extra,
})

const identity = (
  snapshotId: bigint,
  timestampMs = Number(snapshotId) * 1000,
): SnapshotIdentity => ({
  snapshotId,
  timestampMs,
  commitUuid: `c${snapshotId}`,
  fileLocation: (name) => `file:///lake/t/metadata/${name}`,
})

/** A table in memory: metadata and the manifests that its snapshots wrote. */
interface Lake {
  readonly metadata: TableMetadata
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly manifests: readonly ManifestFile[]
}

function add(lake: Lake, written: NewSnapshotFiles): Lake {
  const { snapshot, manifestList } = written
  const files = new Map(lake.files)
  for (const { location, bytes } of [...written.manifests, manifestList]) files.set(location, bytes)
  const metadata: TableMetadata = {
    ...lake.metadata,
    lastSequenceNumber: snapshot.sequenceNumber,
    currentSnapshotId: snapshot.snapshotId,
    snapshots: [...lake.metadata.snapshots, snapshot],
    ...(lake.metadata.nextRowId === undefined
      ? {}
      : { nextRowId: lake.metadata.nextRowId + (snapshot.addedRows ?? 0n) }),
  }
  return { metadata, files, manifests: readManifestList(manifestList.bytes) }
}

const head = (lake: Lake): Snapshot | undefined => lake.metadata.snapshots.at(-1)

function append(lake: Lake, ...files: readonly DataFile[]): Lake {
  const parent = head(lake)
  const written = appendFiles({
    metadata: lake.metadata,
    ...(parent === undefined ? {} : { parent }),
    parentManifests: lake.manifests,
    files,
    identity: identity(BigInt(lake.metadata.snapshots.length + 1)),
  })
  return add(lake, written)
}

function entriesOf(lake: Lake): Map<string, ResolvedEntry[]> {
  return new Map(
    lake.manifests.map((manifest) => {
      const bytes = lake.files.get(manifest.manifestPath)!
      expect(manifest.manifestLengthBytes).toBe(BigInt(bytes.length))
      const { entries } = readManifest(
        bytes,
        manifest.content === 'data' ? { manifest, partition } : { manifest },
      )
      return [manifest.manifestPath, resolveEntries(manifest, entries)]
    }),
  )
}

function live(lake: Lake): string[] {
  const paths: string[] = []
  for (const entry of [...entriesOf(lake).values()].flat()) {
    if (entry.status === 'deleted' || entry.dataFile.content !== 'data') continue
    const name = entry.dataFile.filePath.split('/').at(-1)!.replace('.parquet', '')
    paths.push(`${name}@${entry.sequenceNumber}/${entry.fileSequenceNumber}/${entry.snapshotId}`)
  }
  return paths.sort()
}

const path = (name: string): string => file(name, 0).filePath

function rewrite(
  lake: Lake,
  inputs: readonly string[],
  outputs: readonly DataFile[],
  extra: Partial<RewriteFiles> = {},
) {
  return rewriteFiles({
    metadata: lake.metadata,
    parent: head(lake)!,
    parentManifests: lake.manifests,
    entriesByManifest: entriesOf(lake),
    inputPaths: inputs.map(path),
    outputs,
    specId: 0,
    identity: identity(BigInt(lake.metadata.snapshots.length + 1)),
    ...extra,
  })
}

function rewritten(...args: Parameters<typeof rewrite>): NewSnapshotFiles {
  const outcome = rewrite(...args)
  if (outcome.outcome !== 'rewritten') throw new Error(outcome.message)
  return outcome
}

const startLake = (version: FormatVersion): Lake => {
  const empty: Lake = { metadata: emptyTable(version), files: new Map(), manifests: [] }
  const first = append(empty, file('a', 1), file('b', 1), file('x', 2))
  return append(append(first, file('c', 1)), file('d', 1), file('y', null))
}
const merged = (rows: bigint): DataFile =>
  file('merged', 1, { recordCount: rows, fileSizeBytes: 2500n })

describe('appendFiles', () => {
  it('lists the new manifest before those of the parent', () => {
    const lake = startLake(2)
    expect(
      lake.manifests.map((m) => [m.addedSnapshotId, m.sequenceNumber, m.minSequenceNumber]),
    ).toEqual([
      [3n, 3n, 3n],
      [2n, 2n, 2n],
      [1n, 1n, 1n],
    ])
    expect(live(lake)).toEqual(['a@1/1/1', 'b@1/1/1', 'c@2/2/2', 'd@3/3/3', 'x@1/1/1', 'y@3/3/3'])
  })

  it('counts totals on from the parent', () => {
    expect(head(startLake(2))).toMatchObject({
      parentSnapshotId: 2n,
      schemaId: 0,
      manifestList: 'file:///lake/t/metadata/snap-3-1-c3.avro',
      summary: {
        operation: 'append',
        'added-data-files': '2',
        'added-records': '20',
        'added-files-size': '2000',
        'changed-partition-count': '2',
        'total-data-files': '6',
        'total-records': '60',
        'total-files-size': '6000',
        'total-delete-files': '0',
        'total-position-deletes': '0',
        'total-equality-deletes': '0',
      },
    })
  })

  it('gives v3 rows the ids of the table', () => {
    const lake = startLake(3)
    expect(lake.metadata.snapshots.map((s) => [s.firstRowId, s.addedRows])).toEqual([
      [1000n, 30n],
      [1030n, 10n],
      [1040n, 20n],
    ])
    const rowIds = [...entriesOf(lake).values()].flat().map(({ dataFile }) => dataFile.firstRowId)
    expect(rowIds).toEqual([1040n, 1050n, 1030n, 1000n, 1010n, 1020n])
    expect(lake.metadata.nextRowId).toBe(1060n)
  })

  it('never dates a snapshot before its parent', () => {
    const lake = startLake(2)
    const written = appendFiles({
      metadata: lake.metadata,
      parent: head(lake)!,
      parentManifests: lake.manifests,
      files: [file('e', 1)],
      identity: identity(9n, 5),
    })
    expect(written.snapshot.timestampMs).toBe(3000)
  })

  it('refuses a snapshot id that the table has', () => {
    const lake = startLake(2)
    expect(() =>
      appendFiles({
        metadata: lake.metadata,
        parentManifests: [],
        files: [],
        identity: identity(2n),
      }),
    ).toThrow('snapshot id 2 is taken')
  })
})

describe('rewriteFiles', () => {
  it('replaces the inputs, keeps the neighbours with their numbers, and takes the highest sequence number of the inputs', () => {
    const before = startLake(2)
    const after = add(before, rewritten(before, ['a', 'b', 'c'], [merged(30n)]))
    expect(live(after)).toEqual(['d@3/3/3', 'merged@2/4/4', 'x@1/1/1', 'y@3/3/3'])
  })

  it('writes deleted entries with explicit numbers under the new snapshot', () => {
    const before = startLake(2)
    const { manifests } = rewritten(before, ['a', 'c'], [merged(20n)])
    const deleted = manifests
      .flatMap(({ bytes }) => readManifest(bytes).entries)
      .filter((e) => e.status === 'deleted')
    expect(
      deleted.map((e) => [
        e.dataFile.filePath,
        e.snapshotId,
        e.sequenceNumber,
        e.fileSequenceNumber,
      ]),
    ).toEqual([
      [path('c'), 4n, 2n, 2n],
      [path('a'), 4n, 1n, 1n],
    ])
    expect(deleted[0]?.dataFile).toEqual(file('c', 1))
  })

  it('writes the outputs with a sequence number and without a file sequence number', () => {
    const before = startLake(2)
    const { manifests } = rewritten(before, ['a', 'c'], [merged(20n)])
    expect(readManifest(manifests[0]!.bytes, { partition }).entries).toEqual([
      { status: 'added', snapshotId: 4n, sequenceNumber: 2n, dataFile: merged(20n) },
    ])
  })

  it('keeps the list entry of a manifest without inputs, and writes a full summary', () => {
    const before = startLake(2)
    const written = rewritten(before, ['a', 'b', 'c'], [merged(30n)], {
      identity: { ...identity(4n), summary: { 'engine-name': 'timelake', operation: 'nonsense' } },
    })
    expect(written.listedManifests.slice(3)).toEqual([before.manifests[0]])
    expect(readManifestList(written.manifestList.bytes)).toEqual(written.listedManifests)
    expect(written.snapshot).toEqual({
      snapshotId: 4n,
      parentSnapshotId: 3n,
      sequenceNumber: 4n,
      timestampMs: 4000,
      manifestList: 'file:///lake/t/metadata/snap-4-1-c4.avro',
      schemaId: 0,
      summary: {
        operation: 'replace',
        'added-data-files': '1',
        'deleted-data-files': '3',
        'added-records': '30',
        'deleted-records': '30',
        'added-files-size': '2500',
        'removed-files-size': '3000',
        'changed-partition-count': '1',
        'total-data-files': '4',
        'total-records': '60',
        'total-files-size': '5500',
        'total-delete-files': '0',
        'total-position-deletes': '0',
        'total-equality-deletes': '0',
        'manifests-created': '3',
        'manifests-kept': '1',
        'manifests-replaced': '2',
        'entries-processed': '4',
        'engine-name': 'timelake',
      },
    })
  })

  it('describes the new manifests by what they hold', () => {
    const before = startLake(2)
    const { manifests } = rewritten(before, ['a', 'b', 'c'], [merged(30n)])
    const counts = manifests.map(({ manifest: m }) => [
      [m.addedFilesCount, m.existingFilesCount, m.deletedFilesCount],
      [m.addedRowsCount, m.existingRowsCount, m.deletedRowsCount],
      [m.sequenceNumber, m.minSequenceNumber, m.addedSnapshotId],
    ])
    expect(counts).toEqual([
      [
        [1, 0, 0],
        [30n, 0n, 0n],
        [4n, 2n, 4n],
      ],
      [
        [0, 1, 0],
        [0n, 10n, 0n],
        [4n, 1n, 4n],
      ],
      [
        [0, 0, 3],
        [0n, 0n, 30n],
        [4n, 4n, 4n],
      ],
    ])
  })

  it('drops the manifest of deleted entries from the next rewrite', () => {
    const first = add(startLake(2), rewritten(startLake(2), ['a', 'b', 'c'], [merged(30n)]))
    const again = file('again', 1, { recordCount: 40n })
    const second = add(first, rewritten(first, ['merged', 'd'], [again]))
    expect(live(second)).toEqual(['again@3/5/5', 'x@1/1/1', 'y@3/3/3'])
    expect(
      second.manifests.every((m) => m.addedSnapshotId === 5n || m.deletedFilesCount === 0),
    ).toBe(true)
  })

  it('works in v1 without sequence numbers', () => {
    const before = startLake(1)
    const after = add(before, rewritten(before, ['a', 'b'], [merged(20n)]))
    expect(live(after)).toEqual(['c@0/0/2', 'd@0/0/3', 'merged@0/0/4', 'x@0/0/1', 'y@0/0/3'])
  })

  it('keeps v1 files of an upgraded table at sequence number 0', () => {
    const v1 = startLake(1)
    const upgraded: Lake = { ...v1, metadata: { ...v1.metadata, formatVersion: 2 } }
    const after = add(upgraded, rewritten(upgraded, ['a', 'b'], [merged(20n)]))
    expect(live(after)).toEqual(['c@0/0/2', 'd@0/0/3', 'merged@0/1/4', 'x@0/0/1', 'y@0/0/3'])
  })

  it('treats a file that another commit removed as a reason to plan again', () => {
    const before = startLake(2)
    const after = add(before, rewritten(before, ['a', 'b', 'c'], [merged(30n)]))
    expect(rewrite(after, ['c', 'd', 'x'], [merged(30n)])).toEqual({
      outcome: 'refused',
      reason: 'inputs-not-live',
      expected: '3 live inputs',
      found: `2; not live: ${path('c')}`,
      message: `cannot replace files: expected 3 live inputs, found 2; not live: ${path('c')}`,
    })
  })

  it('is rebased over appends that came meanwhile', () => {
    const later = append(startLake(2), file('late', 1))
    const after = add(later, rewritten(later, ['a', 'b', 'c'], [merged(30n)]))
    expect(live(after)).toEqual(['d@3/3/3', 'late@4/4/4', 'merged@2/5/5', 'x@1/1/1', 'y@3/3/3'])
  })

  it.each<[string, string, () => ReturnType<typeof rewrite>]>([
    ['row-lineage', 'a v3 table', () => rewrite(startLake(3), ['a', 'b'], [merged(20n)])],
    [
      'row-count',
      'outputs with other rows',
      () => rewrite(startLake(2), ['a', 'b'], [merged(19n)]),
    ],
    ['inputs-not-live', 'no inputs', () => rewrite(startLake(2), [], [])],
    [
      'input-listed-twice',
      'an input given twice',
      () => rewrite(startLake(2), ['a', 'a'], [merged(10n)]),
    ],
    [
      'input-listed-twice',
      'an input that was added twice',
      () => rewrite(append(startLake(2), file('a', 1)), ['a', 'b'], [merged(30n)]),
    ],
    [
      'inputs-of-another-spec',
      'inputs of another spec',
      () => rewrite(startLake(2), ['a', 'b'], [merged(20n)], { specId: 1 }),
    ],
    [
      'unwritable-spec',
      'a spec that is gone',
      () => rewrite(startLake(2), ['a', 'b'], [merged(20n)], { specId: 5 }),
    ],
    [
      'encrypted',
      'an encrypted manifest list',
      () =>
        rewrite(startLake(2), ['a', 'b'], [merged(20n)], {
          parent: { ...head(startLake(2))!, keyId: 'k' },
        }),
    ],
    [
      'encrypted',
      'an encrypted input',
      () =>
        rewrite(
          append(startLake(2), file('e', 1, { keyMetadata: Uint8Array.of(1) })),
          ['a', 'e'],
          [merged(20n)],
        ),
    ],
  ])('refuses with %s: %s', (reason, _, run) => {
    expect(run()).toMatchObject({ outcome: 'refused', reason })
  })

  it('refuses an unknown transform', () => {
    const lake = startLake(2)
    const odd: PartitionSpec = {
      specId: 0,
      fields: [{ ...byDay.fields[0]!, transform: { kind: 'unknown-transform', text: 'zorder' } }],
    }
    const outcome = rewrite(lake, ['a', 'b'], [merged(20n)], {
      metadata: { ...lake.metadata, partitionSpecs: [odd] },
    })
    expect(outcome).toMatchObject({ outcome: 'refused', reason: 'unwritable-spec' })
  })

  it('refuses partition values that Java would misread', () => {
    const lake = startLake(2)
    const fixed: Schema = {
      ...schema,
      fields: [{ id: 2, name: 'day', required: false, type: { kind: 'fixed', lengthBytes: 4 } }],
    }
    const outcome = rewrite(lake, ['a', 'b'], [merged(20n)], {
      metadata: { ...lake.metadata, schemas: [fixed] },
    })
    expect(outcome).toMatchObject({ outcome: 'refused', reason: 'unwritable-spec' })
  })

  it('refuses a manifest that holds fewer files than listed', () => {
    const lake = startLake(2)
    const [last] = lake.manifests.slice(-1)
    const half = new Map(entriesOf(lake))
    half.set(last!.manifestPath, half.get(last!.manifestPath)!.slice(0, 2))
    expect(rewrite(lake, ['a', 'b'], [merged(20n)], { entriesByManifest: half })).toMatchObject({
      outcome: 'refused',
      reason: 'manifest-counts',
      expected: `3 live files in ${last!.manifestPath}`,
      found: '2',
    })
  })

  it('holds its caller to outputs in the partitions of the inputs', () => {
    expect(() => rewrite(startLake(2), ['a', 'b'], [file('m', 7, { recordCount: 20n })])).toThrow(
      'is in a partition that no input is in',
    )
  })
})

interface DeleteCase {
  readonly content: 'position-deletes' | 'equality-deletes'
  readonly sequence: bigint
  readonly spec: PartitionSpec
  readonly day?: number
  readonly referencedDataFile?: string
}

/** The lake with a delete manifest of one file in front. */
function withDelete(
  lake: Lake,
  given: DeleteCase,
): { lake: Lake; entries: ResolvedEntry[]; manifest: ManifestFile } {
  const entry: ManifestEntry = {
    status: 'added',
    snapshotId: 3n,
    sequenceNumber: given.sequence,
    dataFile: {
      content: given.content,
      filePath: 'file:///lake/t/data/delete.parquet',
      fileFormat: 'PARQUET',
      partition: given.day === undefined ? [] : [given.day],
      recordCount: 1n,
      fileSizeBytes: 10n,
      ...(given.referencedDataFile === undefined
        ? {}
        : { referencedDataFile: given.referencedDataFile }),
    },
  }
  const manifest = describeManifest({
    manifestPath: 'file:///lake/t/metadata/deletes.avro',
    lengthBytes: 1,
    spec: given.spec,
    partition: partitionType(given.spec, [schema]),
    content: 'deletes',
    entries: [entry],
    snapshotId: 3n,
    sequenceNumber: given.sequence,
  })
  const entries = resolveEntries(manifest, [entry])
  return { lake: { ...lake, manifests: [manifest, ...lake.manifests] }, entries, manifest }
}

describe('B142, B145: rewriteFiles beside deletes', () => {
  const outcomeWith = (given: DeleteCase, isDecoded = true) => {
    const base = startLake(2)
    const { lake, entries, manifest } = withDelete(base, given)
    const entriesByManifest = new Map(entriesOf(base))
    if (isDecoded) entriesByManifest.set(manifest.manifestPath, entries)
    // Inputs of sequence numbers 1 and 2.
    return rewriteFiles({
      metadata: lake.metadata,
      parent: head(lake)!,
      parentManifests: lake.manifests,
      entriesByManifest,
      inputPaths: [path('a'), path('c')],
      outputs: [merged(20n)],
      specId: 0,
      identity: identity(4n),
    })
  }
  const sameDay = { spec: byDay, day: 1 }

  it.each<[string, DeleteCase]>([
    [
      'an equality delete newer than all inputs, which reaches the outputs too',
      { content: 'equality-deletes', sequence: 3n, ...sameDay },
    ],
    [
      'an equality delete older than all inputs',
      { content: 'equality-deletes', sequence: 1n, ...sameDay },
    ],
    [
      'an equality delete of another partition',
      { content: 'equality-deletes', sequence: 2n, spec: byDay, day: 2 },
    ],
    [
      'a position delete of another partition',
      { content: 'position-deletes', sequence: 3n, spec: byDay, day: 2 },
    ],
    [
      'a position delete of another file',
      { content: 'position-deletes', sequence: 3n, ...sameDay, referencedDataFile: path('d') },
    ],
  ])('goes on beside %s', (_, given) => {
    expect(outcomeWith(given).outcome).toBe('rewritten')
  })

  it.each<[string, DeleteCase]>([
    [
      'an equality delete between the inputs',
      { content: 'equality-deletes', sequence: 2n, ...sameDay },
    ],
    [
      'a global equality delete between the inputs',
      { content: 'equality-deletes', sequence: 2n, spec: unpartitioned },
    ],
    [
      'a position delete that may be of an input',
      { content: 'position-deletes', sequence: 1n, ...sameDay },
    ],
    [
      'a position delete of an input',
      { content: 'position-deletes', sequence: 9n, ...sameDay, referencedDataFile: path('a') },
    ],
  ])('refuses beside %s', (_, given) => {
    expect(outcomeWith(given)).toMatchObject({ outcome: 'refused', reason: 'row-level-deletes' })
  })

  it('refuses when it was not shown the deletes', () => {
    const given: DeleteCase = { content: 'equality-deletes', sequence: 3n, ...sameDay }
    expect(outcomeWith(given, false)).toMatchObject({
      outcome: 'refused',
      reason: 'row-level-deletes',
    })
  })

  it('need not be shown deletes that are older than every input', () => {
    const given: DeleteCase = { content: 'position-deletes', sequence: 0n, ...sameDay }
    expect(outcomeWith(given, false).outcome).toBe('rewritten')
  })
})

describe('a rewrite of many files', () => {
  it('splits manifests above the limit of entries', () => {
    const files = Array.from({ length: 60_000 }, (_, index) => file(`f${index}`, 1))
    const empty: Lake = { metadata: emptyTable(2), files: new Map(), manifests: [] }
    const lake = append(empty, ...files)
    expect(lake.manifests.map((m) => m.addedFilesCount)).toEqual([25_000, 25_000, 10_000])
    const { manifests } = rewritten(lake, ['f0', 'f59999'], [merged(20n)])
    expect(
      manifests.map(({ manifest: m }) => [
        m.addedFilesCount,
        m.existingFilesCount,
        m.deletedFilesCount,
      ]),
    ).toEqual([
      [1, 0, 0],
      [0, 25_000, 0],
      [0, 9_998, 0],
      [0, 0, 2],
    ])
  })
})

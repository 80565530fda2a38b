import { describe, expect, it } from 'vitest'
import { NOW_MS, SAMPLE_LOCATION } from '../commit/sample-table.ts'
import type { CommitRequest } from '../commit/table-update.ts'
import type { DataFile } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { resolveEntries } from '../manifest/resolve-entries.ts'
import { rewriteFiles } from '../snapshot/rewrite-files.ts'
import type { FormatVersion, TableMetadata } from '../spec/table-metadata.ts'
import { SampleLake } from './sample-lake.ts'

const DAY = { partition: [7] }

/** What a compaction that loaded `metadata` sends: these files become one. */
function rewrite(
  lake: SampleLake,
  metadata: TableMetadata,
  inputs: readonly DataFile[],
): { readonly request: CommitRequest; readonly output: DataFile } {
  const parent = lake.headOf('main', metadata)!
  const parentManifests = lake.manifestsOf(parent)
  const snapshotId = lake.newSnapshotId()
  const rows = inputs.reduce((sum, { recordCount }) => sum + recordCount, 0n)
  const output = lake.newFile({ ...DAY, recordCount: rows })
  const files = rewriteFiles({
    metadata,
    parent,
    parentManifests,
    entriesByManifest: new Map(
      parentManifests.map((manifest) => [
        manifest.manifestPath,
        resolveEntries(manifest, lake.contentOf(metadata, manifest).entries),
      ]),
    ),
    inputPaths: inputs.map(({ filePath }) => filePath),
    outputs: [output],
    specId: 0,
    identity: {
      snapshotId,
      timestampMs: NOW_MS,
      commitUuid: `rewrite${snapshotId}`,
      fileLocation: (name) => `${SAMPLE_LOCATION}/metadata/${name}`,
    },
  })
  if (files.outcome === 'refused') throw new Error(files.message)
  lake.put(...files.manifests, files.manifestList)
  const request: CommitRequest = {
    requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: parent.snapshotId }],
    updates: [
      { action: 'add-snapshot', snapshot: files.snapshot },
      { action: 'set-snapshot-ref', refName: 'main', ref: { type: 'branch', snapshotId } },
    ],
  }
  return { request, output }
}

/** A table with two appends of a file and a third that holds both a file and one to be left alone. */
function filled(version: FormatVersion = 2) {
  const lake = new SampleLake(version)
  const [first, second, third, kept] = [1, 2, 3, 4].map(() => lake.newFile(DAY))
  for (const files of [[first!], [second!], [third!, kept!]]) {
    lake.land(lake.append(lake.metadata, [files]))
  }
  return { lake, inputs: [first!, second!, third!], kept: kept! }
}

const live = (lake: SampleLake): string[] =>
  lake
    .liveEntries(lake.headOf())
    .map(({ dataFile }) => dataFile.filePath)
    .sort()
const paths = (...files: readonly DataFile[]): string[] =>
  files.map(({ filePath }) => filePath).sort()

describe('a rewrite that came second', () => {
  it.each([1, 2] as const)('keeps what was appended meanwhile on a v%s table', (version) => {
    const { lake, inputs, kept } = filled(version)
    const { request, output } = rewrite(lake, lake.metadata, inputs)
    const late = [lake.newFile(DAY), lake.newFile(DAY)]
    for (const file of late) lake.land(lake.append(lake.metadata, [[file]]))
    const before = lake.headOf()
    lake.land(request)
    expect(live(lake)).toEqual(paths(kept, output, ...late))
    expect(lake.headOf()).toMatchObject({
      parentSnapshotId: before?.snapshotId,
      summary: { operation: 'replace', 'total-data-files': '4', 'total-records': '60' },
    })
    const numbers = new Map(
      lake
        .liveEntries(lake.headOf())
        .map(({ dataFile, sequenceNumber }) => [dataFile.filePath, sequenceNumber]),
    )
    // The rewritten rows keep the number of their inputs, so later deletes still reach them.
    if (version === 2) expect(numbers.get(output.filePath)).toBe(3n)
    for (const manifest of lake.manifestsOf(lake.headOf())) {
      const entries = resolveEntries(manifest, lake.contentOf(lake.metadata, manifest).entries)
      const lowest = entries
        .filter(({ status }) => status !== 'deleted')
        .reduce((low, { sequenceNumber }) => (sequenceNumber < low ? sequenceNumber : low), 99n)
      expect(manifest.minSequenceNumber).toBeLessThanOrEqual(lowest)
    }
    lake.cleanUpAfter(request)
    expect(live(lake)).toEqual(paths(kept, output, ...late))
  })

  it('of manifests keeps the row ids of a v3 table', () => {
    const lake = new SampleLake(3)
    for (let at = 0; at < 3; at += 1) lake.land(lake.append(lake.metadata, [[lake.newFile()]]))
    const merged = lake.append(lake.metadata, [[]], { isMerging: true })
    const request: CommitRequest = {
      ...merged,
      updates: merged.updates.map((update) =>
        update.action === 'add-snapshot'
          ? { ...update, snapshot: { ...update.snapshot, summary: { operation: 'replace' } } }
          : update,
      ),
    }
    const idsOf = () =>
      lake.liveEntries(lake.headOf()).map(({ dataFile }) => Number(dataFile.firstRowId))
    lake.land(lake.append(lake.metadata, [[lake.newFile()]]))
    const before = idsOf().sort((a, b) => a - b)
    lake.land(request)
    expect(idsOf().sort((a, b) => a - b)).toEqual(before)
    expect(lake.manifestsOf(lake.headOf())).toHaveLength(2)
  })

  it('is not held up by manifests of deleted files, which later lists leave out', () => {
    const { lake, inputs } = filled()
    lake.land(rewrite(lake, lake.metadata, inputs.slice(0, 2)).request)
    const stale = lake.metadata
    const isDead = ({ addedFilesCount, existingFilesCount }: ManifestFile) =>
      addedFilesCount === 0 && existingFilesCount === 0
    expect(lake.manifestsOf(lake.headOf()).filter(isDead)).toHaveLength(1)
    const { request } = rewrite(lake, stale, inputs.slice(2))
    const appends = [1, 2].map(() => lake.append(stale, [[lake.newFile(DAY)]]))
    for (const append of appends) lake.land(append)
    expect(lake.manifestsOf(lake.headOf()).filter(isDead)).toEqual([])
    const before = live(lake).length
    lake.land(request)
    expect(live(lake)).toHaveLength(before)
  })

  it('is refused when somebody else rewrote its inputs', () => {
    const { lake, inputs } = filled()
    const stale = lake.metadata
    lake.land(rewrite(lake, stale, inputs.slice(0, 2)).request)
    const { request } = rewrite(lake, stale, inputs)
    expect(lake.rebase(request)).toMatch(
      /expected appends alone meanwhile, found snapshot \d+ \(replace/,
    )
  })

  it('is refused when the manifests of its inputs were merged', () => {
    const { lake, inputs } = filled()
    const { request } = rewrite(lake, lake.metadata, inputs)
    const append = lake.append(lake.metadata, [[lake.newFile(DAY)]], { isMerging: true })
    lake.land(append)
    expect(lake.rebase(request)).toMatch(
      /^manifest .* with its inputs is not in the table any more$/,
    )
  })
})

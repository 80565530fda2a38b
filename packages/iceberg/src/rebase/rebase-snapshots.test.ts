import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NOW_MS, SAMPLE_LOCATION } from '../commit/sample-table.ts'
import type { CommitRequest } from '../commit/table-update.ts'
import type { DataFile } from '../manifest/data-file.ts'
import type { FormatVersion, TableMetadata } from '../spec/table-metadata.ts'
import { SampleLake } from './sample-lake.ts'

const names = (lake: SampleLake, branch?: string): string[] =>
  lake
    .liveEntries(lake.headOf(branch))
    .map(({ dataFile }) => dataFile.filePath)
    .sort()

const paths = (files: readonly DataFile[]): string[] => files.map(({ filePath }) => filePath).sort()

describe('an append that came second', () => {
  it.each([1, 2, 3] as const)('is attached to the new head of a v%s table', (version) => {
    const lake = new SampleLake(version)
    const [first, second, third] = [lake.newFile(), lake.newFile(), lake.newFile()]
    lake.land(lake.append(lake.metadata, [[first]]))
    const stale = lake.metadata
    lake.land(lake.append(stale, [[second]]))
    const request = lake.append(stale, [[third]])
    lake.land(request)
    expect(names(lake)).toEqual(paths([first, second, third]))
    expect(lake.headOf()).toMatchObject({
      snapshotId: 3n,
      parentSnapshotId: 2n,
      sequenceNumber: version === 1 ? 0n : 3n,
      summary: { operation: 'append', 'total-data-files': '3', 'total-records': '30' },
      ...(version === 3 ? { firstRowId: 20n, addedRows: 10n } : {}),
    })
    lake.cleanUpAfter(request)
    expect(names(lake)).toEqual(paths([first, second, third]))
  })
})

describe('an append whose branch did not move', () => {
  it('gets another number where a commit to another branch took it', () => {
    const lake = new SampleLake(3)
    const [first, second, third] = [lake.newFile(), lake.newFile(), lake.newFile()]
    lake.land(lake.append(lake.metadata, [[first]]))
    lake.change({
      action: 'set-snapshot-ref',
      refName: 'audit',
      ref: { snapshotId: 1n, type: 'branch' },
    })
    const request = lake.append(lake.metadata, [[second]], { branch: 'audit' })
    lake.land(lake.append(lake.metadata, [[third]]))
    lake.land(request)
    expect(lake.headOf('audit')).toMatchObject({ parentSnapshotId: 1n, sequenceNumber: 3n })
    expect(names(lake, 'audit')).toEqual(paths([first, second]))
    expect(names(lake)).toEqual(paths([first, third]))
  })

  it('makes it, on the snapshot that its writer chose', () => {
    const lake = new SampleLake(2)
    const [first, second, third] = [lake.newFile(), lake.newFile(), lake.newFile()]
    lake.land(lake.append(lake.metadata, [[first]]))
    const onMain = lake.append(lake.metadata, [[second]])
    const request: CommitRequest = {
      requirements: [{ type: 'assert-ref-snapshot-id', ref: 'new' }],
      updates: onMain.updates.map((one) =>
        one.action === 'set-snapshot-ref' ? { ...one, refName: 'new' } : one,
      ),
    }
    lake.land(lake.append(lake.metadata, [[third]]))
    lake.land(request)
    expect(lake.headOf('new')).toMatchObject({ parentSnapshotId: 1n, sequenceNumber: 3n })
    expect(names(lake, 'new')).toEqual(paths([first, second]))
  })
})

describe('what is written anew for it', () => {
  it('is a manifest of the table’s own age, when its writer knew only v1', () => {
    const lake = new SampleLake(1)
    lake.land(lake.append(lake.metadata, [[lake.newFile()]]))
    const request = lake.append(lake.metadata, [[lake.newFile()]])
    lake.land(lake.append(lake.metadata, [[lake.newFile()]]))
    lake.change({ action: 'upgrade-format-version', formatVersion: 2 })
    lake.land(request)
    const [newest] = lake.manifestsOf(lake.headOf())
    expect(newest).toMatchObject({ sequenceNumber: 1n, addedFilesCount: 1 })
    expect(lake.contentOf(lake.metadata, newest!)).toMatchObject({ formatVersion: 2 })
  })

  it('is a merged manifest with nothing but existing files', () => {
    const lake = new SampleLake(3)
    const merge = { manifestCountMin: 3, targetSizeBytes: 1_000_000 }
    const requests = [1, 2, 3, 4].map(() => lake.append(lake.metadata, [[lake.newFile()]]))
    for (const request of requests) lake.land(request, { merge })
    const [own, merged, ...others] = lake.manifestsOf(lake.headOf())
    expect(others).toEqual([])
    expect(own).toMatchObject({ addedFilesCount: 1, existingFilesCount: 0, firstRowId: 30n })
    expect(merged).toMatchObject({
      addedFilesCount: 0,
      existingFilesCount: 3,
      deletedFilesCount: 0,
      addedSnapshotId: 4n,
      sequenceNumber: 4n,
      minSequenceNumber: 1n,
      firstRowId: 0n,
    })
    const { entries } = lake.contentOf(lake.metadata, merged!)
    expect(entries.map(({ status, snapshotId }) => `${status} ${snapshotId}`)).toEqual([
      'existing 3',
      'existing 2',
      'existing 1',
    ])
    // Row ids are given to new rows alone.
    expect(lake.headOf()).toMatchObject({ firstRowId: 30n, addedRows: 10n })
    expect(lake.metadata.nextRowId).toBe(40n)
  })

  it('is no manifest where its own can be listed as it is', () => {
    const lake = new SampleLake(3)
    const requests = [1, 2].map(() => lake.append(lake.metadata, [[lake.newFile()]]))
    lake.land(requests[0]!)
    const rebased = lake.rebase(requests[1]!)
    if (typeof rebased === 'string') throw new Error(rebased)
    expect(rebased.newManifests).toEqual([])
    expect(rebased.files).toHaveLength(1)
  })
})

describe('what a writer sends with an append', () => {
  it('goes with it: statistics under the new number, and a summary with the totals that hold', () => {
    const lake = new SampleLake()
    const [first, second] = [1, 2].map(() =>
      lake.append(lake.metadata, [[lake.newFile()]], {
        summary: { 'engine-name': 'test', 'manifests-created': '9', 'manifests-kept': '9' },
      }),
    )
    const blob = { type: 'ndv', snapshotId: 2n, sequenceNumber: 1n, fields: [1] }
    const statistics = {
      snapshotId: 2n,
      statisticsPath: `${SAMPLE_LOCATION}/metadata/s.puffin`,
      fileSizeBytes: 1n,
      fileFooterSizeBytes: 1n,
      blobMetadata: [blob],
    }
    lake.land(first!)
    const updates = [...second!.updates, { action: 'set-statistics', statistics } as const]
    lake.land({ ...second!, updates })
    expect(lake.metadata.statistics).toMatchObject([{ blobMetadata: [{ sequenceNumber: 2n }] }])
    expect(lake.headOf()?.summary).toEqual({
      operation: 'append',
      'engine-name': 'test',
      'manifests-created': '1',
      'manifests-kept': '1',
      'added-data-files': '1',
      'added-records': '10',
      'added-files-size': '1000',
      'changed-partition-count': '1',
      'total-data-files': '2',
      'total-records': '20',
      'total-files-size': '2000',
      'total-delete-files': '0',
      'total-position-deletes': '0',
      'total-equality-deletes': '0',
    })
  })

  it('never changes how long the branch keeps its snapshots', () => {
    const lake = new SampleLake()
    const requests = [1, 2].map(() => lake.append(lake.metadata, [[lake.newFile()]]))
    lake.land(requests[0]!)
    const ref = { type: 'branch', snapshotId: 1n, minSnapshotsToKeep: 5 } as const
    lake.change({ action: 'set-snapshot-ref', refName: 'main', ref })
    lake.land(requests[1]!)
    expect(lake.metadata.refs['main']).toMatchObject({ snapshotId: 2n, minSnapshotsToKeep: 5 })
  })

  it('never takes it back in time', () => {
    const lake = new SampleLake()
    const timestampMs = NOW_MS + 86_400_000
    const requests = [
      lake.append(lake.metadata, [[lake.newFile()]], { timestampMs }),
      lake.append(lake.metadata, [[lake.newFile()]], { timestampMs: NOW_MS - 300_000 }),
    ]
    for (const request of requests) lake.land(request)
    expect(lake.headOf()?.timestampMs).toBe(timestampMs)
  })
})

interface Client {
  loaded: TableMetadata
}

type Step =
  | { readonly kind: 'load'; readonly client: number }
  | {
      readonly kind: 'append'
      readonly client: number
      readonly counts: readonly number[]
      readonly isMerging: boolean
      readonly branch: string
      readonly cleansUp: boolean
    }
  | { readonly kind: 'upgrade' }

const CLIENTS = 4

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('load' as const), client: fc.nat(CLIENTS - 1) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      client: fc.nat(CLIENTS - 1),
      counts: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
      isMerging: fc.boolean(),
      branch: fc.constantFrom('main', 'main', 'audit'),
      cleansUp: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'upgrade' as const }) },
)

describe('any interleaving of appends', () => {
  it('I34 keeps each file exactly once, under growing numbers and with row ids of its own', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<FormatVersion>(1, 2, 3),
        fc.option(fc.integer({ min: 2, max: 5 }), { nil: undefined }),
        fc.array(step, { minLength: 4, maxLength: 25 }),
        (version, manifestCountMin, steps) => {
          const run = new Run(version, manifestCountMin)
          run.play(steps)
          run.checkHistory()
        },
      ),
      { numRuns: 40 },
    )
  })
})

class Run {
  readonly #lake: SampleLake
  readonly #clients: Client[]
  readonly #merge: { manifestCountMin: number; targetSizeBytes: number } | undefined
  readonly #expected = new Map<string, DataFile[]>([
    ['main', []],
    ['audit', []],
  ])
  readonly #rowIds = new Map<string, bigint>()
  #lastSequenceNumber = 0n

  constructor(version: FormatVersion, manifestCountMin: number | undefined) {
    this.#lake = new SampleLake(version)
    this.#lake.land(this.#lake.append(this.#lake.metadata, [[this.#expect('main')]]))
    // The audit branch begins where main is.
    this.#lake.change({
      action: 'set-snapshot-ref',
      refName: 'audit',
      ref: { snapshotId: 1n, type: 'branch' },
    })
    this.#expected.get('audit')?.push(...(this.#expected.get('main') ?? []))
    this.#clients = Array.from({ length: CLIENTS }, () => ({ loaded: this.#lake.metadata }))
    this.#merge =
      manifestCountMin === undefined
        ? undefined
        : { manifestCountMin, targetSizeBytes: 8 * 1024 * 1024 }
    this.#check()
  }

  play(steps: readonly Step[]): void {
    for (const one of steps) {
      this.#play(one)
      this.#check()
    }
  }

  #play(one: Step): void {
    if (one.kind === 'upgrade') {
      const formatVersion = Math.min(3, this.#lake.metadata.formatVersion + 1)
      this.#lake.change({ action: 'upgrade-format-version', formatVersion })
      return
    }
    const client = this.#clients[one.client]
    if (client === undefined) return
    if (one.kind === 'load') {
      client.loaded = this.#lake.metadata
      return
    }
    const { branch, counts, isMerging, cleansUp } = one
    const files = counts.map((count) => Array.from({ length: count }, () => this.#expect(branch)))
    const request = this.#lake.append(client.loaded, files, { branch, isMerging })
    this.#land(request)
    if (cleansUp) this.#lake.cleanUpAfter(request)
  }

  #expect(branch: string): DataFile {
    const file = this.#lake.newFile()
    this.#expected.get(branch)?.push(file)
    return file
  }

  #land(request: CommitRequest): void {
    const landed = this.#lake.land(request, this.#merge === undefined ? {} : { merge: this.#merge })
    if (this.#lake.metadata.formatVersion === 1) return
    for (const update of landed.updates) {
      if (update.action !== 'add-snapshot') continue
      expect(update.snapshot.sequenceNumber).toBeGreaterThan(this.#lastSequenceNumber)
      this.#lastSequenceNumber = update.snapshot.sequenceNumber
    }
  }

  #check(): void {
    const { metadata } = this.#lake
    for (const [branch, files] of this.#expected) {
      expect(names(this.#lake, branch)).toEqual(paths(files))
      const head = this.#lake.headOf(branch)
      expect(head?.summary?.['total-data-files']).toBe(String(files.length))
      this.#checkNumbers(branch)
    }
    const times = metadata.snapshotLog.map(({ timestampMs }) => timestampMs)
    expect(times).toEqual([...times].sort((a, b) => a - b))
  }

  /** Every manifest that a list of any snapshot names is still there. */
  checkHistory(): void {
    for (const snapshot of this.#lake.metadata.snapshots) this.#lake.liveEntries(snapshot)
  }

  #checkNumbers(branch: string): void {
    const { metadata } = this.#lake
    const numbers = new Map(metadata.snapshots.map((one) => [one.snapshotId, one.sequenceNumber]))
    const head = this.#lake.headOf(branch)
    const ranges: [bigint, bigint][] = []
    for (const {
      snapshotId,
      sequenceNumber,
      fileSequenceNumber,
      dataFile,
    } of this.#lake.liveEntries(head)) {
      expect(sequenceNumber).toBe(numbers.get(snapshotId))
      expect(fileSequenceNumber).toBe(sequenceNumber)
      if (head?.firstRowId === undefined) continue
      const { firstRowId, filePath, recordCount } = dataFile
      expect(firstRowId, filePath).toBeDefined()
      if (firstRowId === undefined) continue
      ranges.push([firstRowId, firstRowId + recordCount])
      expect(firstRowId + recordCount).toBeLessThanOrEqual(metadata.nextRowId ?? 0n)
      const key = `${branch} ${filePath}`
      expect(firstRowId, filePath).toBe(this.#rowIds.get(key) ?? firstRowId)
      this.#rowIds.set(key, firstRowId)
    }
    ranges.sort(([a], [b]) => Number(a - b))
    ranges.forEach(([start], at) => {
      if (at > 0) expect(start).toBeGreaterThanOrEqual(ranges[at - 1]?.[1] ?? 0n)
    })
  }
}

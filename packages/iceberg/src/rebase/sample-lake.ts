import { applyCommit } from '../commit/apply-commit.ts'
import { NOW_MS, SAMPLE_LOCATION, SAMPLE_UUID, sampleTable } from '../commit/sample-table.ts'
import { snapshotRef } from '../commit/snapshot-ref.ts'
import type { CommitRequest, TableUpdate } from '../commit/table-update.ts'
import type { DataFile, ManifestEntry, ResolvedEntry } from '../manifest/data-file.ts'
import { describeManifest } from '../manifest/describe-manifest.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionType } from '../manifest/partition-type.ts'
import { readManifestList } from '../manifest/read-manifest-list.ts'
import { readManifest } from '../manifest/read-manifest.ts'
import { resolveEntries } from '../manifest/resolve-entries.ts'
import { writeManifest } from '../manifest/write-manifest.ts'
import { appendFiles } from '../snapshot/append-files.ts'
import {
  currentSchema,
  finishSnapshot,
  type NewFile,
  type NewSnapshotFiles,
  nextSequenceNumber,
  schemasNewestFirst,
  type SnapshotIdentity,
} from '../snapshot/new-snapshot.ts'
import { summarizeChanges } from '../snapshot/snapshot-summary.ts'
import { CommitFailedError, InvalidInputError } from '../spec/errors.ts'
import { invariant } from '../spec/invariant.ts'
import { MAIN_BRANCH, type Snapshot } from '../spec/snapshot.ts'
import type { FormatVersion, TableMetadata } from '../spec/table-metadata.ts'
import { findRebaseBase } from './find-rebase-base.ts'
import {
  mayHoldLiveFiles,
  mergeManifests,
  planManifestMerge,
  replaceManifests,
} from './merge-manifests.ts'
import { isOwnManifest, type ManifestContent, type WrittenSnapshot } from './own-manifests.ts'
import { rebaseShapeOf } from './rebase-shape.ts'
import { rebaseSnapshots } from './rebase-snapshots.ts'
import type { MergePolicy } from './rebase-properties.ts'

/** A table in memory, with its files, and clients that write to it: for the tests of this folder. */
export class SampleLake {
  readonly files = new Map<string, Uint8Array>()
  metadata: TableMetadata
  readonly #lists = new Map<string, readonly ManifestFile[]>()
  readonly #contents = new Map<string, ManifestContent>()
  #count = 0
  #idCount = 0n

  constructor(formatVersion: FormatVersion = 2) {
    this.metadata = sampleTable(formatVersion)
  }

  /** A data file of ten rows that no table has. */
  newFile(extra: Partial<DataFile> = {}): DataFile {
    this.#count += 1
    return {
      content: 'data',
      filePath: `${SAMPLE_LOCATION}/data/f${this.#count}.parquet`,
      fileFormat: 'PARQUET',
      partition: [this.#count % 3],
      recordCount: 10n,
      fileSizeBytes: 1000n,
      ...extra,
    }
  }

  newSnapshotId(): bigint {
    this.#idCount += 1n
    return this.#idCount
  }

  newLocation(name: string): string {
    this.#count += 1
    return `${SAMPLE_LOCATION}/metadata/${name}-${this.#count}.avro`
  }

  put(...files: readonly NewFile[]): void {
    for (const { location, bytes } of files) {
      invariant(!this.files.has(location), `${location} was written before`)
      this.files.set(location, bytes)
    }
  }

  manifestsOf(snapshot: Snapshot | undefined): readonly ManifestFile[] {
    if (snapshot === undefined) return []
    const bytes = this.#bytes(snapshot.manifestList ?? '')
    return remember(this.#lists, snapshot.manifestList ?? '', () => readManifestList(bytes))
  }

  contentOf(metadata: TableMetadata, manifest: ManifestFile): ManifestContent {
    const { manifestPath, partitionSpecId } = manifest
    const bytes = this.#bytes(manifestPath)
    return remember(this.#contents, manifestPath, () => {
      const spec = metadata.partitionSpecs.find(({ specId }) => specId === partitionSpecId)
      invariant(spec !== undefined, `no spec ${partitionSpecId}`)
      const partition = partitionType(spec, schemasNewestFirst(metadata))
      const { header, entries } = readManifest(bytes, { manifest, partition })
      return { formatVersion: header.formatVersion, entries }
    })
  }

  /** Makes the list of a snapshot another one than its writer meant. */
  replaceList(snapshot: Snapshot, manifests: readonly ManifestFile[]): void {
    this.#lists.set(snapshot.manifestList ?? '', manifests)
  }

  /** All live files of a snapshot. */
  liveEntries(snapshot: Snapshot | undefined): readonly ResolvedEntry[] {
    return this.manifestsOf(snapshot).flatMap((manifest) =>
      resolveEntries(manifest, this.contentOf(this.metadata, manifest).entries).filter(
        ({ status }) => status !== 'deleted',
      ),
    )
  }

  headOf(branch: string = MAIN_BRANCH, metadata: TableMetadata = this.metadata) {
    const ref = snapshotRef(metadata, branch)
    return metadata.snapshots.find(({ snapshotId }) => snapshotId === ref?.snapshotId)
  }

  /** Applies the updates as an administrator, without a requirement. */
  change(...updates: readonly TableUpdate[]): void {
    this.metadata = applyCommit(
      this.metadata,
      { requirements: [], updates },
      { nowMs: this.metadata.lastUpdatedMs + 1 },
    )
  }

  /** What a client that loaded `metadata` sends for appends to a branch; each list of files becomes a snapshot. */
  append(
    metadata: TableMetadata,
    appends: readonly (readonly DataFile[])[],
    options: AppendOptions = {},
  ): CommitRequest {
    const branch = options.branch ?? MAIN_BRANCH
    const expected = snapshotRef(metadata, branch)
    let base = metadata
    let parent = this.headOf(branch, metadata)
    const updates: TableUpdate[] = []
    for (const files of appends) {
      const written = this.#write({ base, parent, files, options })
      updates.push(
        { action: 'add-snapshot', snapshot: written.snapshot },
        {
          action: 'set-snapshot-ref',
          refName: branch,
          ref: { type: 'branch', snapshotId: written.snapshot.snapshotId },
        },
      )
      base = applyCommit(base, { requirements: [], updates: updates.slice(-2) }, { nowMs: NOW_MS })
      parent = written.snapshot
    }
    const requirement = { type: 'assert-ref-snapshot-id', ref: branch } as const
    return {
      requirements: [
        { type: 'assert-table-uuid', uuid: SAMPLE_UUID },
        expected === undefined ? requirement : { ...requirement, snapshotId: expected.snapshotId },
      ],
      updates,
    }
  }

  #write(append: {
    readonly base: TableMetadata
    readonly parent: Snapshot | undefined
    readonly files: readonly DataFile[]
    readonly options: AppendOptions
  }): NewSnapshotFiles {
    const { base, parent, files, options } = append
    const { timestampMs = NOW_MS } = options
    this.#count += 1
    const identity: SnapshotIdentity = {
      snapshotId: this.newSnapshotId(),
      timestampMs,
      commitUuid: `c${this.#count}`,
      fileLocation: (name) => `${SAMPLE_LOCATION}/metadata/${name}`,
      ...(options.summary === undefined ? {} : { summary: options.summary }),
    }
    const parentManifests = this.manifestsOf(parent)
    const plain = { metadata: base, parentManifests, files, identity }
    const written =
      options.isMerging === true && parent !== undefined
        ? this.#appendMerged({ ...plain, parent })
        : appendFiles({ ...plain, ...(parent === undefined ? {} : { parent }) })
    this.put(...written.manifests, written.manifestList)
    return written
  }

  /** As Java and PyIceberg do: one manifest with the parent's files as existing and the new ones as added entries. */
  #appendMerged(append: {
    readonly metadata: TableMetadata
    readonly parent: Snapshot
    readonly parentManifests: readonly ManifestFile[]
    readonly files: readonly DataFile[]
    readonly identity: SnapshotIdentity
  }): NewSnapshotFiles {
    const { metadata, parent, parentManifests, files, identity } = append
    const spec = metadata.partitionSpecs[0]
    invariant(spec !== undefined, 'a sample table has a spec')
    const { formatVersion } = metadata
    const partition = partitionType(spec, schemasNewestFirst(metadata))
    const { snapshotId } = identity
    const existing = this.liveEntries(parent).map((entry): ManifestEntry => ({
      ...entry,
      status: 'existing',
    }))
    const added = files.map((dataFile): ManifestEntry => ({
      status: 'added',
      snapshotId,
      dataFile,
    }))
    const written = {
      spec,
      partition,
      content: 'data',
      entries: [...added, ...existing],
    } as const
    const bytes = writeManifest({ ...written, formatVersion, schema: currentSchema(metadata) })
    const location = this.newLocation('merged')
    const manifest = describeManifest({
      ...written,
      manifestPath: location,
      lengthBytes: bytes.length,
      snapshotId,
      sequenceNumber: nextSequenceNumber(metadata),
    })
    const summary = summarizeChanges({ added: files, removed: [] }, parent, parentManifests)
    return finishSnapshot({
      metadata,
      parent,
      identity,
      newManifests: [{ location, bytes, manifest }],
      keptManifests: [],
      summary: { operation: 'append', ...summary },
    })
  }

  /** What a client has stored for the snapshots of a request. */
  writtenOf(request: CommitRequest): WrittenSnapshot[] {
    return request.updates.flatMap((update): WrittenSnapshot[] => {
      if (update.action !== 'add-snapshot') return []
      const { snapshot } = update
      const manifests = this.manifestsOf(snapshot)
      const own = manifests.filter((manifest) => isOwnManifest(snapshot, manifest))
      const contents = own.map(
        (manifest) => [manifest.manifestPath, this.contentOf(this.metadata, manifest)] as const,
      )
      return [{ snapshot, manifests, contents: new Map(contents) }]
    })
  }

  /** The request attached to the table as it is; a text is the reason why not. Changes and stores nothing. */
  rebase(request: CommitRequest, options: RebaseOptions = {}) {
    const { metadata } = this
    const shape = rebaseShapeOf(request)
    if (shape.outcome === 'refused') return shape.reason
    const base = findRebaseBase(metadata, { request, shape })
    if (base.outcome === 'refused') return base.reason
    const head = this.manifestsOf(base.head).filter(mayHoldLiveFiles)
    const merged = this.#merge(head, shape.snapshots[0]?.snapshotId ?? 0n, options.merge)
    const rebased = rebaseSnapshots({
      metadata,
      request,
      shape,
      base,
      written: this.writtenOf(request),
      parentManifests: this.manifestsOf(base.parent),
      headManifests: merged.manifests,
      prefixes: [SAMPLE_LOCATION],
      nowMs: options.nowMs ?? NOW_MS,
      newLocation: ({ file }) => this.newLocation(file),
    })
    if (rebased.outcome === 'refused') return rebased.reason
    return { ...rebased, files: [...merged.files, ...rebased.newManifests, ...rebased.files] }
  }

  #merge(manifests: readonly ManifestFile[], snapshotId: bigint, policy: MergePolicy | undefined) {
    const inputs = policy === undefined ? [] : planManifestMerge(this.metadata, manifests, policy)
    if (inputs.length === 0) return { manifests, files: [] }
    const merged = mergeManifests({
      metadata: this.metadata,
      inputs: inputs.map((manifest) => ({
        manifest,
        content: this.contentOf(this.metadata, manifest),
      })),
      snapshotId,
      sequenceNumber: nextSequenceNumber(this.metadata),
      location: this.newLocation('server-merged'),
    })
    return { manifests: replaceManifests(manifests, inputs, merged.manifest), files: [merged] }
  }

  /**
   * Lands the request as it is, where the table is what it asks for, and attached to what the table is otherwise; answers
   * what landed. Throws when it cannot be attached.
   */
  land(request: CommitRequest, options: RebaseOptions = {}): CommitRequest {
    const nowMs = Math.max(options.nowMs ?? NOW_MS, this.metadata.lastUpdatedMs)
    if (!needsRebase(this.metadata, request)) {
      this.metadata = applyCommit(this.metadata, request, { nowMs })
      return request
    }
    const rebased = this.rebase(request, options)
    invariant(typeof rebased !== 'string', `expected a rebase, got: ${String(rebased)}`)
    this.put(...rebased.files)
    this.metadata = applyCommit(this.metadata, rebased.request, { nowMs })
    return rebased.request
  }

  /**
   * What Java does once its commit landed: it deletes the manifests and lists that it wrote for this request and that its
   * snapshots, as they are in the table, do not name.
   */
  cleanUpAfter(request: CommitRequest): void {
    for (const { snapshot, contents } of this.writtenOf(request)) {
      const landed = this.metadata.snapshots.find(
        ({ snapshotId }) => snapshotId === snapshot.snapshotId,
      )
      const named = new Set(this.manifestsOf(landed).map(({ manifestPath }) => manifestPath))
      for (const path of contents.keys()) if (!named.has(path)) this.files.delete(path)
      const list = snapshot.manifestList ?? ''
      if (list !== landed?.manifestList) this.files.delete(list)
    }
  }

  #bytes(location: string): Uint8Array {
    const bytes = this.files.get(location)
    invariant(bytes !== undefined, `${location} is missing`)
    return bytes
  }
}

export interface AppendOptions {
  readonly branch?: string
  /** Whether the writer merges the manifests of the parent into its own. */
  readonly isMerging?: boolean
  readonly timestampMs?: number
  readonly summary?: Readonly<Record<string, string>>
}

export interface RebaseOptions {
  readonly nowMs?: number
  /** Default: manifests are not merged. */
  readonly merge?: MergePolicy
}

/** Files never change, so each is decoded once. */
function remember<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = make()
  known.set(key, made)
  return made
}

/** Also where a table has got row ids that the writer knew nothing of. */
function needsRebase(metadata: TableMetadata, request: CommitRequest): boolean {
  try {
    applyCommit(metadata, request, { nowMs: metadata.lastUpdatedMs })
    return false
  } catch (error) {
    return error instanceof CommitFailedError || error instanceof InvalidInputError
  }
}

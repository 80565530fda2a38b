import type { CommitRequest, TableUpdate } from '@timelake/iceberg/commit/table-update'
import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { readManifestList } from '@timelake/iceberg/manifest/read-manifest-list'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { encodeCommitRequest } from '@timelake/iceberg/rest/commit-json'
import { appendFiles } from '@timelake/iceberg/snapshot/append-files'
import type { NewSnapshotFiles } from '@timelake/iceberg/snapshot/new-snapshot'
import { MAIN_BRANCH, type Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { TestAnswer, TestCatalog } from './open-test-catalog.ts'
import { loadMetadata } from './test-appends.ts'
import type { TestTable } from './test-tables.ts'

let written = 0

export interface TestAppend {
  readonly snapshotId: bigint
  /** Names of the data files, ten rows each; they need not be there. */
  readonly names: readonly string[]
  readonly branch?: string
  readonly timestampMs?: number
  readonly summary?: Readonly<Record<string, string>>
}

/** The snapshot that a branch of this metadata points at. */
export function headOf(metadata: TableMetadata, branch: string = MAIN_BRANCH) {
  const snapshotId = metadata.refs[branch]?.snapshotId
  return metadata.snapshots.find((one) => one.snapshotId === snapshotId)
}

/** The manifests of a snapshot, read from the store. */
export async function manifestsOf(
  { store }: TestCatalog,
  snapshot: Snapshot | undefined,
): Promise<ManifestFile[]> {
  const list = snapshot?.manifestList
  return list === undefined ? [] : readManifestList(await store.get(list))
}

/** Stores what a client that loaded `metadata` writes for an append, and answers what it sends. */
export async function writeAppend(
  catalog: TestCatalog,
  metadata: TableMetadata,
  append: TestAppend,
): Promise<CommitRequest> {
  const { branch = MAIN_BRANCH, snapshotId } = append
  const parent = headOf(metadata, branch)
  written += 1
  const files = appendFiles({
    metadata,
    ...(parent === undefined ? {} : { parent }),
    parentManifests: await manifestsOf(catalog, parent),
    files: append.names.map((name) => dataFile(metadata, name)),
    identity: {
      snapshotId,
      timestampMs: append.timestampMs ?? catalog.clock.nowMs(),
      commitUuid: `00000000-0000-4000-8000-${String(written).padStart(12, '0')}`,
      fileLocation: (name) => `${metadata.location}/metadata/${name}`,
    },
  })
  await store(catalog, files)
  const summary = { ...files.snapshot.summary, ...append.summary }
  return requestOf(metadata, { ...files.snapshot, summary }, branch)
}

async function store(catalog: TestCatalog, files: NewSnapshotFiles): Promise<void> {
  for (const { location, bytes } of [...files.manifests, files.manifestList]) {
    await catalog.store.putIfAbsent(location, bytes)
  }
}

/** The request that a client sends for one snapshot on top of what it loaded. */
export function requestOf(
  metadata: TableMetadata,
  snapshot: Snapshot,
  branch: string = MAIN_BRANCH,
): CommitRequest {
  const { snapshotId } = snapshot
  const head = headOf(metadata, branch)?.snapshotId
  const updates: TableUpdate[] = [
    { action: 'add-snapshot', snapshot },
    { action: 'set-snapshot-ref', refName: branch, ref: { type: 'branch', snapshotId } },
  ]
  const requirement = { type: 'assert-ref-snapshot-id', ref: branch } as const
  return {
    requirements: [
      { type: 'assert-table-uuid', uuid: metadata.tableUuid },
      head === undefined ? requirement : { ...requirement, snapshotId: head },
    ],
    updates,
  }
}

function dataFile({ location }: TableMetadata, name: string): DataFile {
  return {
    content: 'data',
    filePath: `${location}/data/${name}.parquet`,
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: 10n,
    fileSizeBytes: 1_000n,
  }
}

/** Sends a request to the table's own route. */
export function sendCommit(
  catalog: TestCatalog,
  { path }: Pick<TestTable, 'path'>,
  request: CommitRequest,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestAnswer> {
  return catalog.call('POST', path, { body: encodeCommitRequest(request), headers })
}

/** Loads the table and appends to what it loaded. */
export async function appendToPresent(
  catalog: TestCatalog,
  table: TestTable,
  append: TestAppend,
): Promise<TestAnswer> {
  const request = await writeAppend(catalog, await loadMetadata(catalog, table), append)
  return sendCommit(catalog, table, request)
}

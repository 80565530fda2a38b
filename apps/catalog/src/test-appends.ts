import { readLiveFiles, readSnapshotManifests } from '@timelake/iceberg/io/snapshot-files'
import type { ResolvedEntry } from '@timelake/iceberg/manifest/data-file'
import { decodeLoadTableResult } from '@timelake/iceberg/rest/load-table-json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { MAIN_BRANCH } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { expect } from 'vitest'
import type { TestAnswer, TestCall, TestCatalog } from './open-test-catalog.ts'
import type { TestTable } from './test-tables.ts'

type Table = Pick<TestTable, 'path' | 'location'>

/** The path of the append route of a table. */
export function appendsPath({ path }: Pick<TestTable, 'path'>): string {
  return `/lake${path}/appends`
}

/** The description of a data file that need not be there: nothing opens it. */
export function dataFileBody(
  { location }: Pick<TestTable, 'location'>,
  name: string,
  more: JsonObject = {},
): JsonObject {
  return {
    content: 'data',
    'file-path': `${location}/data/${name}.parquet`,
    'file-format': 'parquet',
    'spec-id': 0n,
    partition: [],
    'file-size-in-bytes': 100n,
    'record-count': 10n,
    ...more,
  }
}

/** Sends an append. */
export function sendAppend(
  catalog: TestCatalog,
  table: Table,
  body: JsonObject,
  headers: NonNullable<TestCall['headers']> = {},
): Promise<TestAnswer> {
  return catalog.call('POST', appendsPath(table), { body, headers })
}

/** Appends files by their names, in a batch of this id; the answer is not looked at. */
export function appendFilesNamed(
  catalog: TestCatalog,
  table: Table,
  batch: { readonly id: string; readonly names: readonly string[]; readonly more?: JsonObject },
): Promise<TestAnswer> {
  return sendAppend(catalog, table, {
    'batch-id': batch.id,
    'data-files': batch.names.map((name) => dataFileBody(table, name)),
    ...batch.more,
  })
}

/** The metadata of a table as a client loads it. */
export async function loadMetadata(catalog: TestCatalog, { path }: Table): Promise<TableMetadata> {
  const answer = await catalog.call('GET', path)
  expect(answer.status, answer.text).toBe(200)
  return decodeLoadTableResult(answer.text).metadata
}

/** The locations of the manifests of main. */
export async function listedManifests(catalog: TestCatalog, table: Table): Promise<string[]> {
  const metadata = await loadMetadata(catalog, table)
  const { currentSnapshotId } = metadata
  const snapshot = metadata.snapshots.find(({ snapshotId }) => snapshotId === currentSnapshotId)
  if (snapshot === undefined) return []
  const list = await readSnapshotManifests(
    (location, options) => catalog.store.get(location, options),
    { metadata, snapshot },
    { allowedPrefixes: [metadata.location] },
  )
  if (list.outcome !== 'read') throw new Error(`cannot read the manifest list: ${list.outcome}`)
  return list.manifests.map(({ manifestPath }) => manifestPath)
}

/** The live data files of a branch, read from its manifests. */
export async function liveEntries(
  catalog: TestCatalog,
  table: Table,
  branch: string = MAIN_BRANCH,
): Promise<readonly ResolvedEntry[]> {
  const metadata = await loadMetadata(catalog, table)
  const snapshotId = metadata.refs[branch]?.snapshotId
  const snapshot = metadata.snapshots.find((one) => one.snapshotId === snapshotId)
  if (snapshot === undefined) return []
  const live = await readLiveFiles(
    (location, options) => catalog.store.get(location, options),
    { metadata, snapshot },
    { allowedPrefixes: [metadata.location] },
  )
  if (live.outcome !== 'read') throw new Error(`cannot read the snapshot: ${live.outcome}`)
  return live.dataFiles.map(({ entry }) => entry)
}

/** The names of the live data files of a branch, sorted. */
export async function liveNames(
  catalog: TestCatalog,
  table: Table,
  branch: string = MAIN_BRANCH,
): Promise<string[]> {
  const entries = await liveEntries(catalog, table, branch)
  return entries
    .map(({ dataFile }) => dataFile.filePath.replace(/^.*\/(.*)\.parquet$/, '$1'))
    .sort()
}

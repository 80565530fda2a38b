import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { encodeCommitRequest } from '@timelake/iceberg/rest/commit-json'
import { appendFiles } from '@timelake/iceberg/snapshot/append-files'
import { printJson } from '@timelake/iceberg/spec/json'
import { encodeSingleValue } from '@timelake/iceberg/spec/single-value'
import { decodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import { expect } from 'vitest'
import type { TestCatalog } from './open-test-catalog.ts'
import { member } from './test-json.ts'
import type { TestTable } from './test-tables.ts'

const DAY_MICROS = 86_400_000_000n

/**
 * Appends one data file of ten rows to the partition of a day since the epoch, with manifests that can be read; answers the
 * location of the manifest list. The data file itself is missing.
 */
export async function realAppend(
  catalog: TestCatalog,
  table: TestTable,
  append: { readonly snapshotId: bigint; readonly day: number },
): Promise<string> {
  const { snapshotId, day } = append
  return appendTestFiles(catalog, table, { snapshotId, files: [dataFile(table, day)] })
}

/** The files of a snapshot, which replace all others. */
export interface TestAppend {
  readonly snapshotId: bigint
  readonly files: readonly DataFile[]
  /** Where the manifests go; the list that names them stays with the table. */
  readonly manifestFolder?: string
}

/**
 * Commits a snapshot of exactly these files, with manifests that can be read; answers the location of the manifest list. The
 * files themselves are missing.
 */
export async function appendTestFiles(
  catalog: TestCatalog,
  table: TestTable,
  { snapshotId, files, manifestFolder }: TestAppend,
): Promise<string> {
  const ownFolder = `${table.location}/metadata`
  const folderOf = (name: string) =>
    name.startsWith('snap-') ? ownFolder : (manifestFolder ?? ownFolder)
  const answer = await catalog.call('GET', `${table.path}?snapshots=refs`)
  const text = printJson(member(answer.json, 'metadata'))
  const metadata = decodeTableMetadata(new TextEncoder().encode(text))
  const parent = metadata.snapshots.find((each) => each.snapshotId === metadata.currentSnapshotId)
  const written = appendFiles({
    metadata,
    ...(parent && { parent }),
    parentManifests: [],
    files,
    identity: {
      snapshotId,
      timestampMs: catalog.clock.nowMs(),
      commitUuid: `00000000-0000-4000-8000-${String(snapshotId).slice(-12).padStart(12, '0')}`,
      fileLocation: (name) => `${folderOf(name)}/${name}`,
    },
  })
  for (const { location, bytes } of [...written.manifests, written.manifestList]) {
    await catalog.store.putIfAbsent(location, bytes)
  }
  const body = encodeCommitRequest({
    requirements: [],
    updates: [
      { action: 'add-snapshot', snapshot: written.snapshot },
      { action: 'set-snapshot-ref', refName: 'main', ref: { type: 'branch', snapshotId } },
    ],
  })
  const landed = await catalog.call('POST', table.path, { body })
  expect(landed.status, landed.text).toBe(200)
  return written.manifestList.location
}

function dataFile(table: TestTable, day: number): DataFile {
  const bound = (micros: bigint) =>
    new Map([[1, encodeSingleValue({ kind: 'timestamptz' }, BigInt(day) * DAY_MICROS + micros)]])
  return {
    content: 'data',
    filePath: `${table.location}/data/${day}.parquet`,
    fileFormat: 'PARQUET',
    partition: [day],
    recordCount: 10n,
    fileSizeBytes: 1_000n,
    lowerBounds: bound(1n),
    upperBounds: bound(9n),
  }
}

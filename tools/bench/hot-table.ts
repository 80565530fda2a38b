import { randomBytes, randomUUID } from 'node:crypto'
import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { describeManifest } from '@timelake/iceberg/manifest/describe-manifest'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { partitionType } from '@timelake/iceberg/manifest/partition-type'
import { readManifest } from '@timelake/iceberg/manifest/read-manifest'
import { readManifestList } from '@timelake/iceberg/manifest/read-manifest-list'
import { writeManifest } from '@timelake/iceberg/manifest/write-manifest'
import { writeManifestList } from '@timelake/iceberg/manifest/write-manifest-list'
import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { decodeSchema } from '@timelake/iceberg/spec/schema-json'
import type { CatalogClient } from './catalog-client.ts'
import type { ClientFiles } from './client-files.ts'

const ROWS_PER_FILE = 1_000n
const FILE_SIZE_BYTES = 48_213n
const LISTS_KEPT_MAX = 4_096

const SCHEMA_JSON = {
  type: 'struct',
  'schema-id': 0n,
  fields: [
    { id: 1n, name: 'ts', required: true, type: 'timestamptz' },
    { id: 2n, name: 'device', required: true, type: 'string' },
    { id: 3n, name: 'temperature', required: false, type: 'double' },
  ],
}
const SCHEMA = decodeSchema(SCHEMA_JSON, 'schema')
const SPEC = { specId: 0, fields: [] }
const PARTITION = partitionType(SPEC, [SCHEMA])

/** A table that many writers append to at once, as a client sees it. */
export interface HotTable {
  readonly namespace: string
  readonly name: string
  readonly tableUuid: string
  readonly location: string
}

/** Where the table stands: what a client takes from a loaded or committed table. */
export interface HotTableHead {
  readonly snapshotId: bigint | undefined
  readonly manifestList: string | undefined
  readonly sequenceNumber: bigint
  readonly lastUpdatedMs: number
}

/** Creates an unpartitioned table of format version 2. */
export async function createHotTable(
  client: CatalogClient,
  options: {
    readonly namespace: string
    readonly name: string
    readonly properties: Readonly<Record<string, string>>
  },
): Promise<{ readonly table: HotTable; readonly head: HotTableHead }> {
  const { namespace, name, properties } = options
  const body = printJson({ name, schema: SCHEMA_JSON, properties })
  const answer = await client.call('POST', `${client.namespacePath(namespace)}/tables`, { body })
  const text = answer.body.toString('utf8')
  const tableUuid = textMember(text, 'table-uuid')
  const location = textMember(text, 'location')
  return { table: { namespace, name, tableUuid, location }, head: readHead(text) }
}

/** The few members that a writer needs, found without parsing a long history. Throws an Error when one is missing. */
export function readHead(text: string): HotTableHead {
  const number = (name: string) => new RegExp(`"${name}"\\s*:\\s*(-?\\d+)`).exec(text)?.[1]
  const current = number('current-snapshot-id')
  const isEmpty = current === undefined || current === '-1'
  return {
    snapshotId: isEmpty ? undefined : BigInt(current),
    manifestList: isEmpty ? undefined : manifestListOf(text, current),
    sequenceNumber: BigInt(number('last-sequence-number') ?? missing('last-sequence-number')),
    lastUpdatedMs: Number(number('last-updated-ms') ?? missing('last-updated-ms')),
  }
}

// Searched from the end, where the newest snapshot is. Its members come in any order, `summary` is the only object among them.
function manifestListOf(text: string, snapshotId: string): string {
  const wanted = `"snapshot-id":${snapshotId}`
  for (let at = text.lastIndexOf(wanted); at > 0; at = text.lastIndexOf(wanted, at - 1)) {
    const after = AFTER_ID.exec(text.slice(at + wanted.length, at + SNAPSHOT_LENGTH_MAX))?.[1]
    if (after !== undefined) return after
    const before = BEFORE_ID.exec(text.slice(Math.max(0, at - SNAPSHOT_LENGTH_MAX), at))?.[1]
    if (before !== undefined) return before
  }
  return missing(`the manifest list of snapshot ${snapshotId}`)
}

const SNAPSHOT_LENGTH_MAX = 4_000
const AFTER_ID = /^,[^{}]*(?:\{[^{}]*\}[^{}]*)?"manifest-list":"([^"]+)"/
const BEFORE_ID = /"manifest-list":"([^"]+)"[^{}]*(?:\{[^{}]*\}[^{}]*)?$/

function textMember(text: string, name: string): string {
  return new RegExp(`"${name}"\\s*:\\s*"([^"]+)"`).exec(text)?.[1] ?? missing(name)
}

function missing(what: string): never {
  throw new Error(`the table's metadata lacks ${what}`)
}

/** A new data file of the table, of which nothing exists but the name: no catalog opens it. */
export function newDataFile(table: HotTable): DataFile {
  return {
    content: 'data',
    filePath: `${table.location}/data/${randomUUID()}.parquet`,
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: ROWS_PER_FILE,
    fileSizeBytes: FILE_SIZE_BYTES,
  }
}

/** Writes what an append needs before its commit, and knows what was written for the table so far. */
export interface AppendWriter {
  /** The commit that appends one new file to what the head holds; its manifest and manifest list are written. */
  prepare(head: HotTableHead): Promise<{ readonly body: string; readonly filePath: string }>
  /** How many manifests and manifest lists were written. */
  readonly writtenCount: number
}

/** Starts with nothing written. It keeps the manifest lists that it wrote or read, as a client with a cache does. */
export function openAppendWriter(table: HotTable, files: ClientFiles): AppendWriter {
  const lists = new Map<string, readonly ManifestFile[]>()
  let writtenCount = 0
  const write = async (location: string, bytes: Uint8Array) => {
    await files.write(location, bytes)
    writtenCount++
  }
  const keep = (location: string, manifests: readonly ManifestFile[]) => {
    if (lists.size >= LISTS_KEPT_MAX)
      for (const first of [...lists.keys()].slice(0, 1)) lists.delete(first)
    lists.set(location, manifests)
    return manifests
  }
  const manifestsOf = async (list: string) =>
    lists.get(list) ?? keep(list, readManifestList(await files.read(list), list))
  return {
    prepare: async (head) => {
      const snapshotId = newSnapshotId()
      const sequenceNumber = head.sequenceNumber + 1n
      const dataFile = newDataFile(table)
      const manifest = newManifest(table, { snapshotId, sequenceNumber, dataFile })
      await write(manifest.file.manifestPath, manifest.bytes)
      const carried = head.manifestList === undefined ? [] : await manifestsOf(head.manifestList)
      const manifests = [manifest.file, ...carried]
      const list = `${table.location}/metadata/snap-${snapshotId}-1-${randomUUID()}.avro`
      const bytes = writeManifestList({
        formatVersion: 2,
        snapshotId,
        ...(head.snapshotId === undefined ? {} : { parentSnapshotId: head.snapshotId }),
        sequenceNumber,
        manifests,
        compression: 'null',
      })
      await write(list, bytes)
      keep(list, manifests)
      const body = commitBody(table, head, { snapshotId, sequenceNumber, list })
      return { body, filePath: dataFile.filePath }
    },
    get writtenCount() {
      return writtenCount
    },
  }
}

function newSnapshotId(): bigint {
  return randomBytes(8).readBigUInt64BE() >> 1n
}

function newManifest(
  table: HotTable,
  plan: {
    readonly snapshotId: bigint
    readonly sequenceNumber: bigint
    readonly dataFile: DataFile
  },
): { readonly file: ManifestFile; readonly bytes: Uint8Array } {
  const { snapshotId, sequenceNumber, dataFile } = plan
  const entries = [{ status: 'added', snapshotId, dataFile } as const]
  const content = 'data'
  const bytes = writeManifest({ formatVersion: 2, schema: SCHEMA, spec: SPEC, content, entries })
  const file = describeManifest({
    manifestPath: `${table.location}/metadata/${randomUUID()}-m0.avro`,
    lengthBytes: bytes.length,
    spec: SPEC,
    partition: PARTITION,
    content,
    entries,
    snapshotId,
    sequenceNumber,
  })
  return { file, bytes }
}

function commitBody(
  table: HotTable,
  head: HotTableHead,
  made: { readonly snapshotId: bigint; readonly sequenceNumber: bigint; readonly list: string },
): string {
  const { snapshotId, sequenceNumber, list } = made
  const snapshot: JsonObject = {
    'snapshot-id': snapshotId,
    'parent-snapshot-id': head.snapshotId,
    'sequence-number': sequenceNumber,
    'timestamp-ms': BigInt(Math.max(Date.now(), head.lastUpdatedMs)),
    'manifest-list': list,
    summary: {
      operation: 'append',
      'added-data-files': '1',
      'added-records': String(ROWS_PER_FILE),
      'added-files-size': String(FILE_SIZE_BYTES),
      'changed-partition-count': '1',
      'engine-name': 'bench',
    },
    'schema-id': 0n,
  }
  return printJson({
    requirements: [
      { type: 'assert-table-uuid', uuid: table.tableUuid },
      { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': head.snapshotId ?? null },
    ],
    updates: [
      { action: 'add-snapshot', snapshot },
      { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': snapshotId },
    ],
  })
}

/** The append intent that hands one new file to the catalog. */
export function appendIntent(table: HotTable): {
  readonly body: string
  readonly filePath: string
} {
  const { filePath, recordCount, fileSizeBytes } = newDataFile(table)
  const file = {
    content: 'data',
    'file-path': filePath,
    'file-format': 'parquet',
    'spec-id': 0n,
    partition: [],
    'record-count': recordCount,
    'file-size-in-bytes': fileSizeBytes,
  }
  return { body: printJson({ 'batch-id': randomUUID(), 'data-files': [file] }), filePath }
}

/** What a reader finds in the table at the head. */
export interface LiveFiles {
  /** A path that is live twice comes twice. */
  readonly paths: readonly string[]
  readonly manifestCount: number
}

/** All live data files, read as a client reads them. */
export async function liveFiles(files: ClientFiles, head: HotTableHead): Promise<LiveFiles> {
  if (head.manifestList === undefined) return { paths: [], manifestCount: 0 }
  const manifests = readManifestList(await files.read(head.manifestList), head.manifestList)
  const paths: string[] = []
  for (const manifest of manifests) {
    const bytes = await files.read(manifest.manifestPath)
    for (const { status, dataFile } of readManifest(bytes, { manifest, metrics: 'none' }).entries) {
      if (status !== 'deleted') paths.push(dataFile.filePath)
    }
  }
  return { paths, manifestCount: manifests.length }
}

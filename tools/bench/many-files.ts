import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import type { ManifestEntry } from '@timelake/iceberg/manifest/data-file'
import { describeManifest } from '@timelake/iceberg/manifest/describe-manifest'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { partitionType } from '@timelake/iceberg/manifest/partition-type'
import { writeManifest } from '@timelake/iceberg/manifest/write-manifest'
import { writeManifestList } from '@timelake/iceberg/manifest/write-manifest-list'
import type { PartitionSpec } from '@timelake/iceberg/spec/partition-spec'
import type { Schema } from '@timelake/iceberg/spec/schema'
import { encodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { NestedField } from '@timelake/iceberg/spec/type'

import type { CatalogClient } from './catalog-client.ts'

const DAY_COUNT = 100
const HOURS = 24
const HOST_COUNT = 50
const FIRST_DAY = 20_454
const MICROS_PER_HOUR = 3_600_000_000n
const ROWS_PER_FILE = 36_000n
/** As many as a manifest of 8 MB holds of such files. */
const FILES_PER_MANIFEST = 25_000
const SNAPSHOT_ID = 3_051_729_675_574_597n
const MEASURES = 10
const NOTICE_MS = 100

const column = (id: number, name: string, kind: 'timestamptz' | 'string' | 'double') =>
  ({ id, name, required: false, type: { kind } }) satisfies NestedField

/** A time, two tags and ten measures, as of the TSBS `cpu` table. */
const SCHEMA: Schema = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: [
    column(1, 'ts', 'timestamptz'),
    column(2, 'hostname', 'string'),
    column(3, 'region', 'string'),
    ...Array.from({ length: MEASURES }, (_, index) =>
      column(4 + index, `usage_${index}`, 'double'),
    ),
  ],
}

const SPEC: PartitionSpec = {
  specId: 0,
  fields: [{ sourceIds: [1], fieldId: 1000, name: 'ts_day', transform: { kind: 'day' } }],
}

/** An hour of one series, about in the middle of the table. */
export const ONE_HOUR_ONE_SERIES = {
  hostname: 'host_1',
  from: timeText(FIRST_DAY + DAY_COUNT / 2, 5),
  to: timeText(FIRST_DAY + DAY_COUNT / 2, 6),
}

function timeText(day: number, hour: number): string {
  const time = new Date((day * HOURS + hour) * 3_600_000).toISOString()
  return time.replace('.000Z', '+00:00')
}

/**
 * Registers a table of so many data files that do not exist, with their metadata, manifests and metrics: a hundred days of
 * hourly files of fifty hosts, partitioned by day, in manifests of 25,000 files. Its files are written beside a table of the
 * server's own making, so below its warehouse. Answers the path of the table.
 */
export async function registerManyFiles(
  client: CatalogClient,
  options: { readonly namespace: string; readonly table: string; readonly fileCount: number },
): Promise<string> {
  const { namespace, table, fileCount } = options
  const location = `${await ownFolder(client, namespace, table)}/${table}-${randomUUID()}`
  const write = (file: string, content: Uint8Array | string): void => {
    const path = fileURLToPath(file.replace(/^file:\/*/, 'file:///'))
    mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true })
    writeFileSync(path, content)
  }
  const manifests: ManifestFile[] = []
  for (let first = 0; first < fileCount; first += FILES_PER_MANIFEST) {
    const count = Math.min(FILES_PER_MANIFEST, fileCount - first)
    const entries = Array.from({ length: count }, (_, index) =>
      entryOf(first + index, fileCount, location),
    )
    manifests.push(writeEntries(`${location}/metadata/m${first}.avro`, entries, write))
  }
  const manifestList = `${location}/metadata/snap-${SNAPSHOT_ID}.avro`
  const list = { formatVersion: 2, snapshotId: SNAPSHOT_ID, sequenceNumber: 1n, manifests } as const
  write(manifestList, writeManifestList(list))
  const file = `${location}/metadata/00001-${randomUUID()}.metadata.json`
  write(file, encodeTableMetadata(metadataOf(location, manifestList)))
  // Writing took long without a pause: connections that ended meanwhile are noticed only after one.
  await setTimeout(NOTICE_MS)
  await client.call('POST', `${client.namespacePath(namespace)}/register`, {
    body: JSON.stringify({ name: table, 'metadata-location': file }),
  })
  return client.tablePath(namespace, table)
}

async function ownFolder(client: CatalogClient, namespace: string, table: string) {
  const fields = [{ id: 1, name: 'id', required: false, type: 'long' }]
  const answer = await client.call('POST', `${client.namespacePath(namespace)}/tables`, {
    body: JSON.stringify({ name: `${table}_neighbour`, schema: { type: 'struct', fields } }),
  })
  const location = /"location"\s*:\s*"([^"]+)"/.exec(answer.body.toString('utf8'))?.[1]
  if (location === undefined) throw new Error('the created table has no location')
  return location.slice(0, location.lastIndexOf('/'))
}

function writeEntries(
  manifestPath: string,
  entries: readonly ManifestEntry[],
  write: (file: string, content: Uint8Array) => void,
): ManifestFile {
  const common = { content: 'data', spec: SPEC, entries } as const
  const bytes = writeManifest({ formatVersion: 2, schema: SCHEMA, ...common })
  write(manifestPath, bytes)
  return describeManifest({
    ...common,
    manifestPath,
    lengthBytes: bytes.length,
    partition: partitionType(SPEC, [SCHEMA]),
    snapshotId: SNAPSHOT_ID,
    sequenceNumber: 1n,
  })
}

function entryOf(index: number, fileCount: number, location: string): ManifestEntry {
  const filesPerDay = Math.max(1, Math.ceil(fileCount / DAY_COUNT))
  const day = FIRST_DAY + Math.floor(index / filesPerDay)
  const inDay = index % filesPerDay
  const hour = Math.floor((inDay * HOURS) / filesPerDay)
  const from = BigInt(day * HOURS + hour) * MICROS_PER_HOUR
  const host = new TextEncoder().encode(
    `host_${(inDay % Math.ceil(filesPerDay / HOURS)) % HOST_COUNT}`,
  )
  const lowerBounds = new Map([
    [1, longBytes(from)],
    [2, host],
    [3, REGIONS[0]],
  ])
  const upperBounds = new Map([
    [1, longBytes(from + MICROS_PER_HOUR - 1n - BigInt(scattered(index, 1_000_000)))],
    [2, host],
    [3, REGIONS[1]],
  ])
  const columnSizesBytes = new Map<number, bigint>()
  for (let id = 1; id <= 3 + MEASURES; id += 1) {
    columnSizesBytes.set(id, BigInt(20_000 + scattered(index * 31 + id, 100_000)))
    if (id <= 3) continue
    lowerBounds.set(id, doubleBytes(scattered(index * 17 + id, 1_000_003) / 100_000))
    upperBounds.set(id, doubleBytes(90 + scattered(index * 13 + id, 1_000_003) / 100_000))
  }
  const dataFile = {
    content: 'data',
    filePath: `${location}/data/ts_day=${timeText(day, 0).slice(0, 10)}/00000-${index}-${randomUUID()}.parquet`,
    fileFormat: 'PARQUET',
    partition: [day],
    recordCount: ROWS_PER_FILE,
    fileSizeBytes: BigInt(1_000_000 + scattered(index, 500_000)),
    columnSizesBytes,
    valueCounts: VALUE_COUNTS,
    nullValueCounts: NO_NULLS,
    nanValueCounts: NO_NANS,
    lowerBounds,
    upperBounds,
    splitOffsets: [4n],
    sortOrderId: 0,
  } as const
  return { status: 'added', dataFile }
}

const IDS = SCHEMA.fields.map(({ id }) => id)
const VALUE_COUNTS = new Map(IDS.map((id) => [id, ROWS_PER_FILE]))
const NO_NULLS = new Map(IDS.map((id) => [id, 0n]))
const NO_NANS = new Map(IDS.filter((id) => id > 3).map((id) => [id, 0n]))
const REGIONS = ['ap-northeast-1', 'us-west-2'].map((text) => new TextEncoder().encode(text)) as [
  Uint8Array,
  Uint8Array,
]

/** The same number every time, but no pattern that would compress well. */
function scattered(seed: number, below: number): number {
  return (Math.imul(seed + 1, 2_654_435_761) >>> 0) % below
}

function longBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, value, true)
  return bytes
}

function doubleBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value, true)
  return bytes
}

function metadataOf(location: string, manifestList: string): TableMetadata {
  const timestampMs = FIRST_DAY * 86_400_000
  const snapshot = {
    snapshotId: SNAPSHOT_ID,
    sequenceNumber: 1n,
    timestampMs,
    manifestList,
    summary: { operation: 'append' },
    schemaId: 0,
  }
  return {
    formatVersion: 2,
    tableUuid: randomUUID(),
    location,
    lastSequenceNumber: 1n,
    lastUpdatedMs: timestampMs,
    lastColumnId: SCHEMA.fields.length,
    currentSchemaId: 0,
    schemas: [SCHEMA],
    defaultSpecId: 0,
    partitionSpecs: [SPEC],
    lastPartitionId: 1000,
    defaultSortOrderId: 0,
    sortOrders: [{ orderId: 0, fields: [] }],
    properties: {},
    currentSnapshotId: SNAPSHOT_ID,
    snapshots: [snapshot],
    snapshotLog: [{ timestampMs, snapshotId: SNAPSHOT_ID }],
    metadataLog: [],
    refs: { main: { snapshotId: SNAPSHOT_ID, type: 'branch' } },
    statistics: [],
    partitionStatistics: [],
    encryptionKeys: [],
  }
}

import { randomUUID } from 'node:crypto'

import type { CatalogClient } from './catalog-client.ts'
import { openLocalClientFiles, type ClientFiles } from './client-files.ts'

const SNAPSHOT_INTERVAL_MS = 60_000
const FILE_SIZE_BYTES = 48_213
const ROWS_PER_SNAPSHOT = 1_000

const SCHEMA = {
  type: 'struct',
  'schema-id': 0,
  fields: [
    { id: 1, name: 'ts', required: true, type: 'timestamptz' },
    { id: 2, name: 'device', required: true, type: 'string' },
    { id: 3, name: 'temperature', required: false, type: 'double' },
    { id: 4, name: 'humidity', required: false, type: 'double' },
    { id: 5, name: 'battery', required: false, type: 'float' },
  ],
}

/** What a writer must know to commit next. Ids stay below 2⁵³ so that they survive JSON here. */
export interface TableHead {
  readonly path: string
  readonly tableUuid: string
  readonly location: string
  currentSnapshotId: number
  sequenceNumber: number
}

/**
 * A table with that many append snapshots, registered from one metadata file that is written beside a table of the
 * server's own making (so below its warehouse). The manifests that the snapshots name do not exist: no catalog opens
 * them on a load or a commit.
 */
export async function registerDeepTable(
  client: CatalogClient,
  options: {
    readonly namespace: string
    readonly table: string
    readonly snapshotCount: number
    /** Where the server's warehouse is; without it the local disk. */
    readonly files?: ClientFiles
  },
): Promise<TableHead> {
  const { namespace, table, snapshotCount, files = openLocalClientFiles() } = options
  const directory = `${await namespaceDirectory(client, namespace, table)}/${table}-${randomUUID()}`
  const metadata = deepMetadata(directory, snapshotCount)
  const file = `${directory}/metadata/00001-${randomUUID()}.metadata.json`
  await files.write(file, Buffer.from(JSON.stringify(metadata)))
  await client.call('POST', `${client.namespacePath(namespace)}/register`, {
    body: JSON.stringify({ name: table, 'metadata-location': file }),
  })
  return {
    path: client.tablePath(namespace, table),
    tableUuid: metadata['table-uuid'],
    location: directory,
    currentSnapshotId: metadata['current-snapshot-id'],
    sequenceNumber: snapshotCount,
  }
}

async function namespaceDirectory(client: CatalogClient, namespace: string, table: string) {
  const answer = await client.call('POST', `${client.namespacePath(namespace)}/tables`, {
    body: JSON.stringify({ name: `${table}_neighbour`, schema: SCHEMA }),
  })
  const location = /"location"\s*:\s*"([^"]+)"/.exec(answer.body.toString('utf8'))?.[1]
  if (location === undefined) throw new Error('the created table has no location')
  return location.slice(0, location.lastIndexOf('/'))
}

function deepMetadata(location: string, snapshotCount: number) {
  const startMs = Date.now() - snapshotCount * SNAPSHOT_INTERVAL_MS
  const snapshots = Array.from({ length: snapshotCount }, (_, index) =>
    appendSnapshot({
      id: firstSnapshotId + index,
      ...(index === 0 ? {} : { parentId: firstSnapshotId + index - 1 }),
      sequenceNumber: index + 1,
      timestampMs: startMs + (index + 1) * SNAPSHOT_INTERVAL_MS,
      location,
    }),
  )
  const currentId = firstSnapshotId + snapshotCount - 1
  return {
    'format-version': 2,
    'table-uuid': randomUUID(),
    location,
    'last-sequence-number': snapshotCount,
    'last-updated-ms': startMs + snapshotCount * SNAPSHOT_INTERVAL_MS,
    'last-column-id': SCHEMA.fields.length,
    'current-schema-id': 0,
    schemas: [SCHEMA],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: { owner: 'bench' },
    'current-snapshot-id': currentId,
    refs: { main: { 'snapshot-id': currentId, type: 'branch' } },
    snapshots,
    'snapshot-log': snapshots.map((snapshot) => ({
      'timestamp-ms': snapshot['timestamp-ms'],
      'snapshot-id': snapshot['snapshot-id'],
    })),
    'metadata-log': [],
  }
}

const firstSnapshotId = 3_051_729_675_574_597

interface SnapshotPlan {
  readonly id: number
  readonly parentId?: number
  readonly sequenceNumber: number
  readonly timestampMs: number
  readonly location: string
}

/** An append with the summary that Spark writes, about 700 bytes of JSON. */
function appendSnapshot({ id, parentId, sequenceNumber, timestampMs, location }: SnapshotPlan) {
  return {
    'snapshot-id': id,
    ...(parentId === undefined ? {} : { 'parent-snapshot-id': parentId }),
    'sequence-number': sequenceNumber,
    'timestamp-ms': timestampMs,
    'manifest-list': `${location}/metadata/snap-${id}-1-${randomUUID()}.avro`,
    summary: {
      operation: 'append',
      'added-data-files': '1',
      'added-records': String(ROWS_PER_SNAPSHOT),
      'added-files-size': String(FILE_SIZE_BYTES),
      'changed-partition-count': '1',
      'total-records': String(sequenceNumber * ROWS_PER_SNAPSHOT),
      'total-files-size': String(sequenceNumber * FILE_SIZE_BYTES),
      'total-data-files': String(sequenceNumber),
      'total-delete-files': '0',
      'total-position-deletes': '0',
      'total-equality-deletes': '0',
      'engine-name': 'bench',
      'engine-version': '1',
      'app-id': 'local-1730000000000',
      'iceberg-version': 'Apache Iceberg 1.12.0 (commit 0000000000)',
    },
    'schema-id': 0,
  }
}

/** The commit that an engine sends for an append; moves the head on, so call it once per commit that will succeed. */
export function nextAppend(head: TableHead): string {
  const parentId = head.currentSnapshotId
  head.currentSnapshotId++
  head.sequenceNumber++
  const snapshot = appendSnapshot({
    id: head.currentSnapshotId,
    parentId,
    sequenceNumber: head.sequenceNumber,
    timestampMs: Date.now(),
    location: head.location,
  })
  return JSON.stringify({
    requirements: [
      { type: 'assert-table-uuid', uuid: head.tableUuid },
      { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': parentId },
    ],
    updates: [
      { action: 'add-snapshot', snapshot },
      {
        action: 'set-snapshot-ref',
        'ref-name': 'main',
        type: 'branch',
        'snapshot-id': head.currentSnapshotId,
      },
    ],
  })
}

/** A commit that changes one property and can never conflict. */
export function propertyCommit(head: TableHead, value: number): string {
  return JSON.stringify({
    requirements: [{ type: 'assert-table-uuid', uuid: head.tableUuid }],
    updates: [{ action: 'set-properties', updates: { 'bench.counter': String(value) } }],
  })
}

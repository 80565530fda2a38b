import { contentUuid } from './content-uuid.ts'
import {
  extraMembers,
  int,
  list,
  long,
  nonNegativeInt,
  nonNegativeLong,
  object,
  optional,
  stringMap,
  text,
  timestampMs,
} from './decode.ts'
import type { Decode, Filled } from './decode.ts'
import { decodeEncryptedKey } from './encrypted-key-json.ts'
import { InvalidInputError } from './errors.ts'
import { ownMember, printJson, setMember } from './json.ts'
import type { JsonObject, JsonValue } from './json-value.ts'
import { stripTrailingSlashes } from './location.ts'
import { decodePartitionFields, decodePartitionSpec } from './partition-spec-json.ts'
import { PARTITION_FIELD_ID_BEFORE_FIRST } from './partition-spec.ts'
import type { PartitionSpec } from './partition-spec.ts'
import { decodeSchema } from './schema-json.ts'
import { decodeOptionalSnapshotId, decodeSnapshot, decodeSnapshotRef } from './snapshot-json.ts'
import { MAIN_BRANCH } from './snapshot.ts'
import type { SnapshotRef } from './snapshot.ts'
import type { SharedHistory } from './shared-history.ts'
import { decodeSortOrder } from './sort-order-json.ts'
import { UNSORTED } from './sort-order.ts'
import { decodePartitionStatisticsFile, decodeStatisticsFile } from './statistics-json.ts'
import { FORMAT_VERSION_MAX } from './table-metadata.ts'
import type {
  FormatVersion,
  MetadataLogEntry,
  SnapshotLogEntry,
  TableMetadata,
} from './table-metadata.ts'

const METADATA_MEMBERS = new Set([
  'format-version',
  'table-uuid',
  'location',
  'last-sequence-number',
  'last-updated-ms',
  'last-column-id',
  'schema',
  'schemas',
  'current-schema-id',
  'partition-spec',
  'partition-specs',
  'default-spec-id',
  'last-partition-id',
  'sort-orders',
  'default-sort-order-id',
  'properties',
  'current-snapshot-id',
  'snapshots',
  'snapshot-log',
  'metadata-log',
  'refs',
  'statistics',
  'partition-statistics',
  'next-row-id',
  'encryption-keys',
])
const NOTHING_SHARED: SharedHistory = { snapshots: [], snapshotLog: [] }
const SNAPSHOT_LOG_MEMBERS = new Set(['timestamp-ms', 'snapshot-id'])
const METADATA_LOG_MEMBERS = new Set(['timestamp-ms', 'metadata-file'])

/**
 * Reads the parsed JSON of a metadata file, v1 to v3; `path` is what errors put before the member, `before` what its lists
 * begin with although the JSON does not say so.
 * Members that are not known are kept in `extra`. A v1 file without `table-uuid` gets one derived from its content, the
 * same at every load. Throws InvalidInputError naming the member: a higher format version, a missing or impossible
 * member, a current or default id that is not listed, a ref without its snapshot. Spec: Table Metadata Fields.
 */
export function decodeTableMetadataJson(
  json: JsonValue | undefined,
  path = '',
  before: SharedHistory = NOTHING_SHARED,
): TableMetadata {
  const raw = new Members(object(json, path === '' ? 'metadata' : path), path)
  const { formatVersion } = raw
  const metadata: Filled<TableMetadata> = {
    formatVersion,
    tableUuid: decodeTableUuid(raw),
    location: stripTrailingSlashes(raw.required('location', text)),
    lastSequenceNumber: raw.requiredFromV2('last-sequence-number', nonNegativeLong) ?? 0n,
    lastUpdatedMs: raw.required('last-updated-ms', timestampMs),
    lastColumnId: raw.required('last-column-id', nonNegativeInt),
    ...decodeSchemas(raw),
    ...decodeSpecs(raw),
    ...decodeOrders(raw),
    properties: raw.optional('properties', stringMap) ?? {},
    snapshots: [...before.snapshots, ...raw.list('snapshots', decodeSnapshot)],
    snapshotLog: [...before.snapshotLog, ...raw.list('snapshot-log', decodeSnapshotLogEntry)],
    metadataLog: raw.list('metadata-log', decodeMetadataLogEntry),
    refs: raw.optional('refs', decodeRefs) ?? {},
    statistics: raw.list('statistics', decodeStatisticsFile),
    partitionStatistics: raw.list('partition-statistics', decodePartitionStatisticsFile),
    encryptionKeys: raw.list('encryption-keys', decodeEncryptedKey),
  }
  fillCurrentSnapshot(metadata, raw)
  checkSnapshots(metadata, raw)
  if (formatVersion >= 3) metadata.nextRowId = raw.required('next-row-id', nonNegativeLong)
  const extra = extraMembers(raw.object, METADATA_MEMBERS)
  if (extra !== undefined) metadata.extra = extra
  return metadata
}

/** The members of one object with their paths. */
class Members {
  readonly object: JsonObject
  readonly formatVersion: FormatVersion
  private readonly path: string

  constructor(object: JsonObject, path: string) {
    this.object = object
    this.path = path
    this.formatVersion = decodeFormatVersion(this)
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  has(name: string): boolean {
    return this.object[name] !== undefined && this.object[name] !== null
  }

  required<T>(name: string, decode: Decode<T>): T {
    return decode(this.object[name], this.pathOf(name))
  }

  optional<T>(name: string, decode: Decode<T>): T | undefined {
    return optional(this.object[name], this.pathOf(name), decode)
  }

  /** A member that may be missing in v1 and is required from v2 on. */
  requiredFromV2<T>(name: string, decode: Decode<T>): T | undefined {
    if (this.has(name)) return this.required(name, decode)
    if (this.formatVersion === 1) return undefined
    return this.fail(name, `missing, but format version ${this.formatVersion} requires it`)
  }

  list<T>(name: string, decodeItem: Decode<T>): T[] {
    return this.has(name) ? list(this.object[name], this.pathOf(name), decodeItem) : []
  }

  fail(name: string, message: string): never {
    throw new InvalidInputError(message, this.pathOf(name))
  }
}

function decodeFormatVersion(raw: Members): FormatVersion {
  const version = raw.required('format-version', int)
  if (version < 1 || version > FORMAT_VERSION_MAX) {
    raw.fail(
      'format-version',
      `cannot read format version ${version}: expected 1 to ${FORMAT_VERSION_MAX}`,
    )
  }
  return version as FormatVersion
}

function decodeTableUuid(raw: Members): string {
  const uuid = raw.requiredFromV2('table-uuid', text)
  return uuid ?? contentUuid(printJson(raw.object))
}

function decodeSchemas(raw: Members): Pick<TableMetadata, 'schemas' | 'currentSchemaId'> {
  if (!raw.has('schemas') && raw.formatVersion === 1) {
    const schema = raw.required('schema', decodeSchema)
    return { schemas: [schema], currentSchemaId: schema.schemaId }
  }
  const schemas = raw.required('schemas', listOf(decodeSchema))
  const currentSchemaId = raw.required('current-schema-id', int)
  checkListed(raw, 'current-schema-id', {
    ids: schemas.map((schema) => schema.schemaId),
    id: currentSchemaId,
  })
  return { schemas, currentSchemaId }
}

function decodeSpecs(
  raw: Members,
): Pick<TableMetadata, 'partitionSpecs' | 'defaultSpecId' | 'lastPartitionId'> {
  const hasList = raw.has('partition-specs') || raw.formatVersion > 1
  const partitionSpecs = hasList
    ? raw.required('partition-specs', listOf(decodePartitionSpec))
    : [{ specId: 0, fields: raw.required('partition-spec', decodePartitionFields) }]
  const defaultSpecId = hasList ? raw.required('default-spec-id', int) : 0
  checkListed(raw, 'default-spec-id', {
    ids: partitionSpecs.map((spec) => spec.specId),
    id: defaultSpecId,
  })
  const lastPartitionId = raw.requiredFromV2('last-partition-id', int)
  return {
    partitionSpecs,
    defaultSpecId,
    lastPartitionId: lastPartitionId ?? highestPartitionFieldId(partitionSpecs),
  }
}

function highestPartitionFieldId(specs: readonly PartitionSpec[]): number {
  const ids = specs.flatMap((spec) => spec.fields.map((field) => field.fieldId))
  return ids.reduce((highest, id) => Math.max(highest, id), PARTITION_FIELD_ID_BEFORE_FIRST)
}

function decodeOrders(raw: Members): Pick<TableMetadata, 'sortOrders' | 'defaultSortOrderId'> {
  if (!raw.has('sort-orders') && raw.formatVersion === 1)
    return { sortOrders: [UNSORTED], defaultSortOrderId: 0 }
  const sortOrders = raw.required('sort-orders', listOf(decodeSortOrder))
  const defaultSortOrderId = raw.required('default-sort-order-id', int)
  const ids = sortOrders.map((order) => order.orderId)
  checkListed(raw, 'default-sort-order-id', { ids, id: defaultSortOrderId })
  return { sortOrders, defaultSortOrderId }
}

function checkListed(
  raw: Members,
  name: string,
  { ids, id }: { readonly ids: readonly number[]; readonly id: number },
): void {
  const negative = ids.find((listed) => listed < 0)
  if (negative !== undefined) raw.fail(name, `the list it points into holds the id ${negative}`)
  if (new Set(ids).size !== ids.length)
    raw.fail(name, `the list it points into repeats an id: ${ids.join(', ')}`)
  if (!ids.includes(id)) raw.fail(name, `${id} is not one of ${ids.join(', ') || 'none'}`)
}

function decodeRefs(json: JsonValue | undefined, path: string): Record<string, SnapshotRef> {
  const raw = object(json, path)
  const refs: Record<string, SnapshotRef> = {}
  for (const name of Object.keys(raw))
    setMember(refs, name, decodeSnapshotRef(raw[name], `${path}.${name}`))
  return refs
}

/** `refs.main` and `current-snapshot-id` say the same; old files have only the second. */
function fillCurrentSnapshot(metadata: Filled<TableMetadata>, raw: Members): void {
  const current = raw.optional('current-snapshot-id', decodeOptionalSnapshotId)
  const main = ownMember(metadata.refs, MAIN_BRANCH)
  if (main !== undefined && current !== undefined && main.snapshotId !== current) {
    raw.fail('current-snapshot-id', `${current} is not the snapshot of main, ${main.snapshotId}`)
  }
  const snapshotId = current ?? main?.snapshotId
  if (snapshotId === undefined) return
  metadata.currentSnapshotId = snapshotId
  if (main === undefined)
    metadata.refs = { ...metadata.refs, [MAIN_BRANCH]: { snapshotId, type: 'branch' } }
}

function checkSnapshots(metadata: TableMetadata, raw: Members): void {
  const ids = new Set(metadata.snapshots.map((snapshot) => snapshot.snapshotId))
  if (ids.size !== metadata.snapshots.length) raw.fail('snapshots', 'a snapshot id occurs twice')
  for (const [name, ref] of Object.entries(metadata.refs)) {
    if (!ids.has(ref.snapshotId))
      raw.fail(`refs.${name}`, `snapshot ${ref.snapshotId} does not exist`)
  }
}

function decodeSnapshotLogEntry(json: JsonValue | undefined, path: string): SnapshotLogEntry {
  const raw = object(json, path)
  const entry: Filled<SnapshotLogEntry> = {
    timestampMs: timestampMs(raw['timestamp-ms'], `${path}.timestamp-ms`),
    snapshotId: long(raw['snapshot-id'], `${path}.snapshot-id`),
  }
  const extra = extraMembers(raw, SNAPSHOT_LOG_MEMBERS)
  if (extra !== undefined) entry.extra = extra
  return entry
}

function decodeMetadataLogEntry(json: JsonValue | undefined, path: string): MetadataLogEntry {
  const raw = object(json, path)
  const entry: Filled<MetadataLogEntry> = {
    timestampMs: timestampMs(raw['timestamp-ms'], `${path}.timestamp-ms`),
    metadataFile: text(raw['metadata-file'], `${path}.metadata-file`),
  }
  const extra = extraMembers(raw, METADATA_LOG_MEMBERS)
  if (extra !== undefined) entry.extra = extra
  return entry
}

function listOf<T>(decodeItem: Decode<T>): Decode<T[]> {
  return (value, path) => list(value, path, decodeItem)
}

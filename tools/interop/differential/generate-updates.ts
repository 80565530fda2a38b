import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { Schema } from '@timelake/iceberg/spec/schema'
import { highestFieldId } from '@timelake/iceberg/spec/schema-index'
import { decodeSchema, encodeSchema } from '@timelake/iceberg/spec/schema-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { newSortOrder, newSpec } from './generate-layout.ts'
import { changedSchema } from './generate-schema.ts'
import type { Random } from './random.ts'

/** Stands for the table's root and UUID in requests: each contestant has its own. */
export const ROOT = '@root'
export const TABLE_UUID = '@uuid'

const KEYS = ['k1', 'k2', 'k3', 'k4'] as const
const RESERVED_KEYS = ['format-version', 'uuid', 'snapshot-count', 'current-schema'] as const
const REF_NAMES = ['main', 'main', 'dev', 'audit', 'v1', 'release'] as const
const HOUR_MS = 3_600_000

/** The weights of the kinds of change that a commit is made of. */
const CHANGE_WEIGHTS = {
  append: 25,
  schema: 14,
  spec: 10,
  'sort-order': 8,
  'lone-set': 5,
  ref: 10,
  'remove-ref': 4,
  'remove-snapshots': 7,
  properties: 10,
  location: 2,
  statistics: 5,
  'partition-statistics': 4,
  'remove-specs': 3,
  'remove-schemas': 3,
  'remove-and-use': 0.5,
  'encryption-key': 3,
  upgrade: 3,
  uuid: 2,
} as const

/** What the generator believes about the table while it lists updates; it may be wrong after an invalid one. */
export interface TableView {
  readonly metadata: TableMetadata
  readonly nowMs: number
  readonly movesTables: boolean
  schema: Schema
  lastColumnId: number
  lastPartitionId: number
  lastSequenceNumber: bigint
  nextRowId: bigint
  mainSnapshotId: bigint | undefined
  readonly snapshotIds: bigint[]
}

export interface ViewOptions {
  readonly nowMs: number
  /** Whether locations may change; a catalog may then refuse files that stayed in the old one. */
  readonly movesTables: boolean
}

/** The view of a table before a request. */
export function viewOf(metadata: TableMetadata, options: ViewOptions): TableView {
  return {
    metadata,
    ...options,
    schema: metadata.schemas.find(
      ({ schemaId }) => schemaId === metadata.currentSchemaId,
    ) as Schema,
    lastColumnId: metadata.lastColumnId,
    lastPartitionId: metadata.lastPartitionId,
    lastSequenceNumber: metadata.lastSequenceNumber,
    nextRowId: metadata.nextRowId ?? 0n,
    mainSnapshotId: metadata.currentSnapshotId,
    snapshotIds: metadata.snapshots.map(({ snapshotId }) => snapshotId),
  }
}

/** The updates of one random change; several of them make a commit. */
export function newChange(random: Random, view: TableView): JsonObject[] {
  switch (random.pickWeighted(CHANGE_WEIGHTS)) {
    case 'append':
      return append(random, view)
    case 'schema':
      return schemaChange(random, view)
    case 'spec':
      return added(random, 'default-spec', {
        action: 'add-spec',
        spec: newSpec(random, layoutTarget(view)),
      })
    case 'sort-order':
      return added(random, 'default-sort-order', {
        action: 'add-sort-order',
        'sort-order': newSortOrder(random, view.schema),
      })
    case 'lone-set':
      return [loneSet(random)]
    case 'ref':
      return [setRef(random, view)]
    case 'remove-ref':
      return [{ action: 'remove-snapshot-ref', 'ref-name': random.pick(REF_NAMES) }]
    case 'remove-snapshots':
      return removeSnapshots(random, view)
    case 'properties':
      return properties(random)
    case 'location':
      return [{ action: 'set-location', location: `${ROOT}${random.pick(folders(view))}` }]
    case 'statistics':
      return [statistics(random, view)]
    case 'partition-statistics':
      return [partitionStatistics(random, view)]
    case 'remove-specs':
      return [{ action: 'remove-partition-specs', 'spec-ids': someIds(random, 4) }]
    case 'remove-schemas':
      return [{ action: 'remove-schemas', 'schema-ids': someIds(random, 6) }]
    case 'remove-and-use':
      return removeAndUse(random)
    case 'encryption-key':
      return [encryptionKey(random)]
    case 'upgrade':
      return [{ action: 'upgrade-format-version', 'format-version': upgradeTarget(random, view) }]
    case 'uuid':
      return [{ action: 'assign-uuid', uuid: random.chance(0.8) ? TABLE_UUID : otherUuid(random) }]
  }
}

function folders({ movesTables }: TableView): readonly string[] {
  return movesTables ? ['', '/', '/moved', '/moved/'] : ['', '/']
}

function append(random: Random, view: TableView): JsonObject[] {
  const snapshot = newSnapshot(random, view)
  const updates: JsonObject[] = [{ action: 'add-snapshot', snapshot }]
  const id = snapshot['snapshot-id'] as bigint
  if (random.chance(0.85)) {
    const refName = random.chance(0.85) ? 'main' : random.pick(REF_NAMES)
    updates.push({
      action: 'set-snapshot-ref',
      'ref-name': refName,
      type: 'branch',
      'snapshot-id': id,
    })
    if (refName === 'main') view.mainSnapshotId = id
  }
  view.snapshotIds.push(id)
  return updates
}

function newSnapshot(random: Random, view: TableView): JsonObject {
  const { formatVersion } = view.metadata
  const id = random.chance(0.98) ? random.snapshotId() : (random.pick(view.snapshotIds) ?? -1n)
  const isStale = random.chance(0.04)
  const sequenceNumber = isStale
    ? view.lastSequenceNumber
    : view.lastSequenceNumber + BigInt(random.between(1, 2))
  const isNumbered = formatVersion === 1 ? random.chance(0.05) : random.chance(0.98)
  const parentId = random.chance(0.95) ? view.mainSnapshotId : undefined
  if (formatVersion > 1 && sequenceNumber > view.lastSequenceNumber)
    view.lastSequenceNumber = sequenceNumber
  return {
    'snapshot-id': id,
    ...(parentId === undefined ? {} : { 'parent-snapshot-id': parentId }),
    ...(isNumbered ? { 'sequence-number': sequenceNumber } : {}),
    'timestamp-ms': BigInt(view.nowMs + timeShiftMs(random)),
    'manifest-list': random.chance(0.99) ? `${ROOT}/metadata/snap-${id}-1.avro` : undefined,
    summary: summary(random),
    'schema-id': BigInt(view.schema.schemaId),
    ...rowLineage(random, view),
  }
}

function timeShiftMs(random: Random): number {
  if (random.chance(0.9)) return random.between(-5, 0)
  return random.pick([-24 * HOUR_MS, -HOUR_MS, -30_000, 30_000, 24 * HOUR_MS])
}

function summary(random: Random): JsonValue | undefined {
  if (random.chance(0.01)) return undefined
  const counts = { 'added-data-files': String(random.between(1, 9)), 'added-records': '5' }
  if (random.chance(0.02)) return random.pick([{}, counts])
  return { operation: random.pick(['append', 'overwrite', 'delete', 'replace']), ...counts }
}

function rowLineage(random: Random, view: TableView): JsonObject {
  if (view.metadata.formatVersion < 3)
    return random.chance(0.97) ? {} : { 'first-row-id': 0n, 'added-rows': 5n }
  if (random.chance(0.03)) return {}
  const firstRowId = view.nextRowId + BigInt(random.chance(0.92) ? 0 : random.between(-3, 3))
  const addedRows = BigInt(random.between(0, 100))
  if (firstRowId >= view.nextRowId) view.nextRowId += addedRows
  return random.chance(0.98)
    ? { 'first-row-id': firstRowId, 'added-rows': addedRows }
    : { 'first-row-id': firstRowId }
}

function schemaChange(random: Random, view: TableView): JsonObject[] {
  const current = encodeSchema(view.schema)
  const isKnown = random.chance(0.2)
  const known = encodeSchema(random.pick(view.metadata.schemas))
  const schema = isKnown
    ? known
    : changedSchema(random, current, {
        lastColumnId: view.lastColumnId,
        formatVersion: view.metadata.formatVersion,
      })
  const updates = added(random, 'current-schema', {
    action: 'add-schema',
    schema,
    'last-column-id': 3n,
  })
  const decoded = decodeSchema(schema, 'schema')
  view.lastColumnId = Math.max(view.lastColumnId, highestFieldId(decoded))
  if (updates.length > 1) view.schema = decoded
  return updates
}

/** An addition, mostly followed by making it the current or default one. */
function added(
  random: Random,
  what: 'current-schema' | 'default-spec' | 'default-sort-order',
  add: JsonObject,
): JsonObject[] {
  if (random.chance(0.25)) return [add]
  return [add, { action: `set-${what}`, [ID_MEMBERS[what]]: -1n }]
}

const ID_MEMBERS = {
  'current-schema': 'schema-id',
  'default-spec': 'spec-id',
  'default-sort-order': 'sort-order-id',
} as const

function loneSet(random: Random): JsonObject {
  const what = random.pick(['current-schema', 'default-spec', 'default-sort-order'] as const)
  return { action: `set-${what}`, [ID_MEMBERS[what]]: BigInt(random.between(-1, 3)) }
}

function layoutTarget(view: TableView) {
  const { formatVersion, partitionSpecs } = view.metadata
  return {
    schema: view.schema,
    formatVersion,
    partitionSpecs,
    lastPartitionId: view.lastPartitionId,
  }
}

function setRef(random: Random, view: TableView): JsonObject {
  const refName = random.pick(REF_NAMES)
  const isTag = refName === 'main' ? random.chance(0.03) : random.chance(0.4)
  const bound = () => BigInt(random.chance(0.95) ? random.between(1, 3) : 0)
  return {
    action: 'set-snapshot-ref',
    'ref-name': refName,
    type: isTag ? 'tag' : 'branch',
    'snapshot-id': anySnapshotId(random, view),
    ...(random.chance(0.2) ? { 'max-ref-age-ms': bound() } : {}),
    ...(random.chance(isTag ? 0.05 : 0.2) ? { 'max-snapshot-age-ms': bound() } : {}),
    ...(random.chance(isTag ? 0.05 : 0.2) ? { 'min-snapshots-to-keep': bound() } : {}),
  }
}

function anySnapshotId(random: Random, view: TableView): bigint {
  return random.chance(0.95) && view.snapshotIds.length > 0
    ? random.pick(view.snapshotIds)
    : random.snapshotId()
}

function removeSnapshots(random: Random, view: TableView): JsonObject[] {
  const known = new Set(random.some(view.snapshotIds, 0.3))
  const ids = random.chance(0.95) && known.size > 0 ? [...known] : [anySnapshotId(random, view)]
  if (random.chance(0.3))
    return ids.map((id) => ({ action: 'remove-snapshots', 'snapshot-ids': [id] }))
  return [{ action: 'remove-snapshots', 'snapshot-ids': ids }]
}

function properties(random: Random): JsonObject[] {
  const key = random.chance(0.06) ? random.pick(RESERVED_KEYS) : random.pick(KEYS)
  const other = random.pick(KEYS)
  const set = {
    action: 'set-properties',
    updates: { [key]: String(random.between(1, 3)), [other]: 'x' },
  }
  const remove = { action: 'remove-properties', removals: [random.pick(KEYS), random.pick(KEYS)] }
  return random.pick([[set], [remove], [set, remove], [remove, set], [set, set]])
}

function statistics(random: Random, view: TableView): JsonObject {
  const id = anySnapshotId(random, view)
  if (random.chance(0.3)) return { action: 'remove-statistics', 'snapshot-id': id }
  const blob = {
    type: 'apache-datasketches-theta-v1',
    'snapshot-id': id,
    'sequence-number': 1n,
    fields: [1n],
    properties: { ndv: String(random.between(1, 9)) },
  }
  const statistics = {
    'snapshot-id': id,
    'statistics-path': `${ROOT}/metadata/${id}.stats`,
    'file-size-in-bytes': BigInt(random.between(100, 102)),
    'file-footer-size-in-bytes': 42n,
    'blob-metadata': random.chance(0.7) ? [blob] : [],
  }
  return { action: 'set-statistics', 'snapshot-id': id, statistics }
}

function partitionStatistics(random: Random, view: TableView): JsonObject {
  const id = anySnapshotId(random, view)
  if (random.chance(0.3)) return { action: 'remove-partition-statistics', 'snapshot-id': id }
  const file = {
    'snapshot-id': id,
    'statistics-path': `${ROOT}/metadata/partition-stats-${id}.parquet`,
    'file-size-in-bytes': BigInt(random.between(100, 102)),
  }
  return { action: 'set-partition-statistics', 'partition-statistics': file }
}

function someIds(random: Random, max: number): JsonValue[] {
  return random.some(
    Array.from({ length: max }, (_, id) => BigInt(id)),
    0.25,
  )
}

/** Makes current or default what the request has just removed. */
function removeAndUse(random: Random): JsonObject[] {
  const id = BigInt(random.between(0, 2))
  if (random.chance(0.5)) {
    return [
      { action: 'remove-schemas', 'schema-ids': [id] },
      { action: 'set-current-schema', 'schema-id': id },
    ]
  }
  return [
    { action: 'remove-partition-specs', 'spec-ids': [id] },
    { action: 'set-default-spec', 'spec-id': id },
  ]
}

function encryptionKey(random: Random): JsonObject {
  const keyId = `key-${random.between(1, 3)}`
  if (random.chance(0.3)) return { action: 'remove-encryption-key', 'key-id': keyId }
  const key = { 'key-id': keyId, 'encrypted-key-metadata': 'AAECAw==' }
  const wrapped = random.chance(0.5)
    ? { ...key, 'encrypted-by-id': 'root', properties: { a: 'b' } }
    : key
  return { action: 'add-encryption-key', 'encryption-key': wrapped }
}

function upgradeTarget(random: Random, view: TableView): bigint {
  if (random.chance(0.1)) return random.pick([0n, 1n, 4n])
  return BigInt(Math.min(3, view.metadata.formatVersion + random.between(0, 1)))
}

function otherUuid(random: Random): string {
  return `00000000-0000-4000-8000-${String(random.between(0, 999_999)).padStart(12, '0')}`
}

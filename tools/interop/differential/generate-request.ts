import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { decodeSchema } from '@timelake/iceberg/spec/schema-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { newSortOrder, newSpec } from './generate-layout.ts'
import { idsAfter, newSchema } from './generate-schema.ts'
import { newChange, ROOT, TABLE_UUID, viewOf, type ViewOptions } from './generate-updates.ts'
import type { Random } from './random.ts'

const CHANGES_MAX = 4

/** A table to create, as the create route takes it. Its column ids are the client's and get renumbered. */
export function newCreateRequest(random: Random, name: string): JsonObject {
  const formatVersion = random.between(1, 3)
  const schemaJson = newSchema(random, idsAfter(random.pick([0, 0, 10])), formatVersion)
  const schema = decodeSchema(schemaJson, 'schema')
  const target = { schema, formatVersion: 2, lastPartitionId: 999, partitionSpecs: [] }
  const names =
    formatVersion === 2 && random.chance(0.5) ? {} : { 'format-version': String(formatVersion) }
  return {
    name,
    location: ROOT,
    schema: schemaJson,
    ...(random.chance(0.6) ? { 'partition-spec': newSpec(random, target) } : {}),
    ...(random.chance(0.4) ? { 'write-order': newSortOrder(random, schema) } : {}),
    properties: { ...names, ...(random.chance(0.3) ? { k1: '1' } : {}) },
  }
}

/** A create commit: what a client sends after it staged a table, sometimes with a member missing or out of place. */
export function newCreateCommit(random: Random): JsonObject {
  const formatVersion = random.between(1, 3)
  const schemaJson = newSchema(random, idsAfter(random.pick([0, 0, 10])), formatVersion)
  const schema = decodeSchema(schemaJson, 'schema')
  const target = { schema, formatVersion, lastPartitionId: 999, partitionSpecs: [] }
  const setCurrent = { action: 'set-current-schema', 'schema-id': -1n }
  const isSetLast = random.chance(0.3)
  const all: JsonObject[] = [
    { action: 'assign-uuid', uuid: TABLE_UUID },
    { action: 'upgrade-format-version', 'format-version': BigInt(formatVersion) },
    { action: 'add-schema', schema: schemaJson },
    ...(isSetLast ? [] : [setCurrent]),
    { action: 'add-spec', spec: newSpec(random, target) },
    { action: 'set-default-spec', 'spec-id': -1n },
    { action: 'add-sort-order', 'sort-order': newSortOrder(random, schema) },
    { action: 'set-default-sort-order', 'sort-order-id': -1n },
    { action: 'set-location', location: ROOT },
    { action: 'set-properties', updates: { k1: '1' } },
    ...(random.chance(0.5) ? firstSnapshot(random, formatVersion) : []),
    ...(isSetLast ? [setCurrent] : []),
  ]
  const updates = random.chance(0.9) ? all : all.filter(({ action }) => isKept(random, action))
  const stray = { type: 'assert-current-schema-id', 'current-schema-id': 0n }
  const requirements = [{ type: 'assert-create' }, ...(random.chance(0.03) ? [stray] : [])]
  return { requirements, updates }
}

/** A commit to a table: one to four changes, requirements that mostly hold. */
export function newCommit(
  random: Random,
  metadata: TableMetadata,
  options: ViewOptions,
): JsonObject {
  const view = viewOf(metadata, options)
  const updates: JsonObject[] = []
  for (let changes = random.between(1, CHANGES_MAX); changes > 0; changes -= 1) {
    updates.push(...newChange(random, view))
  }
  return {
    requirements: requirements(random, metadata),
    updates: random.chance(0.03) ? [] : updates,
  }
}

/** Updates without which neither side has a table to speak of are never left out. */
function isKept(random: Random, action: JsonValue | undefined): boolean {
  return action === 'assign-uuid' || action === 'set-location' || random.chance(0.9)
}

function firstSnapshot(random: Random, formatVersion: number): JsonObject[] {
  const id = random.snapshotId()
  const snapshot = {
    'snapshot-id': id,
    ...(formatVersion === 1 ? {} : { 'sequence-number': 1n }),
    'timestamp-ms': BigInt(Date.now()),
    'manifest-list': `${ROOT}/metadata/snap-${id}-1.avro`,
    summary: { operation: 'append' },
    ...(formatVersion < 3 ? {} : { 'first-row-id': 0n, 'added-rows': 10n }),
  }
  return [
    { action: 'add-snapshot', snapshot },
    { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': id },
  ]
}

function requirements(random: Random, metadata: TableMetadata): JsonValue[] {
  const off = () => BigInt(random.chance(0.03) ? 1 : 0)
  const uuid = random.chance(0.97) ? TABLE_UUID : '00000000-0000-4000-8000-000000000000'
  const all: JsonObject[] = [
    { type: 'assert-table-uuid', uuid },
    {
      type: 'assert-ref-snapshot-id',
      ref: 'main',
      'snapshot-id': expectedSnapshotId(random, metadata, 'main'),
    },
    {
      type: 'assert-ref-snapshot-id',
      ref: 'dev',
      'snapshot-id': expectedSnapshotId(random, metadata, 'dev'),
    },
    {
      type: 'assert-last-assigned-field-id',
      'last-assigned-field-id': BigInt(metadata.lastColumnId) + off(),
    },
    {
      type: 'assert-current-schema-id',
      'current-schema-id': BigInt(metadata.currentSchemaId) + off(),
    },
    {
      type: 'assert-last-assigned-partition-id',
      'last-assigned-partition-id': BigInt(metadata.lastPartitionId) + off(),
    },
    { type: 'assert-default-spec-id', 'default-spec-id': BigInt(metadata.defaultSpecId) + off() },
    {
      type: 'assert-default-sort-order-id',
      'default-sort-order-id': BigInt(metadata.defaultSortOrderId) + off(),
    },
  ]
  if (random.chance(0.01)) return [{ type: 'assert-create' }]
  return random.some(all, 0.25)
}

function expectedSnapshotId(random: Random, metadata: TableMetadata, ref: string): JsonValue {
  if (random.chance(0.03)) return 5n
  if (random.chance(0.02)) return null
  return metadata.refs[ref]?.snapshotId ?? null
}

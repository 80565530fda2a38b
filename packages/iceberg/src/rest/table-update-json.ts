import type { TableUpdate } from '../commit/table-update.ts'
import { int, list, long, object, stringMap, text } from '../spec/decode.ts'
import type { Decode } from '../spec/decode.ts'
import { decodeEncryptedKey, encodeEncryptedKey } from '../spec/encrypted-key-json.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { assertNever } from '../spec/invariant.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { decodeUnboundPartitionSpec, encodePartitionSpec } from '../spec/partition-spec-json.ts'
import { decodeSchema, encodeSchema } from '../spec/schema-json.ts'
import {
  decodeSnapshot,
  decodeSnapshotRef,
  encodeSnapshot,
  encodeSnapshotRef,
} from '../spec/snapshot-json.ts'
import type { Snapshot, SnapshotRef } from '../spec/snapshot.ts'
import { decodeSortOrder, encodeSortOrder } from '../spec/sort-order-json.ts'
import {
  decodePartitionStatisticsFile,
  decodeStatisticsFile,
  encodePartitionStatisticsFile,
  encodeStatisticsFile,
} from '../spec/statistics-json.ts'

type Action = TableUpdate['action']

/** Reads the members of one action; `of(name, decode)` reads a member. */
type DecodeMembers = (of: <T>(name: string, decode: Decode<T>) => T, raw: RawUpdate) => TableUpdate

interface RawUpdate {
  readonly object: JsonObject
  readonly path: string
}

/**
 * Reads a table update; its action is compared without regard to case, unknown members are ignored. Throws
 * InvalidInputError naming an unknown action or a missing or impossible member. Spec: REST catalog, TableUpdate.
 */
export function decodeTableUpdate(json: JsonValue | undefined, path: string): TableUpdate {
  const raw = object(json, path)
  const action = text(raw['action'], `${path}.action`)
  const lower = action.toLowerCase()
  if (!Object.hasOwn(DECODERS, lower)) {
    throw new InvalidInputError(`unknown update action "${action}"`, `${path}.action`)
  }
  const decodeMembers = DECODERS[lower as Action]
  return decodeMembers((name, decode) => decode(raw[name], `${path}.${name}`), {
    object: raw,
    path,
  })
}

const DECODERS: { readonly [A in Action]: DecodeMembers } = {
  'assign-uuid': (of) => ({ action: 'assign-uuid', uuid: of('uuid', decodeUuid) }),
  'upgrade-format-version': (of) => ({
    action: 'upgrade-format-version',
    formatVersion: of('format-version', int),
  }),
  'add-schema': (of) => ({ action: 'add-schema', schema: of('schema', decodeSchema) }),
  'set-current-schema': (of) => ({ action: 'set-current-schema', schemaId: of('schema-id', int) }),
  'add-spec': (of) => ({ action: 'add-spec', spec: of('spec', decodeUnboundPartitionSpec) }),
  'set-default-spec': (of) => ({ action: 'set-default-spec', specId: of('spec-id', int) }),
  'add-sort-order': (of) => ({
    action: 'add-sort-order',
    sortOrder: of('sort-order', decodeSortOrder),
  }),
  'set-default-sort-order': (of) => ({
    action: 'set-default-sort-order',
    sortOrderId: of('sort-order-id', int),
  }),
  'add-snapshot': (of) => ({ action: 'add-snapshot', snapshot: of('snapshot', decodeNewSnapshot) }),
  'set-snapshot-ref': (of, { object: raw, path }) => ({
    action: 'set-snapshot-ref',
    refName: of('ref-name', text),
    ref: decodeNewRef(raw, path),
  }),
  'remove-snapshot-ref': (of) => ({ action: 'remove-snapshot-ref', refName: of('ref-name', text) }),
  'remove-snapshots': (of) => ({
    action: 'remove-snapshots',
    snapshotIds: of('snapshot-ids', listOf(long)),
  }),
  'set-location': (of) => ({ action: 'set-location', location: of('location', text) }),
  'set-properties': (of, { object: raw }) => ({
    action: 'set-properties',
    updates: of(raw['updates'] === undefined ? 'updated' : 'updates', stringMap),
  }),
  'remove-properties': (of, { object: raw }) => ({
    action: 'remove-properties',
    removals: of(raw['removals'] === undefined ? 'removed' : 'removals', listOf(text)),
  }),
  'set-statistics': (of, { object: raw, path }) => {
    const statistics = of('statistics', decodeStatisticsFile)
    const outer = raw['snapshot-id']
    if (outer !== undefined && outer !== null && outer !== statistics.snapshotId) {
      throw new InvalidInputError('differs from the one inside statistics', `${path}.snapshot-id`)
    }
    return { action: 'set-statistics', statistics }
  },
  'remove-statistics': (of) => ({
    action: 'remove-statistics',
    snapshotId: of('snapshot-id', long),
  }),
  'set-partition-statistics': (of) => ({
    action: 'set-partition-statistics',
    partitionStatistics: of('partition-statistics', decodePartitionStatisticsFile),
  }),
  'remove-partition-statistics': (of) => ({
    action: 'remove-partition-statistics',
    snapshotId: of('snapshot-id', long),
  }),
  'remove-partition-specs': (of) => ({
    action: 'remove-partition-specs',
    specIds: of('spec-ids', listOf(int)),
  }),
  'remove-schemas': (of) => ({
    action: 'remove-schemas',
    schemaIds: of('schema-ids', listOf(int)),
  }),
  'add-encryption-key': (of) => ({
    action: 'add-encryption-key',
    encryptionKey: of('encryption-key', decodeEncryptedKey),
  }),
  'remove-encryption-key': (of) => ({ action: 'remove-encryption-key', keyId: of('key-id', text) }),
}

/** The JSON form of a table update. Inverse of decodeTableUpdate. */
export function encodeTableUpdate(update: TableUpdate): JsonObject {
  return { action: update.action, ...encodeMembers(update) }
}

function encodeMembers(update: TableUpdate): JsonObject {
  switch (update.action) {
    case 'assign-uuid':
      return { uuid: update.uuid }
    case 'upgrade-format-version':
      return { 'format-version': BigInt(update.formatVersion) }
    case 'add-schema':
      return { schema: encodeSchema(update.schema) }
    case 'set-current-schema':
      return { 'schema-id': BigInt(update.schemaId) }
    case 'add-spec':
      return { spec: encodePartitionSpec(update.spec) }
    case 'set-default-spec':
      return { 'spec-id': BigInt(update.specId) }
    case 'add-sort-order':
      return { 'sort-order': encodeSortOrder(update.sortOrder) }
    case 'set-default-sort-order':
      return { 'sort-order-id': BigInt(update.sortOrderId) }
    case 'add-snapshot':
      return { snapshot: encodeSnapshot(update.snapshot) }
    case 'set-snapshot-ref':
      return { 'ref-name': update.refName, ...encodeSnapshotRef(update.ref) }
    case 'remove-snapshot-ref':
      return { 'ref-name': update.refName }
    case 'remove-snapshots':
      return { 'snapshot-ids': update.snapshotIds }
    case 'set-location':
      return { location: update.location }
    case 'set-properties':
      return { updates: update.updates }
    case 'remove-properties':
      return { removals: update.removals }
    default:
      return encodeMaintenanceMembers(update)
  }
}

type MaintenanceUpdate = Extract<
  TableUpdate,
  {
    readonly action:
      `${string}statistics` | `remove-${'partition-specs' | 'schemas'}` | `${string}encryption-key`
  }
>

function encodeMaintenanceMembers(update: MaintenanceUpdate): JsonObject {
  switch (update.action) {
    case 'set-statistics':
      return {
        'snapshot-id': update.statistics.snapshotId,
        statistics: encodeStatisticsFile(update.statistics),
      }
    case 'remove-statistics':
    case 'remove-partition-statistics':
      return { 'snapshot-id': update.snapshotId }
    case 'set-partition-statistics':
      return { 'partition-statistics': encodePartitionStatisticsFile(update.partitionStatistics) }
    case 'remove-partition-specs':
      return { 'spec-ids': update.specIds.map(BigInt) }
    case 'remove-schemas':
      return { 'schema-ids': update.schemaIds.map(BigInt) }
    case 'add-encryption-key':
      return { 'encryption-key': encodeEncryptedKey(update.encryptionKey) }
    case 'remove-encryption-key':
      return { 'key-id': update.keyId }
    default:
      return assertNever(update, 'table update')
  }
}

function decodeUuid(json: JsonValue | undefined, path: string): string {
  const uuid = text(json, path)
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(uuid)) {
    throw new InvalidInputError(`"${uuid}" is not a UUID`, path)
  }
  return uuid
}

/** Snapshots that clients add have positive ids; foreign files may hold others. */
function decodeNewSnapshot(json: JsonValue | undefined, path: string): Snapshot {
  const snapshot = decodeSnapshot(json, path)
  if (snapshot.snapshotId > 0n) return snapshot
  throw new InvalidInputError(
    `expected a positive id, got ${snapshot.snapshotId}`,
    `${path}.snapshot-id`,
  )
}

const UPDATE_MEMBERS = new Set(['action', 'ref-name'])

function decodeNewRef(raw: JsonObject, path: string): SnapshotRef {
  const members = Object.entries(raw).filter(([name]) => !UPDATE_MEMBERS.has(name))
  const ref = decodeSnapshotRef(Object.fromEntries(members), path)
  checkPositive(ref.minSnapshotsToKeep, `${path}.min-snapshots-to-keep`)
  checkPositive(ref.maxSnapshotAgeMs, `${path}.max-snapshot-age-ms`)
  checkPositive(ref.maxRefAgeMs, `${path}.max-ref-age-ms`)
  const hasBranchMember = ref.minSnapshotsToKeep !== undefined || ref.maxSnapshotAgeMs !== undefined
  if (ref.type === 'tag' && hasBranchMember) {
    throw new InvalidInputError(
      'a tag cannot have min-snapshots-to-keep or max-snapshot-age-ms',
      path,
    )
  }
  return ref
}

function checkPositive(value: number | undefined, path: string): void {
  if (value !== undefined && value <= 0)
    throw new InvalidInputError(`expected more than 0, got ${value}`, path)
}

function listOf<T>(decodeItem: Decode<T>): Decode<T[]> {
  return (value, path) => list(value, path, decodeItem)
}

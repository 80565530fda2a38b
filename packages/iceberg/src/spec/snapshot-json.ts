import {
  extraMembers,
  int,
  list,
  long,
  nonNegativeLong,
  object,
  optional,
  stringMap,
  text,
  timestampMs,
} from './decode.ts'
import type { Filled } from './decode.ts'
import { InvalidInputError } from './errors.ts'
import { printJson, printMembers } from './json.ts'
import type { JsonObject, JsonValue } from './json-value.ts'
import type { Snapshot, SnapshotRef } from './snapshot.ts'

/** The id that writers put where there is no snapshot. */
export const NO_SNAPSHOT_ID = -1n

const SNAPSHOT_MEMBERS = new Set([
  'snapshot-id',
  'parent-snapshot-id',
  'sequence-number',
  'timestamp-ms',
  'manifest-list',
  'manifests',
  'summary',
  'schema-id',
  'first-row-id',
  'added-rows',
  'key-id',
])
const REF_MEMBERS = new Set([
  'snapshot-id',
  'type',
  'min-snapshots-to-keep',
  'max-snapshot-age-ms',
  'max-ref-age-ms',
])

/**
 * Reads a snapshot of a metadata file or request. A missing sequence number is 0 (v1); a parent of −1 or null is
 * none. Throws InvalidInputError naming the member, also for the id −1. Spec: Snapshots.
 */
export function decodeSnapshot(json: JsonValue | undefined, path: string): Snapshot {
  const raw = object(json, path)
  const snapshot: Filled<Snapshot> = {
    snapshotId: decodeSnapshotId(raw['snapshot-id'], `${path}.snapshot-id`),
    sequenceNumber:
      optional(raw['sequence-number'], `${path}.sequence-number`, nonNegativeLong) ?? 0n,
    timestampMs: timestampMs(raw['timestamp-ms'], `${path}.timestamp-ms`),
  }
  const parent = decodeOptionalSnapshotId(raw['parent-snapshot-id'], `${path}.parent-snapshot-id`)
  if (parent !== undefined) snapshot.parentSnapshotId = parent
  const manifestList = optional(raw['manifest-list'], `${path}.manifest-list`, text)
  if (manifestList !== undefined) snapshot.manifestList = manifestList
  const manifests = optional(raw['manifests'], `${path}.manifests`, decodeTexts)
  if (manifests !== undefined) snapshot.manifests = manifests
  const summary = optional(raw['summary'], `${path}.summary`, stringMap)
  if (summary !== undefined) snapshot.summary = summary
  const schemaId = optional(raw['schema-id'], `${path}.schema-id`, int)
  if (schemaId !== undefined) snapshot.schemaId = schemaId
  fillRowLineage(snapshot, raw, path)
  const extra = extraMembers(raw, SNAPSHOT_MEMBERS)
  if (extra !== undefined) snapshot.extra = extra
  return snapshot
}

/** The JSON form of a snapshot. Inverse of decodeSnapshot. */
export function encodeSnapshot(snapshot: Snapshot): JsonObject {
  return {
    ...snapshot.extra,
    ...encodeKnownMembers(snapshot),
    'sequence-number': snapshot.sequenceNumber,
  }
}

/**
 * The JSON text of a snapshot, faster than printing encodeSnapshot because histories hold many. A sequence
 * number of 0 is written unless `omitZeroSequence` asks otherwise (v1 files).
 */
export function snapshotText(
  snapshot: Snapshot,
  options: { readonly omitZeroSequence?: boolean } = {},
): string {
  const members: string[] = []
  if (options.omitZeroSequence !== true || snapshot.sequenceNumber !== 0n) {
    members.push(`"sequence-number":${snapshot.sequenceNumber}`)
  }
  const known = encodeKnownMembers(snapshot)
  for (const name in known) {
    const value = known[name]
    if (value === undefined) continue
    // All values inside a summary are strings, which the built-in printer gets right.
    const isTexts = name === 'summary' || typeof value === 'string'
    members.push(`"${name}":${isTexts ? JSON.stringify(value) : printJson(value)}`)
  }
  const extra = printMembers(snapshot.extra ?? {})
  if (extra !== '') members.push(extra)
  return `{${members.join(',')}}`
}

function encodeKnownMembers(snapshot: Snapshot): JsonObject {
  return {
    'snapshot-id': snapshot.snapshotId,
    'parent-snapshot-id': snapshot.parentSnapshotId,
    'timestamp-ms': BigInt(snapshot.timestampMs),
    summary: snapshot.summary,
    'manifest-list': snapshot.manifestList,
    manifests: snapshot.manifests,
    'schema-id': snapshot.schemaId === undefined ? undefined : BigInt(snapshot.schemaId),
    'first-row-id': snapshot.firstRowId,
    'added-rows': snapshot.addedRows,
    'key-id': snapshot.keyId,
  }
}

/** Reads a branch or tag. Throws InvalidInputError for another type. Spec: Snapshot References. */
export function decodeSnapshotRef(json: JsonValue | undefined, path: string): SnapshotRef {
  const raw = object(json, path)
  const type = text(raw['type'], `${path}.type`).toLowerCase()
  if (type !== 'branch' && type !== 'tag') {
    throw new InvalidInputError(`expected branch or tag, got "${type}"`, `${path}.type`)
  }
  const ref: Filled<SnapshotRef> = {
    snapshotId: decodeSnapshotId(raw['snapshot-id'], `${path}.snapshot-id`),
    type,
  }
  const keepMin = optional(raw['min-snapshots-to-keep'], `${path}.min-snapshots-to-keep`, int)
  if (keepMin !== undefined) ref.minSnapshotsToKeep = keepMin
  const snapshotAge = optional(
    raw['max-snapshot-age-ms'],
    `${path}.max-snapshot-age-ms`,
    timestampMs,
  )
  if (snapshotAge !== undefined) ref.maxSnapshotAgeMs = snapshotAge
  const refAge = optional(raw['max-ref-age-ms'], `${path}.max-ref-age-ms`, timestampMs)
  if (refAge !== undefined) ref.maxRefAgeMs = refAge
  const extra = extraMembers(raw, REF_MEMBERS)
  if (extra !== undefined) ref.extra = extra
  return ref
}

/** The JSON form of a branch or tag. Inverse of decodeSnapshotRef. */
export function encodeSnapshotRef(ref: SnapshotRef): JsonObject {
  return {
    ...ref.extra,
    'snapshot-id': ref.snapshotId,
    type: ref.type,
    'min-snapshots-to-keep':
      ref.minSnapshotsToKeep === undefined ? undefined : BigInt(ref.minSnapshotsToKeep),
    'max-snapshot-age-ms':
      ref.maxSnapshotAgeMs === undefined ? undefined : BigInt(ref.maxSnapshotAgeMs),
    'max-ref-age-ms': ref.maxRefAgeMs === undefined ? undefined : BigInt(ref.maxRefAgeMs),
  }
}

/** A snapshot id, or `undefined` for −1, null and absent, which all mean "no snapshot". */
export function decodeOptionalSnapshotId(
  value: JsonValue | undefined,
  path: string,
): bigint | undefined {
  const id = optional(value, path, long)
  return id === NO_SNAPSHOT_ID ? undefined : id
}

/** A snapshot id; −1 is refused because it means "no snapshot". Other negative ids exist in foreign files. */
export function decodeSnapshotId(value: JsonValue | undefined, path: string): bigint {
  const id = long(value, path)
  if (id === NO_SNAPSHOT_ID) throw new InvalidInputError('-1 is not a snapshot id', path)
  return id
}

function fillRowLineage(snapshot: Filled<Snapshot>, raw: JsonObject, path: string): void {
  const firstRowId = optional(raw['first-row-id'], `${path}.first-row-id`, long)
  if (firstRowId !== undefined) snapshot.firstRowId = firstRowId
  const addedRows = optional(raw['added-rows'], `${path}.added-rows`, long)
  if (addedRows !== undefined) snapshot.addedRows = addedRows
  const keyId = optional(raw['key-id'], `${path}.key-id`, text)
  if (keyId !== undefined) snapshot.keyId = keyId
}

function decodeTexts(value: JsonValue | undefined, path: string): string[] {
  return list(value, path, text)
}

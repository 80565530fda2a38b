import { isJsonArray } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'

/** Server times, ids that each server makes up, and the files that it wrote. */
const IGNORED_MEMBERS = ['table-uuid', 'last-updated-ms', 'metadata-log'] as const
const RESERVED_AND_STAGED = ['created-at'] as const

/** One place where the two sides differ. An absent member is `undefined`. */
export interface Difference {
  /** For example `partition-specs[1].fields[0].field-id`. */
  readonly path: string
  readonly reference: JsonValue | undefined
  readonly ours: JsonValue | undefined
}

/** Every difference that is not in the ignored members, in a form that does not depend on map and set order. */
export function compareMetadata(reference: JsonObject, ours: JsonObject): Difference[] {
  const differences: Difference[] = []
  compare(differences, { path: '', reference: comparable(reference), ours: comparable(ours) })
  return differences
}

function comparable(metadata: JsonObject): JsonObject {
  const copy: Record<string, JsonValue | undefined> = { ...metadata }
  IGNORED_MEMBERS.forEach((member) => delete copy[member])
  const currentSnapshotId = metadata['current-snapshot-id']
  copy['current-snapshot-id'] = currentSnapshotId === -1n ? null : (currentSnapshotId ?? null)
  const refs = metadata['refs'] ?? {}
  const properties: Record<string, JsonValue | undefined> = {
    ...(metadata['properties'] as JsonObject | undefined),
  }
  RESERVED_AND_STAGED.forEach((key) => delete properties[key])
  return {
    ...copy,
    refs,
    properties,
    'snapshot-log': listOf(metadata, 'snapshot-log').map(
      (entry) => (entry as JsonObject)['snapshot-id'] ?? null,
    ),
    'metadata-log': undefined,
    snapshots: bySnapshotId(listOf(metadata, 'snapshots').map(withSequenceNumber)),
    statistics: bySnapshotId(listOf(metadata, 'statistics')),
    'partition-statistics': bySnapshotId(listOf(metadata, 'partition-statistics')),
    'encryption-keys': listOf(metadata, 'encryption-keys'),
    schemas: listOf(metadata, 'schemas').map((schema) => comparableSchema(schema as JsonObject)),
    schema:
      metadata['schema'] === undefined
        ? undefined
        : comparableSchema(metadata['schema'] as JsonObject),
  }
}

function comparableSchema(schema: JsonObject): JsonObject {
  const ids = listOf(schema, 'identifier-field-ids').map(Number)
  return { ...schema, 'identifier-field-ids': ids.toSorted((a, b) => a - b) }
}

/** The reference leaves out 0, which v1 snapshots keep in later versions. */
function withSequenceNumber(snapshot: JsonValue): JsonValue {
  return { 'sequence-number': 0n, ...(snapshot as JsonObject) }
}

function listOf(object: JsonObject, member: string): readonly JsonValue[] {
  const list = object[member]
  return isJsonArray(list) ? list : []
}

function bySnapshotId(files: readonly JsonValue[]): JsonObject {
  return Object.fromEntries(
    files.map((file) => [String((file as JsonObject)['snapshot-id']), file]),
  )
}

function compare(differences: Difference[], difference: Difference): void {
  const { path, reference, ours } = difference
  if (isJsonArray(reference) && isJsonArray(ours))
    return compareLists(differences, path, [reference, ours])
  if (!isObject(reference) || !isObject(ours)) {
    if (reference !== ours) differences.push(difference)
    return
  }
  for (const member of new Set([...Object.keys(reference), ...Object.keys(ours)])) {
    const inner = path === '' ? member : `${path}.${member}`
    compare(differences, { path: inner, reference: reference[member], ours: ours[member] })
  }
}

function compareLists(
  differences: Difference[],
  path: string,
  [reference, ours]: readonly [readonly JsonValue[], readonly JsonValue[]],
): void {
  if (reference.length !== ours.length) {
    differences.push({ path: `${path}.length`, reference, ours })
    return
  }
  reference.forEach((element, position) => {
    compare(differences, { path: `${path}[${position}]`, reference: element, ours: ours[position] })
  })
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isJsonArray(value)
}

import type { PartitionTypeField } from '../manifest/partition-type.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { encodeJsonValue } from '../spec/json-single-value.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import type { NestedField, PrimitiveType } from '../spec/type.ts'
import type { PartitionChange, PartitionChanges } from './partition-changes.ts'

/** Partitions that are listed one by one. */
export const PARTITIONS_SHOWN_MAX = 100

/**
 * What a snapshot did to each partition, as events show it. The first PARTITIONS_SHOWN_MAX partitions are listed;
 * `partition-count` counts all. Values are in the single-value form of the spec (Appendix D), sizes in bytes.
 */
export function encodePartitionChanges({ timeColumn, partitions }: PartitionChanges): JsonObject {
  return {
    ...(timeColumn === undefined ? {} : { 'time-column': timeColumn.name }),
    'partition-count': BigInt(partitions.length),
    partitions: partitions
      .slice(0, PARTITIONS_SHOWN_MAX)
      .map((change) => encodeChange(change, timeColumn)),
  }
}

function encodeChange(change: PartitionChange, timeColumn: NestedField | undefined): JsonObject {
  const { specId, partition, type, added, removed, time } = change
  const values = type.fields.map((field, at) => [field.name, encodeValue(field, partition[at])])
  return {
    'spec-id': BigInt(specId),
    // `as`: pairs of a name and a JSON value.
    partition: Object.fromEntries(values) as JsonObject,
    'added-files': BigInt(added.dataFileCount),
    'added-rows': added.rowCount,
    'added-bytes': added.sizeBytes,
    'added-delete-files': BigInt(added.deleteFileCount),
    'removed-files': BigInt(removed.dataFileCount),
    'removed-rows': removed.rowCount,
    'removed-bytes': removed.sizeBytes,
    'removed-delete-files': BigInt(removed.deleteFileCount),
    ...(time === undefined || timeColumn === undefined
      ? {}
      : {
          'time-min': encodeTime(timeColumn, time.min),
          'time-max': encodeTime(timeColumn, time.max),
        }),
  }
}

function encodeTime({ type }: NestedField, value: bigint): JsonValue {
  // `as`: a time column has a primitive type.
  const primitive = type as PrimitiveType
  return encodeJsonValue(primitive, primitive.kind === 'date' ? Number(value) : value)
}

function encodeValue({ type }: PartitionTypeField, value: PartitionValue | undefined): JsonValue {
  if (value === undefined || value === null) return null
  // JSON has no number for these.
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  // `as`: partition values are primitive.
  return encodeJsonValue(type as PrimitiveType, value)
}

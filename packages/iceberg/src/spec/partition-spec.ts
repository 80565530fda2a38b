import type { JsonObject } from './json-value.ts'
import type { Transform } from './transform.ts'

/** `sourceIds` has one element except for multi-argument transforms (v3, JSON `source-ids`). */
export interface PartitionField {
  readonly sourceIds: readonly number[]
  readonly fieldId: number
  readonly name: string
  readonly transform: Transform
  readonly extra?: JsonObject
}

/** Spec: Partitioning. An unpartitioned spec has no fields. */
export interface PartitionSpec {
  readonly specId: number
  readonly fields: readonly PartitionField[]
  readonly extra?: JsonObject
}

/** A partition field as a client sends it: the field id may be missing. */
export type UnboundPartitionField = Omit<PartitionField, 'fieldId'> & { readonly fieldId?: number }

/** A spec as a client sends it: the ids may be missing. */
export interface UnboundPartitionSpec {
  readonly specId?: number
  readonly fields: readonly UnboundPartitionField[]
}

/** The partition field id before the first one that is assigned (1000). */
export const PARTITION_FIELD_ID_BEFORE_FIRST = 999

/**
 * A partition value, by the transform's result type: boolean; int, date, float, double → number;
 * long, time, timestamps (micros or nanos) and decimal (unscaled) → bigint; string, uuid (lower case text) → string;
 * fixed and binary → bytes; null.
 */
export type PartitionValue = null | boolean | number | bigint | string | Uint8Array

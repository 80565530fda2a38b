import type { Filled } from '../spec/decode.ts'
import type { PartitionSpec, PartitionValue } from '../spec/partition-spec.ts'
import type { Schema } from '../spec/schema.ts'
import { compareValues, encodeSingleValue } from '../spec/single-value.ts'
import type { ManifestEntry } from './data-file.ts'
import type { PartitionFieldSummary } from './manifest-file.ts'
import type { PartitionType, PartitionTypeField } from './partition-type.ts'
import { partitionType } from './partition-type.ts'

/**
 * What the manifest list says about the partitions of a manifest: one summary for each field of the spec, over all
 * entries. Null and NaN are flags and never bounds. Spec: Manifest Lists, field 507.
 */
export function summarizePartitions(
  spec: PartitionSpec,
  schema: Schema,
  entries: readonly ManifestEntry[],
): PartitionFieldSummary[] {
  return summarizePartitionType(partitionType(spec, [schema]), entries)
}

/** The same for a partition struct that is already known. */
export function summarizePartitionType(
  type: PartitionType,
  entries: readonly ManifestEntry[],
): PartitionFieldSummary[] {
  return type.fields.map((field, index) => summarizeField(field, index, entries))
}

function summarizeField(
  field: PartitionTypeField,
  index: number,
  entries: readonly ManifestEntry[],
): PartitionFieldSummary {
  let containsNull = false
  let containsNan = false
  let lower: PartitionValue = null
  let upper: PartitionValue = null
  for (const entry of entries) {
    const value = entry.dataFile.partition[index] ?? null
    if (value === null) containsNull = true
    else if (Number.isNaN(value)) containsNan = true
    else {
      if (lower === null || compareValues(field.type, value, lower) < 0) lower = value
      if (upper === null || compareValues(field.type, value, upper) > 0) upper = value
    }
  }
  const summary: Filled<PartitionFieldSummary> = { containsNull, containsNan }
  if (lower !== null) summary.lowerBound = encodeSingleValue(field.type, lower)
  if (upper !== null) summary.upperBound = encodeSingleValue(field.type, upper)
  return summary
}

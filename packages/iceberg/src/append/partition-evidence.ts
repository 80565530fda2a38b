import type { DataFile } from '../manifest/data-file.ts'
import { applyTransform, canTransform, transformResultType } from '../spec/apply-transform.ts'
import type { PartitionField, PartitionValue } from '../spec/partition-spec.ts'
import { compareValues, decodeSingleValue, type SingleValue } from '../spec/single-value.ts'
import type { IcebergType, NestedField } from '../spec/type.ts'
import type { ShapedSpec, TableShape } from './table-shape.ts'

/** What is known of the values of a file. */
export type FileEvidence = Pick<
  DataFile,
  'recordCount' | 'nullValueCounts' | 'lowerBounds' | 'upperBounds'
>

/** Bounds of these may be cut, so that they span more than the values do. */
const CUT_KINDS = new Set<IcebergType['kind']>(['string', 'binary'])
const FLOAT_KINDS = new Set<IcebergType['kind']>(['float', 'double'])

/**
 * Why the partition values of a file cannot be right, or undefined. Null counts and bounds of the source columns must allow
 * them: no nulls beside values, and the transformed bounds around the value. What the file does not tell is believed.
 */
export function partitionProblem(
  { spec }: ShapedSpec,
  shape: TableShape,
  file: FileEvidence & Pick<DataFile, 'partition'>,
): string | undefined {
  for (const [index, field] of spec.fields.entries()) {
    const value = file.partition[index] ?? null
    const problem = valueProblem(field, value, evidenceOf(field, shape, file))
    if (problem !== undefined) return `partition ${field.name}: ${problem}`
  }
  return undefined
}

export type DerivedPartition =
  | { readonly outcome: 'derived'; readonly partition: readonly PartitionValue[] }
  | { readonly outcome: 'unknown'; readonly reason: string }

/** The partition that all rows of a file are in, where the bounds and null counts of its source columns prove one. */
export function derivePartition(
  { spec }: ShapedSpec,
  shape: TableShape,
  file: FileEvidence,
): DerivedPartition {
  const partition: PartitionValue[] = []
  for (const field of spec.fields) {
    const derived = deriveValue(field, evidenceOf(field, shape, file))
    if ('reason' in derived) {
      return { outcome: 'unknown', reason: `partition ${field.name}: ${derived.reason}` }
    }
    partition.push(derived.value)
  }
  return { outcome: 'derived', partition }
}

interface SourceEvidence {
  readonly column: NestedField | undefined
  readonly recordCount: bigint
  readonly nullCount: bigint | undefined
  readonly lower: SingleValue | undefined
  readonly upper: SingleValue | undefined
}

function evidenceOf(
  { sourceIds }: PartitionField,
  { columns }: TableShape,
  file: FileEvidence,
): SourceEvidence {
  const [sourceId, ...others] = sourceIds
  const column = sourceId === undefined || others.length > 0 ? undefined : columns.get(sourceId)
  const id = column?.id ?? -1
  const decode = (bytes: Uint8Array | undefined): SingleValue | undefined =>
    column === undefined || bytes === undefined ? undefined : decodeSingleValue(column.type, bytes)
  const counted = file.nullValueCounts?.get(id)
  const isRequired = column?.required === true
  return {
    column,
    recordCount: file.recordCount,
    nullCount: counted ?? (isRequired ? 0n : undefined),
    lower: decode(file.lowerBounds?.get(id)),
    upper: decode(file.upperBounds?.get(id)),
  }
}

function valueProblem(
  field: PartitionField,
  value: PartitionValue,
  evidence: SourceEvidence,
): string | undefined {
  const { transform } = field
  if (transform.kind === 'void') return value === null ? undefined : 'expected null'
  const { column, recordCount, nullCount, lower, upper } = evidence
  if (column === undefined || !canTransform(transform, column.type)) return undefined
  if (nullCount !== undefined && nullCount > 0n && nullCount < recordCount) {
    return `column ${column.name} holds nulls beside values`
  }
  const hasValues = lower !== undefined || upper !== undefined || nullCount === 0n
  if (value === null)
    return hasValues && recordCount > 0n ? 'expected a value, got null' : undefined
  if (nullCount !== undefined && nullCount === recordCount && recordCount > 0n) {
    return `expected null, as column ${column.name} holds nothing else`
  }
  if (lower === undefined || upper === undefined) return undefined
  return rangeProblem(field, { column, lower, upper }, value)
}

interface Range {
  readonly column: NestedField
  readonly lower: SingleValue
  readonly upper: SingleValue
}

function rangeProblem(field: PartitionField, range: Range, value: SingleValue): string | undefined {
  const { column } = range
  if (FLOAT_KINDS.has(column.type.kind)) return undefined
  const span = partitionSpan(field, range)
  if (span === undefined) return undefined
  const type = transformResultType(field.transform, column.type)
  const isInside =
    compareValues(type, span.first, value) <= 0 && compareValues(type, value, span.last) <= 0
  if (!isInside) return `the bounds of column ${column.name} exclude this value`
  const isOne = compareValues(type, span.first, span.last) === 0
  if (isOne || CUT_KINDS.has(column.type.kind)) return undefined
  return `the bounds of column ${column.name} span several partitions`
}

/** The partitions of the bounds: the first and the last that values may be in. Undefined where the order is not kept. */
function partitionSpan(
  { transform }: PartitionField,
  { column, lower, upper }: Range,
): { readonly first: SingleValue; readonly last: SingleValue } | undefined {
  const isOne = compareValues(column.type, lower, upper) === 0
  if (transform.kind === 'bucket' && !isOne) return undefined
  const first = applyTransform(transform, column.type, lower)
  const last = applyTransform(transform, column.type, upper)
  return first === null || last === null ? undefined : { first, last }
}

function deriveValue(
  field: PartitionField,
  evidence: SourceEvidence,
): { readonly value: PartitionValue } | { readonly reason: string } {
  const { transform } = field
  if (transform.kind === 'void') return { value: null }
  const { column, recordCount, nullCount, lower, upper } = evidence
  if (column === undefined || !canTransform(transform, column.type)) {
    return { reason: 'its transform cannot be applied here' }
  }
  if (nullCount === undefined) return { reason: `nulls of column ${column.name} are not counted` }
  if (nullCount === recordCount) return { value: null }
  if (nullCount > 0n) return { reason: `column ${column.name} holds nulls beside values` }
  if (FLOAT_KINDS.has(column.type.kind) || lower === undefined || upper === undefined) {
    return { reason: `column ${column.name} has no exact bounds` }
  }
  const span = partitionSpan(field, { column, lower, upper })
  const type = transformResultType(transform, column.type)
  if (span !== undefined && compareValues(type, span.first, span.last) === 0) {
    return { value: span.first }
  }
  return { reason: `the bounds of column ${column.name} span several partitions` }
}

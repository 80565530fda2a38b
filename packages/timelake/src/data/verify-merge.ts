import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import type { Schema } from '@timelake/iceberg/spec/schema'
import { compareValues, decodeSingleValue } from '@timelake/iceberg/spec/single-value'
import type { IcebergType, NestedField } from '@timelake/iceberg/spec/type'
import { chunksOf } from '../footer/chunk-statistics.ts'
import type { ColumnFacts } from '../footer/column-metrics.ts'
import { canBeMissing } from '../footer/stored-column.ts'
import { defaultValueText } from './default-value.ts'
import type { EngineRow } from './duckdb.ts'
import { isFloat } from './merge-sql.ts'
import type { ParquetFooter } from '../footer/parquet-footer.ts'

/** One input of a merge: what its manifest entry claims and what its footer says. */
export interface MergeInput {
  readonly dataFile: DataFile
  readonly footer: ParquetFooter
}

export interface MergeOutput {
  readonly footer: ParquetFooter
  readonly facts: ReadonlyMap<number, ColumnFacts>
}

/** A merge whose output is not what its inputs were. The output must not be committed. */
export class MergeMismatchError extends Error {
  override readonly name = 'MergeMismatchError'
}

/**
 * Proves from manifests and footers (neither comes from the engine) that the output holds the rows of the inputs:
 * row count, null count per column, bounds within the bounds of the inputs. Throws MergeMismatchError naming the first
 * difference. A metric that an input does not have proves nothing and is not missed.
 */
export function verifyMerge(
  inputs: readonly MergeInput[],
  output: MergeOutput,
  schema: Schema,
): void {
  for (const input of inputs) verifyClaims(input, schema)
  const rowsIn = inputs.reduce((sum, { dataFile }) => sum + dataFile.recordCount, 0n)
  if (output.footer.rowCount !== rowsIn) {
    throw new MergeMismatchError(
      `expected ${rowsIn} rows, the merged file has ${output.footer.rowCount}`,
    )
  }
  for (const column of schema.fields) {
    const facts = output.facts.get(column.id)
    if (facts === undefined) throw new MergeMismatchError(`column ${column.name} is missing`)
    if (facts.valueCount !== rowsIn) {
      throw new MergeMismatchError(
        `column ${column.name}: expected ${rowsIn} values, got ${facts.valueCount}`,
      )
    }
    verifyNulls(inputs, facts, column)
    verifyBounds(inputs, facts, column)
  }
}

/** The checksums of the inputs and of the output must be the same row. Throws MergeMismatchError naming the member. */
export function verifyChecksums(inputs: EngineRow, output: EngineRow): void {
  for (const [name, expected] of Object.entries(inputs)) {
    if (output[name] === expected) continue
    throw new MergeMismatchError(`checksum ${name}: expected ${expected}, got ${output[name]}`)
  }
}

/** The manifest must describe the file that is there: a wrong description is never merged into a new one. */
function verifyClaims({ dataFile, footer }: MergeInput, schema: Schema): void {
  const { filePath, recordCount } = dataFile
  if (footer.rowCount !== recordCount) {
    throw new MergeMismatchError(
      `file ${filePath}: the manifest says ${recordCount} rows, the footer ${footer.rowCount}`,
    )
  }
  for (const column of schema.fields) {
    const claimed = dataFile.nullValueCounts?.get(column.id)
    const stored = storedNulls(footer, column)
    if (claimed === undefined || stored === undefined || claimed === stored) continue
    throw new MergeMismatchError(
      `file ${filePath} column ${column.name}: the manifest says ${claimed} nulls, the footer ${stored}`,
    )
  }
}

/** Nulls of a column by the footer; undefined when the file lacks the column or the statistic. */
function storedNulls(footer: ParquetFooter, column: NestedField): bigint | undefined {
  const element = footer.columns.find(({ fieldId }) => fieldId === column.id)
  if (element === undefined) return undefined
  let total = 0n
  for (const { nullCount } of chunksOf(footer, element.name)) {
    if (nullCount === undefined) return element.repetition === 'required' ? 0n : undefined
    total += nullCount
  }
  return total
}

function verifyNulls(inputs: readonly MergeInput[], facts: ColumnFacts, column: NestedField): void {
  let expected = 0n
  for (const { dataFile, footer } of inputs) {
    const isStored = footer.columns.some(({ fieldId }) => fieldId === column.id)
    const nulls = isStored
      ? (dataFile.nullValueCounts?.get(column.id) ?? storedNulls(footer, column))
      : missingNulls(footer, column)
    if (nulls === undefined) return
    expected += nulls
  }
  if (facts.nullCount === expected) return
  throw new MergeMismatchError(
    `column ${column.name}: expected ${expected} nulls, got ${facts.nullCount}`,
  )
}

/** Rows of a file without the column read as the initial default, else null. */
function missingNulls(footer: ParquetFooter, column: NestedField): bigint {
  if (!canBeMissing(column)) throw new MergeMismatchError(`a file lacks column ${column.name}`)
  return defaultValueText(column) === undefined ? footer.rowCount : 0n
}

function verifyBounds(
  inputs: readonly MergeInput[],
  facts: ColumnFacts,
  column: NestedField,
): void {
  const { id, name, type } = column
  const withRows = inputs.filter(({ dataFile, footer }) => {
    const isStored = footer.columns.some(({ fieldId }) => fieldId === id)
    return isStored
      ? dataFile.nullValueCounts?.get(id) !== dataFile.recordCount
      : hasDefault(column)
  })
  const lowers = withRows.map(({ dataFile }) => dataFile.lowerBounds?.get(id))
  const uppers = withRows.map(({ dataFile }) => dataFile.upperBounds?.get(id))
  if (facts.lower !== undefined && outside(lowers, facts.lower, { type, sign: -1 })) {
    throw new MergeMismatchError(`column ${name}: a value lies below the inputs' lower bounds`)
  }
  if (facts.upper !== undefined && outside(uppers, facts.upper, { type, sign: 1 })) {
    throw new MergeMismatchError(`column ${name}: a value lies above the inputs' upper bounds`)
  }
}

function hasDefault(column: NestedField): boolean {
  return defaultValueText(column) !== undefined
}

/** Whether the output's bound lies beyond every input's. An input without the bound excludes nothing. */
function outside(
  bounds: readonly (Uint8Array | undefined)[],
  found: Uint8Array,
  { type, sign }: { type: IcebergType; sign: -1 | 1 },
): boolean {
  if (bounds.length === 0) return false
  return bounds.every((bound) => {
    if (bound === undefined) return false
    return sign * compareBounds(type, found, bound) > 0
  })
}

/**
 * Text and binary bounds may be prefixes, so they are compared on the bytes that both have. Zeros of both signs count
 * as equal: ours cover both, and writers differ.
 */
function compareBounds(type: IcebergType, found: Uint8Array, bound: Uint8Array): number {
  if (isFloat(type)) {
    return Number(decodeSingleValue(type, found)) - Number(decodeSingleValue(type, bound))
  }
  if (type.kind !== 'string' && type.kind !== 'binary') {
    return compareValues(type, decodeSingleValue(type, found), decodeSingleValue(type, bound))
  }
  const lengthBytes = Math.min(found.length, bound.length)
  return Buffer.compare(found.subarray(0, lengthBytes), bound.subarray(0, lengthBytes))
}

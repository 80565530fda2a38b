import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import type { Schema } from '@timelake/iceberg/spec/schema'
import {
  compareValues,
  decodeSingleValue,
  encodeSingleValue,
} from '@timelake/iceberg/spec/single-value'
import type { IcebergType, NestedField } from '@timelake/iceberg/spec/type'
import type { MetricsMode } from '../contract/metrics-mode.ts'
import type { EngineRow } from './duckdb.ts'
import { columnAlias, isFloat, scanSql } from './merge-sql.ts'
import type { ParquetColumnChunk, ParquetFooter } from './parquet-footer.ts'

/**
 * What is known of one column of one written file. Bounds are Appendix-D bytes of real values: exact, except that a
 * text or binary bound holds at least one unit more than its metrics mode keeps, so that it can be rounded.
 */
export interface ColumnFacts {
  readonly storedSizeBytes: bigint
  readonly valueCount: bigint
  readonly nullCount: bigint
  /** Only of float and double columns. */
  readonly nanCount?: bigint
  readonly lower?: Uint8Array
  readonly upper?: Uint8Array
}

/** One more than the usual truncation, for columns whose bounds only the verification needs. */
const PREFIX_LENGTH_DEFAULT = 17

/**
 * The statement that finds what footers do not tell: text and binary bounds (footers cut or omit long ones) and NaN
 * counts and bounds of floats (footers omit the bounds when there is a NaN). Undefined when there are no such columns.
 */
export function measureSql(
  localPath: string,
  schema: Schema,
  modes: ReadonlyMap<number, MetricsMode>,
): string | undefined {
  const parts = schema.fields.flatMap((field) => measures(field, modes.get(field.id)))
  if (parts.length === 0) return undefined
  return `SELECT ${parts.join(', ')} FROM ${scanSql([localPath], schema)}`
}

function measures({ id, type }: NestedField, mode: MetricsMode | undefined): string[] {
  const column = columnAlias(id)
  if (isFloat(type)) {
    const real = `FILTER (NOT isnan(${column}))`
    const nans = `count(*) FILTER (isnan(${column})) AS nan_${id}`
    return [`min(${column}) ${real} AS low_${id}`, `max(${column}) ${real} AS high_${id}`, nans]
  }
  if (type.kind !== 'string' && type.kind !== 'binary') return []
  const length = mode?.kind === 'truncate' ? mode.length + 1 : PREFIX_LENGTH_DEFAULT
  // Cutting to a prefix keeps the order, so the least prefix is the prefix of the least value.
  const text = type.kind === 'string' ? column : `hex(${column})`
  const unit = type.kind === 'string' ? 1 : 2
  const cut = mode?.kind === 'full' ? text : `left(${text}, ${length * unit})`
  return [`min(${cut}) AS low_${id}`, `max(${cut}) AS high_${id}`]
}

/**
 * Facts of every column of a file that `schema` describes, by field id, from its footer and from the row that
 * `measureSql` returned. Throws CorruptFileError when the footer lacks a column or a null count.
 */
export function columnFacts(
  footer: ParquetFooter,
  schema: Schema,
  measured: EngineRow,
): ReadonlyMap<number, ColumnFacts> {
  const facts = new Map<number, ColumnFacts>()
  for (const field of schema.fields) {
    const index = footer.columns.findIndex(({ fieldId }) => fieldId === field.id)
    const element = footer.columns[index]
    if (element === undefined) throw new CorruptFileError(`column ${field.id} was not written`)
    const chunks = chunksOf(footer, element.name)
    facts.set(field.id, { ...counts(chunks, field), ...bounds(chunks, field, measured) })
  }
  return facts
}

/** The chunks of a top-level leaf, one per row group. */
export function chunksOf(footer: ParquetFooter, name: string): readonly ParquetColumnChunk[] {
  return footer.rowGroups.flatMap(({ columns }) =>
    columns.filter(({ path }) => path.length === 1 && path[0] === name),
  )
}

function counts(chunks: readonly ParquetColumnChunk[], field: NestedField) {
  const add = (of: (chunk: ParquetColumnChunk) => bigint): bigint =>
    chunks.reduce((sum, chunk) => sum + of(chunk), 0n)
  return {
    storedSizeBytes: add(({ compressedSizeBytes }) => compressedSizeBytes),
    valueCount: add(({ valueCount }) => valueCount),
    nullCount: add(({ nullCount }) => {
      if (nullCount !== undefined) return nullCount
      throw new CorruptFileError(`the footer has no null count of column ${field.id}`)
    }),
  }
}

function bounds(chunks: readonly ParquetColumnChunk[], field: NestedField, measured: EngineRow) {
  const { id, type } = field
  if (isFloat(type)) return floatBounds(field, measured)
  if (type.kind === 'string' || type.kind === 'binary') {
    const decode = type.kind === 'string' ? utf8 : unhex
    const low = measured[`low_${id}`]
    const high = measured[`high_${id}`]
    return present(
      typeof low === 'string' ? decode(low) : undefined,
      typeof high === 'string' ? decode(high) : undefined,
    )
  }
  const filled = chunks.filter(({ nullCount, valueCount }) => nullCount !== valueCount)
  return present(
    extreme(
      filled.map(({ min }) => min),
      type,
      -1,
    ),
    extreme(
      filled.map(({ max }) => max),
      type,
      1,
    ),
  )
}

function floatBounds({ id, type }: NestedField, measured: EngineRow) {
  const low = measured[`low_${id}`]
  const high = measured[`high_${id}`]
  const nans = measured[`nan_${id}`]
  // A zero bound must cover zeros of both signs, which the engine does not tell apart.
  const lower = typeof low === 'number' ? encodeSingleValue(type, low === 0 ? -0 : low) : undefined
  const upper =
    typeof high === 'number' ? encodeSingleValue(type, high === 0 ? 0 : high) : undefined
  return { ...present(lower, upper), ...(typeof nans === 'bigint' ? { nanCount: nans } : {}) }
}

function present(lower: Uint8Array | undefined, upper: Uint8Array | undefined) {
  return { ...(lower === undefined ? {} : { lower }), ...(upper === undefined ? {} : { upper }) }
}

/** The least (sign −1) or greatest (sign 1) statistic as Appendix-D bytes; none when a chunk has none. */
function extreme(
  statistics: readonly (Uint8Array | undefined)[],
  type: IcebergType,
  sign: -1 | 1,
): Uint8Array | undefined {
  let best: Uint8Array | undefined
  for (const statistic of statistics) {
    if (statistic === undefined) return undefined
    const bytes = singleValueBytes(statistic, type)
    const isBetter =
      best === undefined ||
      sign * compareValues(type, decodeSingleValue(type, bytes), decodeSingleValue(type, best)) > 0
    if (isBetter) best = bytes
  }
  return best
}

/**
 * Statistic bytes as Appendix-D bytes: equal for every type but decimals, which Parquet stores little-endian in
 * integers or at full width, and Iceberg as the shortest big-endian two's complement.
 */
export function singleValueBytes(statistic: Uint8Array, type: IcebergType): Uint8Array {
  if (type.kind !== 'decimal') return statistic.slice()
  const isInteger = type.precision <= 18
  return shortest(isInteger ? statistic.slice().reverse() : statistic.slice())
}

function shortest(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < bytes.length - 1) {
    const byte = bytes[start]
    const isNextNegative = ((bytes[start + 1] ?? 0) & 0x80) !== 0
    const isPadding = (byte === 0 && !isNextNegative) || (byte === 255 && isNextNegative)
    if (!isPadding) break
    start++
  }
  return bytes.subarray(start)
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function unhex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}

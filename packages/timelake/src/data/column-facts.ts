import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import type { Schema } from '@timelake/iceberg/spec/schema'
import { encodeSingleValue } from '@timelake/iceberg/spec/single-value'
import type { NestedField } from '@timelake/iceberg/spec/type'
import type { MetricsMode } from '../contract/metrics-mode.ts'
import { chunksOf, extremeStatistic } from '../footer/chunk-statistics.ts'
import type { ColumnFacts } from '../footer/column-metrics.ts'
import type {
  ParquetColumnChunk,
  ParquetFooter,
  ParquetPhysicalType,
} from '../footer/parquet-footer.ts'
import type { EngineRow } from './duckdb.ts'
import { columnAlias, isFloat, scanSql } from './merge-sql.ts'

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
    const { physicalType } = element
    const found = { field, physicalType, measured }
    facts.set(field.id, { ...counts(chunks, field), ...bounds(chunks, found) })
  }
  return facts
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

interface FoundColumn {
  readonly field: NestedField
  readonly physicalType: ParquetPhysicalType | undefined
  readonly measured: EngineRow
}

function bounds(
  chunks: readonly ParquetColumnChunk[],
  { field, physicalType, measured }: FoundColumn,
) {
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
  const stored = { type, physicalType }
  return present(extremeStatistic(chunks, stored, -1), extremeStatistic(chunks, stored, 1))
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

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function unhex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}

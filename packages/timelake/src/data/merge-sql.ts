import type { Schema } from '@timelake/iceberg/spec/schema'
import type { IcebergType, NestedField } from '@timelake/iceberg/spec/type'
import { invariant } from '@timelake/iceberg/spec/invariant'
import type { MergeOrder, MergeOrderTerm } from '../contract/merge-order.ts'
import { defaultValueText } from './default-value.ts'

/** Rows of one row group, the engine's own vector multiple; sorted files prune by it. */
const ROW_GROUP_ROW_COUNT = 122_880

/**
 * The engine's column type that carries an Iceberg type exactly. Only types that `unmergeableColumnReason` lets through.
 */
export function engineType(type: IcebergType): string {
  switch (type.kind) {
    case 'boolean':
    case 'float':
    case 'double':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'uuid':
      return type.kind.toUpperCase()
    case 'int':
      return 'INTEGER'
    case 'long':
      return 'BIGINT'
    case 'timestamptz':
      return 'TIMESTAMP WITH TIME ZONE'
    case 'string':
      return 'VARCHAR'
    case 'binary':
      return 'BLOB'
    case 'decimal':
      return `DECIMAL(${type.precision}, ${type.scale})`
    default:
      invariant(false, `column type ${type.kind} cannot be merged and should have been refused`)
  }
}

/** The name of a column inside queries: names of tables may hold anything, ids cannot. */
export function columnAlias(fieldId: number): string {
  return `c${fieldId}`
}

/**
 * A table expression over Parquet files whose columns are matched by field id and named `c<id>`. A column that a file
 * does not hold reads as its initial default, else null (Spec: Column Projection); narrower types are widened.
 */
export function scanSql(localPaths: readonly string[], schema: Schema): string {
  const entries = schema.fields.map((column) => {
    const value = defaultValueText(column)
    const defaultSql = value === undefined ? 'NULL' : quoteText(value)
    const type = quoteText(engineType(column.type))
    const name = quoteText(columnAlias(column.id))
    return `${column.id}: {name: ${name}, type: ${type}, default_value: ${defaultSql}}`
  })
  const paths = localPaths.map(quoteText).join(', ')
  return `read_parquet([${paths}], schema = MAP {${entries.join(', ')}})`
}

export interface CopyStatement {
  readonly inputPaths: readonly string[]
  readonly outputPath: string
  readonly schema: Schema
  readonly order: MergeOrder
  /**
   * Whether a float of −0 is among the rows. The engine's dictionaries take zeros of both signs for one value, so there
   * are none then.
   */
  readonly hasNegativeZero: boolean
}

/**
 * One COPY into one file, the only form whose row order is kept. Rows are in merge order, or in the order of the files
 * when the table has none. Columns carry the table's names and field ids.
 */
export function copySql(statement: CopyStatement): string {
  const { fields } = statement.schema
  const columns = fields.map((field) => `${columnAlias(field.id)} AS ${quoteName(field.name)}`)
  const ids = fields.map((field) => `${quoteName(field.name)}: ${field.id}`)
  const orderBy = orderBySql(statement.order)
  const dictionary = statement.hasNegativeZero ? 'DICTIONARY_SIZE_LIMIT 0, ' : ''
  const source = `SELECT * FROM ${scanSql(statement.inputPaths, statement.schema)}${orderBy}`
  return (
    `COPY (SELECT ${columns.join(', ')} FROM (${source})) TO ${quoteText(statement.outputPath)} ` +
    `(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE ${ROW_GROUP_ROW_COUNT}, ` +
    `${dictionary}FIELD_IDS {${ids.join(', ')}})`
  )
}

/**
 * Row count and order-independent checksums of a scan: `row_count`, `row_sum`, `row_xor` as text, `n_<id>`, the number
 * of values that are not null, per column, and `negative_zeros`, over all float columns. A lost, doubled, altered or
 * recombined row changes them.
 */
export function checksumSql(localPaths: readonly string[], schema: Schema): string {
  const parts = schema.fields.flatMap(hashParts).join(', ')
  const counts = schema.fields.map(({ id }) => `count(${columnAlias(id)}) AS n_${id}`)
  const negatives = schema.fields
    .filter(({ type }) => isFloat(type))
    .map(({ id }) => {
      const column = columnAlias(id)
      return `count(*) FILTER (${column} = 0 AND signbit(${column}))`
    })
  return (
    `SELECT ${[0, ...negatives].join(' + ')}::BIGINT AS negative_zeros, count(*) AS row_count, coalesce(sum(h::HUGEINT), 0)::VARCHAR AS row_sum, ` +
    `coalesce(bit_xor(h), 0)::VARCHAR AS row_xor, ${counts.join(', ')} ` +
    `FROM (SELECT *, hash(${parts}) AS h FROM ${scanSql(localPaths, schema)})`
  )
}

/** Zeros of both signs hash alike in the engine, so the sign is hashed beside the value. */
function hashParts({ id, type }: NestedField): string[] {
  const column = columnAlias(id)
  return isFloat(type) ? [column, `CASE WHEN ${column} = 0 THEN signbit(${column}) END`] : [column]
}

function orderBySql(order: MergeOrder): string {
  const terms = order.terms.flatMap(orderTerms)
  return terms.length === 0 ? '' : ` ORDER BY ${terms.join(', ')}`
}

function orderTerms(term: MergeOrderTerm): string[] {
  if (term.transform.kind === 'void') return []
  const suffix = `${term.direction.toUpperCase()} ${term.nullOrder.replace('-', ' ').toUpperCase()}`
  if (!isFloat(term.type)) return [`${orderKey(term)} ${suffix}`]
  // −0 sorts below +0 in Iceberg and beside it in the engine, which moreover rebuilds a column from its sort key and loses
  // the sign; so the key is an expression, and the sign is a key of its own.
  const column = columnAlias(term.columnId)
  const key = `CASE WHEN ${column} = 0 THEN 0 ELSE ${column} END`
  return [`${key} ${suffix}`, `(${column} = 0 AND NOT signbit(${column})) ${suffix}`]
}

const DAY_MICROS = '86400000000'
const HOUR_MICROS = '3600000000'

/** An expression that orders like the transform. */
function orderKey({ columnId, transform, type }: MergeOrderTerm): string {
  const column = columnAlias(columnId)
  switch (transform.kind) {
    case 'identity':
      return column
    case 'year':
      return `year(${column})`
    case 'month':
      return `(year(${column}) * 12 + month(${column}))`
    case 'day':
      return type.kind === 'date' ? column : floorSql(`epoch_us(${column})`, DAY_MICROS)
    case 'hour':
      return floorSql(`epoch_us(${column})`, HOUR_MICROS)
    case 'truncate':
      return type.kind === 'string'
        ? `left(${column}, ${transform.width})`
        : floorSql(column, String(transform.width))
    default:
      invariant(false, `sort transform ${transform.kind} should have been refused`)
  }
}

/** `value` rounded down to a multiple of `step`; wide enough for every 64-bit value. */
function floorSql(value: string, step: string): string {
  const wide = `${value}::HUGEINT`
  return `(${wide} - (((${wide} % ${step}) + ${step}) % ${step}))`
}

/** Whether values may be NaN or a zero of either sign. */
export function isFloat(type: IcebergType): boolean {
  return type.kind === 'float' || type.kind === 'double'
}

/** A text literal. */
export function quoteText(text: string): string {
  invariant(!text.includes('\0'), 'a text with a NUL character cannot be part of a statement')
  return `'${text.replaceAll("'", "''")}'`
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

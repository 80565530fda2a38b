import type { SingleValue } from '../spec/single-value.ts'
import type { PrimitiveType } from '../spec/type.ts'

/** Column metrics of many files, file by file: what a filter asks of a manifest. Rows are numbered from 0. */
export interface MetricsTable {
  readonly rowCount: number
  /** Records of a file; never negative. */
  recordCount(row: number): number
  /** Undefined when no file of the table has any. The caller asks once for a column and then row by row. */
  counts(fieldId: number): CountColumn | undefined
  /**
   * Bounds read as values of the type that the column has in the scan's schema. Undefined when no file has any. A bound that
   * cannot be read (wrong length, not UTF-8, NaN) is absent.
   */
  bounds(fieldId: number, type: PrimitiveType): BoundsColumn | undefined
}

/** Counts that are absent are −1. */
export interface CountColumn {
  valueCount(row: number): number
  nullCount(row: number): number
  nanCount(row: number): number
}

/** Values of files may be cut: a lower bound is not above any value, an upper bound not below any. */
export interface BoundsColumn {
  lower(row: number): SingleValue | undefined
  upper(row: number): SingleValue | undefined
  /**
   * The same where all bounds are 64-bit integers or finite doubles and none is absent: a filter may then compare in a loop
   * without a call for each row.
   */
  readonly dense?: {
    readonly lower: BigInt64Array | Float64Array | Int32Array
    readonly upper: BigInt64Array | Float64Array | Int32Array
  }
}

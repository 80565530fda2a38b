import {
  compareValues,
  decodeSingleValue,
  encodeSingleValue,
  type SingleValue,
} from '@timelake/iceberg/spec/single-value'
import type { IcebergType } from '@timelake/iceberg/spec/type'
import type { ParquetColumnChunk, ParquetFooter, ParquetPhysicalType } from './parquet-footer.ts'

/** The chunks of a top-level leaf, one per row group. */
export function chunksOf(footer: ParquetFooter, name: string): readonly ParquetColumnChunk[] {
  return footer.rowGroups.flatMap(({ columns }) =>
    columns.filter(({ path }) => path.length === 1 && path[0] === name),
  )
}

/** A column's type and the form that its values have in the file. */
export interface StoredType {
  readonly type: IcebergType
  readonly physicalType: ParquetPhysicalType | undefined
}

/**
 * The least (sign −1) or greatest (sign 1) statistic of the chunks with values, as Appendix-D bytes of the type; undefined
 * when one of them has none. Statistics of a narrower type (an int that is a long by now) are widened.
 */
export function extremeStatistic(
  chunks: readonly ParquetColumnChunk[],
  stored: StoredType,
  sign: -1 | 1,
): Uint8Array | undefined {
  const { type } = stored
  let best: SingleValue | undefined
  for (const { nullCount, valueCount, min, max } of chunks) {
    if (nullCount === valueCount) continue
    const statistic = sign < 0 ? min : max
    if (statistic === undefined) return undefined
    const value = decodeSingleValue(type, singleValueBytes(statistic, stored))
    if (best === undefined || sign * compareValues(type, value, best) > 0) best = value
  }
  return best === undefined ? undefined : encodeSingleValue(type, best)
}

/**
 * Statistic bytes as Appendix-D bytes: equal for every type but decimals, which Parquet stores little-endian in
 * integers or at full width, and Iceberg as the shortest big-endian two's complement.
 */
function singleValueBytes(statistic: Uint8Array, { type, physicalType }: StoredType): Uint8Array {
  if (type.kind !== 'decimal') return statistic
  const isInteger = physicalType === 'INT32' || physicalType === 'INT64'
  return shortest(isInteger ? statistic.slice().reverse() : statistic)
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

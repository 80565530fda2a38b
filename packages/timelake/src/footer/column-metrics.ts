import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import type { Schema } from '@timelake/iceberg/spec/schema'
import type { IcebergType } from '@timelake/iceberg/spec/type'
import type { MetricsMode } from '../contract/metrics-mode.ts'
import {
  truncateBytesDown,
  truncateBytesUp,
  truncateTextDown,
  truncateTextUp,
} from '../contract/truncate-bound.ts'
import type { ParquetFooter } from './parquet-footer.ts'

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

/** The same of a file that somebody else wrote: nulls may not be counted. */
export type KnownFacts = Omit<ColumnFacts, 'nullCount'> & { readonly nullCount?: bigint }

type Metrics = Required<
  Pick<
    DataFile,
    | 'columnSizesBytes'
    | 'valueCounts'
    | 'nullValueCounts'
    | 'nanValueCounts'
    | 'lowerBounds'
    | 'upperBounds'
  >
>

/**
 * The metrics that a manifest entry carries, cut to each column's mode. Bounds of text and binary are cut at code
 * points or bytes, the upper one rounded up and left out when it cannot be. Spec: Data File Fields 108 to 137.
 */
export function columnMetrics(
  facts: ReadonlyMap<number, KnownFacts>,
  schema: Schema,
  modes: ReadonlyMap<number, MetricsMode>,
): Metrics {
  const columnSizesBytes = new Map<number, bigint>()
  const valueCounts = new Map<number, bigint>()
  const nullValueCounts = new Map<number, bigint>()
  const nanValueCounts = new Map<number, bigint>()
  const lowerBounds = new Map<number, Uint8Array>()
  const upperBounds = new Map<number, Uint8Array>()
  for (const { id, type } of schema.fields) {
    const column = facts.get(id)
    const mode = modes.get(id)
    if (column === undefined || mode === undefined) continue
    columnSizesBytes.set(id, column.storedSizeBytes)
    if (mode.kind === 'none') continue
    valueCounts.set(id, column.valueCount)
    if (column.nullCount !== undefined) nullValueCounts.set(id, column.nullCount)
    if (column.nanCount !== undefined) nanValueCounts.set(id, column.nanCount)
    if (mode.kind === 'counts') continue
    const lower = column.lower && cut(column.lower, { type, mode, up: false })
    const upper = column.upper && cut(column.upper, { type, mode, up: true })
    if (lower !== undefined) lowerBounds.set(id, lower)
    if (upper !== undefined) upperBounds.set(id, upper)
  }
  return {
    columnSizesBytes,
    valueCounts,
    nullValueCounts,
    nanValueCounts,
    lowerBounds,
    upperBounds,
  }
}

/** Where each row group starts, in order. Spec: field 132. */
export function splitOffsets(footer: ParquetFooter): readonly bigint[] {
  return footer.rowGroups.map(({ columns }) =>
    columns.reduce(
      (least, { startOffset }) => (least < 0n || startOffset < least ? startOffset : least),
      -1n,
    ),
  )
}

interface Cut {
  readonly type: IcebergType
  readonly mode: MetricsMode
  readonly up: boolean
}

function cut(bound: Uint8Array, { type, mode, up }: Cut): Uint8Array | undefined {
  if (mode.kind !== 'truncate') return bound
  if (type.kind === 'binary') {
    return up ? truncateBytesUp(bound, mode.length) : truncateBytesDown(bound, mode.length)
  }
  if (type.kind !== 'string') return bound
  const text = new TextDecoder().decode(bound)
  const kept = up ? truncateTextUp(text, mode.length) : truncateTextDown(text, mode.length)
  return kept === undefined ? undefined : new TextEncoder().encode(kept)
}

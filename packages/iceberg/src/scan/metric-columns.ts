import { printPrimitiveType } from '../spec/type-json.ts'
import type { PrimitiveType } from '../spec/type.ts'
import type { BoundsColumn, CountColumn } from './metrics-table.ts'
import { NumberColumnBuilder, type NumberColumn } from './number-column.ts'
import { StoredBoundsBuilder, type StoredBounds } from './stored-bounds.ts'
import { typedBounds } from './typed-bounds.ts'
import { BOUND, boundIndex, COUNT, COUNTS_PER_COLUMN, type WalkedEntry } from './walked-entry.ts'

/** The metrics of one column in all files of a manifest. */
export class MetricColumn {
  private readonly numbers: readonly NumberColumn[]
  readonly lower: StoredBounds
  readonly upper: StoredBounds
  private readonly typed = new Map<string, { column: BoundsColumn; sizeBytes: number }>()

  constructor(
    numbers: readonly NumberColumn[],
    bounds: { readonly lower: StoredBounds; readonly upper: StoredBounds },
  ) {
    this.numbers = numbers
    this.lower = bounds.lower
    this.upper = bounds.upper
  }

  get sizeBytes(): number {
    let sum = this.lower.sizeBytes + this.upper.sizeBytes
    for (const { sizeBytes } of this.numbers) sum += sizeBytes
    for (const { sizeBytes } of this.typed.values()) sum += sizeBytes
    return sum
  }

  /** One of COUNT. */
  count(count: number, row: number): bigint | undefined {
    return this.numbers[count]?.at(row)
  }

  get counts(): CountColumn {
    return {
      valueCount: (row) => this.countOrLess(COUNT.values, row),
      nullCount: (row) => this.countOrLess(COUNT.nulls, row),
      nanCount: (row) => this.countOrLess(COUNT.nans, row),
    }
  }

  private countOrLess(count: number, row: number): number {
    const value = this.numbers[count]?.numberAt(row) ?? Number.NaN
    return Number.isNaN(value) ? -1 : value
  }

  bounds(type: PrimitiveType): BoundsColumn | undefined {
    if (this.lower.isEmpty && this.upper.isEmpty) return undefined
    const key = printPrimitiveType(type)
    const known = this.typed.get(key)
    if (known !== undefined) return known.column
    const made = typedBounds(type, this.lower, this.upper)
    this.typed.set(key, made)
    return made.column
  }
}

/** Collects the metrics of wanted columns from the entries of a walk. */
export class MetricColumnsBuilder {
  private readonly fieldIds: readonly number[]
  private readonly numbers: readonly NumberColumnBuilder[]
  private readonly bounds: readonly StoredBoundsBuilder[]

  constructor(fieldIds: readonly number[], capacity: number) {
    this.fieldIds = fieldIds
    this.numbers = Array.from(
      { length: fieldIds.length * COUNTS_PER_COLUMN },
      () => new NumberColumnBuilder(capacity),
    )
    this.bounds = Array.from(
      { length: fieldIds.length * 2 },
      () => new StoredBoundsBuilder(capacity),
    )
  }

  push(entry: WalkedEntry): void {
    this.numbers.forEach((builder, index) => {
      builder.pushNumber(entry.counts[index] ?? Number.NaN)
    })
    this.bounds.forEach((builder, index) => {
      const start = entry.bounds[2 * index] ?? -1
      builder.push(entry.bytes, start, entry.bounds[2 * index + 1] ?? -1)
    })
  }

  finish(): Map<number, MetricColumn> {
    return new Map(
      this.fieldIds.map((fieldId, place) => {
        const first = place * COUNTS_PER_COLUMN
        const numbers = this.numbers.slice(first, first + COUNTS_PER_COLUMN)
        return [
          fieldId,
          new MetricColumn(
            numbers.map((builder) => builder.finish()),
            { lower: this.boundsOf(place, BOUND.lower), upper: this.boundsOf(place, BOUND.upper) },
          ),
        ]
      }),
    )
  }

  private boundsOf(place: number, bound: 0 | 1): StoredBounds {
    return (this.bounds[boundIndex(place, bound) / 2] ?? new StoredBoundsBuilder(0)).finish()
  }
}

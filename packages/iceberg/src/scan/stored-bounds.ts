import { BytePool, type ByteStrings } from './byte-pool.ts'
import { DistinctBytes } from './distinct-bytes.ts'
import { NumberColumnBuilder, type NumberColumn } from './number-column.ts'

/** Above this part of the rows, distinct bounds cost more than they save. */
const DISTINCT_SHARE_MAX = 1 / 4

/** The lower or the upper bounds of a column in all files, as they are stored. */
export class StoredBounds {
  private strings: ByteStrings
  /** For each row the index of its bound; undefined while each has its own. */
  private indexes: NumberColumn | undefined
  readonly rowCount: number
  /** Whether equal bounds are kept once. */
  private isRepeated = false

  constructor(
    strings: ByteStrings,
    rows: { readonly rowCount: number; readonly indexes?: NumberColumn },
  ) {
    this.strings = strings
    this.rowCount = rows.rowCount
    this.indexes = rows.indexes
  }

  /** Undefined where a file has none. */
  at(row: number): Uint8Array | undefined {
    const index = this.indexAt(row)
    return Number.isNaN(index) ? undefined : this.strings.at(index)
  }

  /** Which of `values` a file has; NaN for none. */
  indexAt(row: number): number {
    return this.indexes === undefined ? row : this.indexes.numberAt(row)
  }

  get values(): ByteStrings {
    return this.strings
  }

  /** Of all rows, one after the other: undefined when one has none, or equal ones are kept once. */
  get all(): ByteStrings | undefined {
    return this.indexes === undefined ? this.strings : undefined
  }

  get isEmpty(): boolean {
    return this.strings.length === 0
  }

  get sizeBytes(): number {
    return this.strings.sizeBytes + (this.indexes?.sizeBytes ?? 0)
  }

  /** Keeps equal bounds once from now on, unless they are too few; answers whether they are. */
  repeat(): boolean {
    if (this.isRepeated) return true
    const distinct = new DistinctBytes()
    const indexes = new NumberColumnBuilder(this.rowCount)
    for (let row = 0; row < this.rowCount; row += 1) {
      const bytes = this.at(row)
      indexes.pushNumber(bytes === undefined ? Number.NaN : distinct.add(bytes, 0, bytes.length))
      if (distinct.count > 1 + this.rowCount * DISTINCT_SHARE_MAX) return false
    }
    this.strings = distinct.finish()
    this.indexes = indexes.finish()
    this.isRepeated = true
    return true
  }
}

/** Collects the bounds of rows 0, 1, 2 … */
export class StoredBoundsBuilder {
  private readonly pool = new BytePool()
  /** Only once a row came without a bound. */
  private indexes: NumberColumnBuilder | undefined = undefined
  private readonly capacity: number
  private presentCount = 0
  private rowCount = 0

  constructor(capacity: number) {
    this.capacity = capacity
  }

  /** `start` is below 0 for a row without a bound. */
  push(source: Uint8Array, start: number, end: number): void {
    if (start < 0) {
      this.indexes ??= this.counted()
      this.indexes.pushNumber(Number.NaN)
    } else {
      this.pool.push(source, start, end)
      this.indexes?.pushNumber(this.presentCount)
      this.presentCount += 1
    }
    this.rowCount += 1
  }

  finish(): StoredBounds {
    const { rowCount } = this
    const strings = this.pool.finish()
    if (this.indexes === undefined) return new StoredBounds(strings, { rowCount })
    return new StoredBounds(strings, { rowCount, indexes: this.indexes.finish() })
  }

  private counted(): NumberColumnBuilder {
    const indexes = new NumberColumnBuilder(this.capacity)
    for (let row = 0; row < this.rowCount; row += 1) indexes.pushNumber(row)
    return indexes
  }
}

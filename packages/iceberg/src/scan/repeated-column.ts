import { DistinctBytes } from './distinct-bytes.ts'
import { NumberColumnBuilder, type NumberColumn } from './number-column.ts'

/** Values of rows of which many are the same, each kept once. */
export interface RepeatedColumn<Value> {
  /** The distinct values. */
  readonly values: readonly Value[]
  /** For each row the index of its value. */
  readonly indexes: NumberColumn
  /** About. */
  readonly sizeBytes: number
}

/** Values that are kept as they are stored: of each row a long one may be another. */
export interface StoredColumn<Value> {
  /** Decoded anew unless the row asked before has the same value. */
  at(row: number): Value
  readonly sizeBytes: number
}

/** What a short array or text takes. */
const VALUE_BYTES = 64

/**
 * Collects values by the bytes that they are stored as: equal bytes are kept and decoded once. Rows tend to follow a row of
 * the same value, which costs no look-up.
 */
export class RepeatedColumnBuilder<Value> {
  private readonly decode: (bytes: Uint8Array) => Value
  private readonly distinct = new DistinctBytes()
  private readonly indexes: NumberColumnBuilder
  private last = new Uint8Array(0)
  private lastLength = -1
  private lastIndex = Number.NaN

  constructor(capacity: number, decode: (bytes: Uint8Array) => Value) {
    this.indexes = new NumberColumnBuilder(capacity)
    this.decode = decode
  }

  /** The bytes between `start` and `end`. */
  push(source: Uint8Array, start: number, end: number): void {
    if (!this.isLast(source, start, end)) {
      this.lastIndex = this.distinct.add(source, start, end)
      this.remember(source, start, end)
    }
    this.indexes.pushNumber(this.lastIndex)
  }

  /** Throws what `decode` throws. */
  finish(): RepeatedColumn<Value> {
    const indexes = this.indexes.finish()
    const strings = this.distinct.finish()
    const values = Array.from({ length: strings.length }, (_, index) =>
      this.decode(strings.at(index).slice()),
    )
    const sizeBytes = indexes.sizeBytes + values.length * VALUE_BYTES + 2 * strings.pool.length
    return { values, indexes, sizeBytes }
  }

  finishStored(): StoredColumn<Value> {
    const { decode } = this
    const indexes = this.indexes.finish()
    const strings = this.distinct.finish()
    let known: { readonly index: number; readonly value: Value } | undefined
    return {
      at: (row) => {
        const index = indexes.numberAt(row)
        if (known?.index !== index) known = { index, value: decode(strings.at(index).slice()) }
        return known.value
      },
      sizeBytes: indexes.sizeBytes + strings.sizeBytes,
    }
  }

  private isLast(source: Uint8Array, start: number, end: number): boolean {
    const { last, lastLength } = this
    if (end - start !== lastLength) return false
    // Paths and tuples differ at their ends first.
    for (let index = lastLength - 1; index >= 0; index -= 1) {
      if (source[start + index] !== last[index]) return false
    }
    return true
  }

  private remember(source: Uint8Array, start: number, end: number): void {
    this.lastLength = end - start
    if (this.lastLength > this.last.length) this.last = new Uint8Array(this.lastLength * 2)
    for (let index = 0; index < this.lastLength; index += 1) {
      this.last[index] = source[start + index] ?? 0
    }
  }
}

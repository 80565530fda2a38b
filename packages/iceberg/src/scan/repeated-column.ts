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

/** What a short array or text takes. */
const VALUE_BYTES = 64

/**
 * Collects values by the bytes that they are stored as: equal bytes are decoded once. Rows tend to follow a row of the
 * same value, which costs no look-up.
 */
export class RepeatedColumnBuilder<Value> {
  private readonly decode: (bytes: Uint8Array) => Value
  private readonly known = new Map<string, number>()
  private readonly values: Value[] = []
  private readonly indexes: NumberColumnBuilder
  private last = new Uint8Array(0)
  private lastIndex = Number.NaN
  private storedBytes = 0

  constructor(capacity: number, decode: (bytes: Uint8Array) => Value) {
    this.indexes = new NumberColumnBuilder(capacity)
    this.decode = decode
  }

  /** The bytes between `start` and `end`. */
  push(source: Uint8Array, start: number, end: number): void {
    if (Number.isNaN(this.lastIndex) || !this.isLast(source, start, end)) {
      this.last = source.slice(start, end)
      this.lastIndex = this.indexOf(this.last)
    }
    this.indexes.pushNumber(this.lastIndex)
  }

  finish(): RepeatedColumn<Value> {
    const indexes = this.indexes.finish()
    const sizeBytes = indexes.sizeBytes + this.values.length * VALUE_BYTES + 2 * this.storedBytes
    return { values: this.values, indexes, sizeBytes }
  }

  private isLast(source: Uint8Array, start: number, end: number): boolean {
    const { last } = this
    if (end - start !== last.length) return false
    // Paths and tuples differ at their ends first.
    for (let index = last.length - 1; index >= 0; index -= 1) {
      if (source[start + index] !== last[index]) return false
    }
    return true
  }

  private indexOf(bytes: Uint8Array): number {
    const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    const known = this.known.get(key)
    if (known !== undefined) return known
    const index = this.values.push(this.decode(bytes)) - 1
    this.known.set(key, index)
    this.storedBytes += bytes.length
    return index
  }
}

/** Integers of the rows of a table in as few bytes as they need. */
export interface NumberColumn {
  /** Undefined where the row has none. */
  at(row: number): bigint | undefined
  /** As a double: exact below 2^53. NaN where the row has none. */
  numberAt(row: number): number
  readonly sizeBytes: number
}

/** The least value is taken as the mark of a row without one. */
const ABSENT_INT32 = -0x8000_0000
const INT32_MAX = 0x7fff_ffff
const BYTE_MAX = 0xff
const TWO_BYTES_MAX = 0xffff
const CAPACITY_MIN = 64

/** Collects the integers of rows 0, 1, 2 … While all are the same they take no memory. */
export class NumberColumnBuilder {
  private readonly capacity: number
  /** Of all rows while there are no `numbers`. */
  private first = Number.NaN
  /** The same when a double cannot hold it. */
  private firstLong: bigint | undefined = undefined
  private numbers: Float64Array | undefined = undefined
  /** Only once a value came that a double cannot hold. */
  private longs: BigInt64Array | undefined = undefined
  private length = 0
  private isPlain = true
  private least = Number.POSITIVE_INFINITY
  private most = Number.NEGATIVE_INFINITY

  constructor(capacity: number) {
    this.capacity = Math.max(CAPACITY_MIN, capacity)
  }

  /** NaN for a row without a value. */
  pushNumber(value: number): void {
    if (this.numbers === undefined) {
      if (this.length === 0) this.first = value
      // No zero below +0 is among integers.
      if (value === this.first || (Number.isNaN(value) && Number.isNaN(this.first))) {
        this.length += 1
        return
      }
      this.numbers = this.spread()
    }
    const row = this.length
    if (row >= this.numbers.length) this.numbers = this.grown(this.numbers)
    this.numbers[row] = value
    this.judge(value)
    if (this.longs !== undefined) this.longs[row] = Number.isNaN(value) ? 0n : BigInt(value)
    this.length = row + 1
  }

  push(value: bigint): void {
    const number = Number(value)
    if (Number.isSafeInteger(number)) {
      this.pushNumber(number)
      return
    }
    if (this.numbers === undefined && (this.length === 0 || value === this.firstLong)) {
      this.first = number
      this.firstLong = value
      this.length += 1
      return
    }
    this.numbers ??= this.spread()
    this.longs ??= this.asLongs(this.numbers)
    this.pushNumber(number)
    this.longs[this.length - 1] = value
  }

  finish(): NumberColumn {
    const { length, numbers } = this
    if (numbers === undefined) return constantColumn(this.firstLong, this.first)
    if (this.longs !== undefined) {
      return longColumn(
        this.longs.slice(0, length),
        this.isPlain ? undefined : numbers.slice(0, length),
      )
    }
    if (this.isPlain && this.least >= 0 && this.most <= TWO_BYTES_MAX) {
      const values = this.most <= BYTE_MAX ? new Uint8Array(length) : new Uint16Array(length)
      values.set(numbers.subarray(0, length))
      return smallColumn(values)
    }
    const isInt32 = this.least > ABSENT_INT32 && this.most <= INT32_MAX
    return isInt32
      ? int32Column(numbers.subarray(0, length))
      : doubleColumn(numbers.slice(0, length))
  }

  private judge(value: number): void {
    if (Number.isNaN(value)) {
      this.isPlain = false
      return
    }
    if (value < this.least) this.least = value
    if (value > this.most) this.most = value
  }

  /** The rows so far, each with its own number. */
  private spread(): Float64Array {
    const numbers = new Float64Array(Math.max(this.capacity, this.length + 1))
    numbers.fill(this.first, 0, this.length)
    if (this.length > 0) this.judge(this.first)
    if (this.firstLong !== undefined) {
      this.longs = new BigInt64Array(numbers.length)
      this.longs.fill(this.firstLong, 0, this.length)
    }
    return numbers
  }

  private asLongs(numbers: Float64Array): BigInt64Array {
    const longs = new BigInt64Array(numbers.length)
    for (let row = 0; row < this.length; row += 1) longs[row] = asLong(numbers[row]) ?? 0n
    return longs
  }

  private grown(known: Float64Array): Float64Array {
    const numbers = new Float64Array(known.length * 2)
    numbers.set(known)
    if (this.longs === undefined) return numbers
    const longs = new BigInt64Array(numbers.length)
    longs.set(this.longs)
    this.longs = longs
    return numbers
  }
}

function int32Column(numbers: Float64Array): NumberColumn {
  const values = new Int32Array(numbers.length)
  for (let row = 0; row < values.length; row += 1) {
    const value = numbers[row] ?? Number.NaN
    values[row] = Number.isNaN(value) ? ABSENT_INT32 : value
  }
  const numberAt = (row: number): number => {
    const value = values[row] ?? ABSENT_INT32
    return value === ABSENT_INT32 ? Number.NaN : value
  }
  return { at: (row) => asLong(numberAt(row)), numberAt, sizeBytes: values.byteLength }
}

function smallColumn(values: Uint8Array | Uint16Array): NumberColumn {
  return {
    at: (row) => asLong(values[row]),
    numberAt: (row) => values[row] ?? Number.NaN,
    sizeBytes: values.byteLength,
  }
}

function asLong(value: number | undefined): bigint | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : BigInt(value)
}

function constantColumn(long: bigint | undefined, number: number): NumberColumn {
  const value = long ?? asLong(number)
  return { at: () => value, numberAt: () => number, sizeBytes: 0 }
}

function doubleColumn(numbers: Float64Array): NumberColumn {
  return {
    at: (row) => asLong(numbers[row]),
    numberAt: (row) => numbers[row] ?? Number.NaN,
    sizeBytes: numbers.byteLength,
  }
}

/** `numbers` tells rows without a value; undefined when all have one. */
function longColumn(longs: BigInt64Array, numbers: Float64Array | undefined): NumberColumn {
  const isAbsent = (row: number): boolean => numbers !== undefined && Number.isNaN(numbers[row])
  return {
    at: (row) => (isAbsent(row) ? undefined : longs[row]),
    numberAt: (row) => (isAbsent(row) ? Number.NaN : Number(longs[row])),
    sizeBytes: longs.byteLength + (numbers?.byteLength ?? 0),
  }
}

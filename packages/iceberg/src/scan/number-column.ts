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
const CAPACITY_MIN = 64

/** Collects the integers of rows 0, 1, 2 … */
export class NumberColumnBuilder {
  private numbers: Float64Array
  /** Only once a value came that a double cannot hold. */
  private longs: BigInt64Array | undefined = undefined
  private length = 0
  private isPlain = true
  private isConstant = true
  private isInt32 = true

  constructor(capacity: number) {
    this.numbers = new Float64Array(Math.max(CAPACITY_MIN, capacity))
  }

  /** NaN for a row without a value. */
  pushNumber(value: number): void {
    const row = this.length
    if (row >= this.numbers.length) this.grow()
    this.numbers[row] = value
    if (row > 0 && !Object.is(value, this.numbers[0])) this.isConstant = false
    if (Number.isNaN(value)) this.isPlain = false
    else if (value <= ABSENT_INT32 || value > INT32_MAX) this.isInt32 = false
    if (this.longs !== undefined) this.longs[row] = Number.isNaN(value) ? 0n : BigInt(value)
    this.length = row + 1
  }

  push(value: bigint): void {
    const number = Number(value)
    this.pushNumber(number)
    if (Number.isSafeInteger(number)) return
    this.longs ??= this.asLongs()
    this.longs[this.length - 1] = value
    if (this.longs[0] !== value) this.isConstant = false
  }

  finish(): NumberColumn {
    const { length } = this
    if (this.isConstant) return constantColumn(this.longs?.[0], this.numbers[0] ?? Number.NaN)
    if (this.longs !== undefined) {
      return longColumn(
        this.longs.slice(0, length),
        this.isPlain ? undefined : this.numbers.slice(0, length),
      )
    }
    return this.isInt32 ? this.int32Column() : doubleColumn(this.numbers.slice(0, length))
  }

  private int32Column(): NumberColumn {
    const values = new Int32Array(this.length)
    for (let row = 0; row < values.length; row += 1) {
      const value = this.numbers[row] ?? Number.NaN
      values[row] = Number.isNaN(value) ? ABSENT_INT32 : value
    }
    const numberAt = (row: number): number => {
      const value = values[row] ?? ABSENT_INT32
      return value === ABSENT_INT32 ? Number.NaN : value
    }
    return { at: (row) => asLong(numberAt(row)), numberAt, sizeBytes: values.byteLength }
  }

  private asLongs(): BigInt64Array {
    const longs = new BigInt64Array(this.numbers.length)
    for (let row = 0; row < this.length - 1; row += 1) longs[row] = asLong(this.numbers[row]) ?? 0n
    return longs
  }

  private grow(): void {
    const numbers = new Float64Array(this.numbers.length * 2)
    numbers.set(this.numbers)
    this.numbers = numbers
    if (this.longs === undefined) return
    const longs = new BigInt64Array(numbers.length)
    longs.set(this.longs)
    this.longs = longs
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

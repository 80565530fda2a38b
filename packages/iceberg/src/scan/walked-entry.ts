/** Where the numbers of an entry are in WalkedEntry. */
export const NUMBER = {
  status: 0,
  content: 1,
  sortOrderId: 2,
  snapshotId: 3,
  sequenceNumber: 4,
  fileSequenceNumber: 5,
  recordCount: 6,
  fileSizeBytes: 7,
  firstRowId: 8,
  contentOffset: 9,
  contentSizeBytes: 10,
} as const

/** Where the byte strings of an entry are in WalkedEntry. */
export const RANGE = {
  filePath: 0,
  fileFormat: 1,
  partition: 2,
  splitOffsets: 3,
  equalityIds: 4,
  referencedDataFile: 5,
  keyMetadata: 6,
} as const

export type NumberSlot = (typeof NUMBER)[keyof typeof NUMBER]
export type RangeSlot = (typeof RANGE)[keyof typeof RANGE]

const NUMBER_COUNT = Object.keys(NUMBER).length
const RANGE_COUNT = Object.keys(RANGE).length
const NEAR_IDS = 256

/** Counts of one column, in the order of their fields in an entry. */
export const COUNTS_PER_COLUMN = 4
export const COUNT = { columnSizeBytes: 0, values: 1, nulls: 2, nans: 3 } as const
export const BOUND = { lower: 0, upper: 1 } as const
const BOUNDS_PER_COLUMN = 2

/** The entry at which a walk through a manifest is: one object for all of them, so that no entry costs memory. */
export class WalkedEntry {
  /** The block that the ranges are of. */
  bytes: Uint8Array = new Uint8Array(0)
  /** NaN: absent, or in `longs` because a number could not hold it. */
  readonly numbers = new Float64Array(NUMBER_COUNT)
  readonly longs: (bigint | undefined)[] = []
  /** Pairs of start and end, −1 where absent. */
  readonly ranges = new Int32Array(2 * RANGE_COUNT)
  /** For each wanted column COUNTS_PER_COLUMN numbers; NaN where absent. */
  readonly counts: Float64Array
  /** For each wanted column the start and end of the lower and of the upper bound. */
  readonly bounds: Int32Array
  private readonly places: ReadonlyMap<number, number>
  /** The places of the columns with small ids, which nearly all have; −1 where a column is not wanted. */
  private readonly nearPlaces = new Int32Array(NEAR_IDS).fill(-1)
  private hasLongs = false

  constructor(fieldIds: readonly number[]) {
    this.counts = new Float64Array(fieldIds.length * COUNTS_PER_COLUMN)
    this.bounds = new Int32Array(fieldIds.length * BOUNDS_PER_COLUMN * 2)
    this.places = new Map(fieldIds.map((fieldId, place) => [fieldId, place]))
    for (const [fieldId, place] of this.places) {
      if (fieldId >= 0 && fieldId < NEAR_IDS) this.nearPlaces[fieldId] = place
    }
  }

  clear(bytes: Uint8Array): void {
    this.bytes = bytes
    // Loops: a call of `fill` takes longer than such short arrays do.
    for (let slot = 0; slot < NUMBER_COUNT; slot += 1) this.numbers[slot] = Number.NaN
    if (this.hasLongs) this.longs.length = 0
    this.hasLongs = false
    for (let index = 0; index < 2 * RANGE_COUNT; index += 1) this.ranges[index] = -1
    for (let index = 0; index < this.counts.length; index += 1) this.counts[index] = Number.NaN
    for (let index = 0; index < this.bounds.length; index += 1) this.bounds[index] = -1
  }

  /** The place of a wanted column; −1 for others. */
  placeOf(fieldId: number): number {
    if (fieldId >= 0 && fieldId < NEAR_IDS) return this.nearPlaces[fieldId] ?? -1
    return this.places.get(fieldId) ?? -1
  }

  setRange(slot: RangeSlot, start: number, end: number): void {
    this.ranges[2 * slot] = start
    this.ranges[2 * slot + 1] = end
  }

  setBound(of: { place: number; bound: 0 | 1 }, start: number, end: number): void {
    const index = boundIndex(of.place, of.bound)
    this.bounds[index] = start
    this.bounds[index + 1] = end
  }

  start(slot: RangeSlot): number {
    return this.ranges[2 * slot] ?? -1
  }

  end(slot: RangeSlot): number {
    return this.ranges[2 * slot + 1] ?? -1
  }

  number(slot: NumberSlot): number {
    return this.numbers[slot] ?? Number.NaN
  }

  long(slot: NumberSlot): bigint | undefined {
    const number = this.number(slot)
    return Number.isNaN(number) ? this.longs[slot] : BigInt(number)
  }

  set(slot: NumberSlot, value: bigint): void {
    const number = Number(value)
    if (Number.isSafeInteger(number)) this.numbers[slot] = number
    else this.setLong(slot, value)
  }

  setLong(slot: NumberSlot, value: bigint): void {
    this.longs[slot] = value
    this.hasLongs = true
  }

  has(slot: NumberSlot): boolean {
    return !Number.isNaN(this.number(slot)) || this.longs[slot] !== undefined
  }
}

/** Where the start of a bound is in WalkedEntry. */
export function boundIndex(place: number, bound: 0 | 1): number {
  return 2 * (BOUNDS_PER_COLUMN * place + bound)
}

/** Numbers that look random and are the same for the same seed. */
export interface SeededRandom {
  /** A whole number from 0 to `bound` − 1. */
  below(bound: number): number
  /** True in about this share of the calls, from 0 to 1. */
  chance(share: number): boolean
  /** One of them. Throws RangeError for none. */
  pick<Item>(items: readonly Item[]): Item
  /** A positive 63-bit number. */
  long(): bigint
}

const UINT32 = 4_294_967_296

/** Mulberry32: short, quick and good enough to choose between steps. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (bound: number): number => Math.floor((next() / UINT32) * bound)
  return {
    below,
    chance: (share) => next() / UINT32 < share,
    pick(items) {
      if (items.length === 0) throw new RangeError('cannot pick one of no items')
      // `as`: the index is within the list.
      return items[below(items.length)] as (typeof items)[number]
    },
    long: () => (BigInt(next() >>> 1) << 32n) + BigInt(next()) + 1n,
  }
}

/** A seeded source of choices: the same seed makes the same run. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, without, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** One of the values. The list must not be empty. */
  pick<T>(values: readonly [T, ...T[]] | readonly T[]): T {
    return values[this.between(0, values.length - 1)] as T
  }

  /** The key of one entry, the heavier the likelier. */
  pickWeighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][]
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [key, weight] of entries) {
      left -= weight
      if (left < 0) return key
    }
    return entries[0]?.[0] as K
  }

  /** Each value with the given probability, in order. */
  some<T>(values: readonly T[], probability: number): T[] {
    return values.filter(() => this.chance(probability))
  }

  /** A positive 63-bit number, as writers make snapshot ids. */
  snapshotId(): bigint {
    return BigInt(this.between(1, 2 ** 31)) * 2n ** 31n + BigInt(this.between(0, 2 ** 31 - 1))
  }
}

import { BytePool, type ByteStrings } from './byte-pool.ts'

const PLACES_MIN = 64
const HASH_SEED = 0x811c_9dc5
const HASH_PRIME = 0x0100_0193

/** Numbers byte strings from 0: equal ones have one number and are kept once. */
export class DistinctBytes {
  private readonly pool = new BytePool()
  private readonly hashes: number[] = []
  /** Numbers by hash; −1 where a place is free. More than half of them are. */
  private places = new Int32Array(PLACES_MIN).fill(-1)

  get count(): number {
    return this.hashes.length
  }

  /** The number of the bytes between `start` and `end`. */
  add(source: Uint8Array, start: number, end: number): number {
    const hash = hashOf(source, start, end)
    const mask = this.places.length - 1
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const index = this.places[place] ?? -1
      if (index < 0) {
        this.places[place] = this.count
        return this.keep(hash, { source, start, end })
      }
      if (this.hashes[index] === hash && this.pool.equals(index, { source, start, end })) {
        return index
      }
    }
  }

  finish(): ByteStrings {
    return this.pool.finish()
  }

  private keep(
    hash: number,
    bytes: { readonly source: Uint8Array; readonly start: number; readonly end: number },
  ): number {
    this.pool.push(bytes.source, bytes.start, bytes.end)
    const index = this.hashes.push(hash) - 1
    if (this.count * 2 > this.places.length) this.spread()
    return index
  }

  private spread(): void {
    const places = new Int32Array(this.places.length * 2).fill(-1)
    const mask = places.length - 1
    this.hashes.forEach((hash, index) => {
      let place = hash & mask
      while ((places[place] ?? -1) >= 0) place = (place + 1) & mask
      places[place] = index
    })
    this.places = places
  }
}

function hashOf(source: Uint8Array, start: number, end: number): number {
  let hash = HASH_SEED
  for (let at = start; at < end; at += 1) {
    hash = Math.imul(hash ^ (source[at] ?? 0), HASH_PRIME)
  }
  return (hash ^ (hash >>> 15)) >>> 0
}

const FIRST_SEED = 0xdeadbeef
const SECOND_SEED = 0x41c6ce57
const FIRST_FACTOR = 2_654_435_761
const SECOND_FACTOR = 1_597_334_677
const HIGH_BITS = 0x1f_ffff
const LOW_RANGE = 0x1_0000_0000

/** A number of 53 bits that stands for a text: equal for equal texts, and seldom equal for different ones. */
export function pathHash(text: string): number {
  let first = FIRST_SEED
  let second = SECOND_SEED
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    first = Math.imul(first ^ unit, FIRST_FACTOR)
    second = Math.imul(second ^ unit, SECOND_FACTOR)
  }
  first = mixed(first) ^ Math.imul(second ^ (second >>> 13), 3_266_489_909)
  second = mixed(second) ^ Math.imul(first ^ (first >>> 13), 3_266_489_909)
  return LOW_RANGE * (second & HIGH_BITS) + (first >>> 0)
}

function mixed(half: number): number {
  return Math.imul(half ^ (half >>> 16), 2_246_822_507)
}

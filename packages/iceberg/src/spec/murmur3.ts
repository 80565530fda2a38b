const C1 = 0xcc9e2d51
const C2 = 0x1b873593

/**
 * Murmur3 x86 32-bit with seed 0, as a signed 32-bit integer. Spec: Appendix B, 32-bit Hash Requirements.
 */
export function murmur3(bytes: Uint8Array): number {
  const wholeLength = bytes.length & ~3
  let hash = 0
  for (let at = 0; at < wholeLength; at += 4) hash = mixBlock(hash, littleEndian(bytes, at, 4))
  if (wholeLength < bytes.length) {
    hash ^= scramble(littleEndian(bytes, wholeLength, bytes.length - wholeLength))
  }
  return finish(hash, bytes.length)
}

/** The hash of a 64-bit integer's eight little-endian bytes. */
export function murmur3Long(value: bigint): number {
  const low = Number(BigInt.asIntN(32, value))
  const high = Number(BigInt.asIntN(32, value >> 32n))
  return finish(mixBlock(mixBlock(0, low), high), 8)
}

function littleEndian(bytes: Uint8Array, at: number, byteCount: number): number {
  let word = 0
  for (let index = 0; index < byteCount; index++)
    word |= (bytes[at + index] as number) << (8 * index)
  return word
}

function scramble(word: number): number {
  const product = Math.imul(word, C1)
  return Math.imul((product << 15) | (product >>> 17), C2)
}

function mixBlock(hash: number, word: number): number {
  const mixed = hash ^ scramble(word)
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0
}

function finish(hash: number, lengthBytes: number): number {
  let mixed = hash ^ lengthBytes
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) | 0
}

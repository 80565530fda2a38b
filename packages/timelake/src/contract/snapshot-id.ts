const HALF_BITS = 64n
const POSITIVE_MASK = (1n << 63n) - 1n

/** A positive 63-bit snapshot id from the random bits of a UUID, as the reference implementation makes them. */
export function snapshotIdOf(uuid: string): bigint {
  const bits = BigInt(`0x${uuid.replaceAll('-', '')}`)
  return ((bits >> HALF_BITS) ^ BigInt.asUintN(64, bits)) & POSITIVE_MASK
}

/** Bits from the lowest of the first byte upwards, as table descriptions are written. */
export class ForwardBits {
  private readonly bytes: Uint8Array
  private position: number

  constructor(bytes: Uint8Array, startByte: number) {
    this.bytes = bytes
    this.position = startByte * 8
  }

  /** The next bits without taking them; at most 16. Zero behind the end. */
  peek(count: number): number {
    return bitsAt(this.bytes, this.position, count)
  }

  skip(count: number): void {
    this.position += count
    if (this.position > this.bytes.length * 8) throw new RangeError('a table that ends early')
  }

  /** The index of the first byte that was not begun. */
  get nextByte(): number {
    return (this.position + 7) >> 3
  }
}

/** Bits from the last byte downwards, below its highest set bit, as all compressed streams are written. */
export class BackwardBits {
  private readonly bytes: Uint8Array
  remainingBits: number

  constructor(bytes: Uint8Array) {
    const last = bytes[bytes.length - 1] ?? 0
    if (last === 0) throw new RangeError('a bit stream without its end mark')
    this.bytes = bytes
    this.remainingBits = (bytes.length - 1) * 8 + (31 - Math.clz32(last))
  }

  /** The next bits as one number, the first bit highest. Throws RangeError behind the end. */
  take(count: number): number {
    if (count > 16) return this.take(count - 16) * 65536 + this.take(16)
    this.remainingBits -= count
    if (this.remainingBits < 0) throw new RangeError('a bit stream that ends early')
    return bitsAt(this.bytes, this.remainingBits, count)
  }

  /** The next bits without taking them; at most 16. Zero behind the end. */
  peek(count: number): number {
    const missing = count - this.remainingBits
    if (missing <= 0) return bitsAt(this.bytes, this.remainingBits - count, count)
    return bitsAt(this.bytes, 0, this.remainingBits) << missing
  }

  skip(count: number): void {
    this.remainingBits -= count
    if (this.remainingBits < 0) throw new RangeError('a bit stream that ends early')
  }
}

function bitsAt(bytes: Uint8Array, position: number, count: number): number {
  const index = position >> 3
  const three =
    (bytes[index] ?? 0) | ((bytes[index + 1] ?? 0) << 8) | ((bytes[index + 2] ?? 0) << 16)
  return (three >> (position & 7)) & ((1 << count) - 1)
}

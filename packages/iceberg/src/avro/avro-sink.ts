const CAPACITY_BYTES = 72 * 1024
const TWO_31 = 2 ** 31

/** Collects Avro primitives into one growing buffer. */
export class AvroSink {
  private bytes: Buffer
  private length = 0

  constructor(capacityBytes: number = CAPACITY_BYTES) {
    this.bytes = Buffer.allocUnsafe(capacityBytes)
  }

  get lengthBytes(): number {
    return this.length
  }

  /** A view of what was written; valid until the next write or clear. */
  written(): Uint8Array {
    return new Uint8Array(this.bytes.buffer, this.bytes.byteOffset, this.length)
  }

  clear(): void {
    this.length = 0
  }

  private reserve(lengthBytes: number): void {
    const needed = this.length + lengthBytes
    if (needed <= this.bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2))
    this.bytes.copy(grown, 0, 0, this.length)
    this.bytes = grown
  }

  boolean(value: boolean): void {
    this.reserve(1)
    this.bytes[this.length++] = value ? 1 : 0
  }

  /** A zig-zag varint of a safe integer. */
  int(value: number): void {
    if (value >= 2 ** 30 || value < -(2 ** 30)) return this.long(BigInt(value))
    this.reserve(5)
    let rest = (value << 1) ^ (value >> 31)
    while (rest > 0x7f) {
      this.bytes[this.length++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.bytes[this.length++] = rest
  }

  long(value: bigint): void {
    if (value < 0x20000000n && value >= -0x20000000n) return this.int(Number(value))
    this.reserve(10)
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
    while (rest >= 2n ** 49n) rest = this.sevenBits(rest)
    let small = Number(rest)
    while (small > 0x7f) {
      this.bytes[this.length++] = (small % 128) | 0x80
      small = small < TWO_31 ? small >>> 7 : Math.floor(small / 128)
    }
    this.bytes[this.length++] = small
  }

  private sevenBits(rest: bigint): bigint {
    this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80
    return rest >> 7n
  }

  float(value: number): void {
    this.reserve(4)
    this.length = this.bytes.writeFloatLE(value, this.length)
  }

  double(value: number): void {
    this.reserve(8)
    this.length = this.bytes.writeDoubleLE(value, this.length)
  }

  fixed(value: Uint8Array): void {
    this.reserve(value.length)
    this.bytes.set(value, this.length)
    this.length += value.length
  }

  byteString(value: Uint8Array): void {
    this.int(value.length)
    this.fixed(value)
  }

  text(value: string): void {
    const lengthBytes = Buffer.byteLength(value)
    this.int(lengthBytes)
    this.reserve(lengthBytes)
    this.bytes.write(value, this.length, 'utf8')
    this.length += lengthBytes
  }
}

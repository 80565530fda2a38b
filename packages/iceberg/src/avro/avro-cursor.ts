import { CorruptFileError } from '../spec/errors.ts'
import { AVRO_ITEMS_MAX } from './avro-limits.ts'

const TWO_28 = 2 ** 28
const replacement = '\ufffd'

/**
 * Reads Avro primitives from one block. Every length is checked against what is left before it is used, so a
 * damaged block ends in CorruptFileError. `what` names the file in errors. The bytes that it hands out are views.
 */
export class AvroCursor {
  readonly what: string
  position = 0
  /** Elements of lists and maps that may still be kept; shared by the blocks of a file through the reader. */
  itemsLeft: number
  private readonly bytes: Uint8Array
  private readonly text8: Buffer
  private readonly view: DataView

  constructor(bytes: Uint8Array, what: string, itemsLeft: number = AVRO_ITEMS_MAX) {
    this.bytes = bytes
    this.what = what
    this.itemsLeft = itemsLeft
    this.text8 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get remainingBytes(): number {
    return this.bytes.length - this.position
  }

  fail(problem: string): CorruptFileError {
    return new CorruptFileError(`cannot read ${this.what}: ${problem}`)
  }

  /** A zig-zag varint of at most 64 bits. */
  long(): bigint {
    const low = this.group(4)
    if (!this.more) return BigInt((low >>> 1) ^ -(low & 1))
    const middle = this.group(4)
    if (!this.more && middle < 2 ** 24) return BigInt(unzigzag(low + middle * TWO_28))
    const high = this.more ? this.group(2) : 0
    if (this.more || high > 255) throw this.fail('a number of more than 64 bits')
    const unsigned = (BigInt(high) << 56n) | (BigInt(middle) << 28n) | BigInt(low)
    return (unsigned >> 1n) ^ -(unsigned & 1n)
  }

  /** The same as a `number`; refuses what is no 32-bit integer. */
  int(): number {
    const low = this.group(4)
    if (!this.more) return (low >>> 1) ^ -(low & 1)
    const high = this.group(1)
    if (this.more || high > 15) throw this.fail('expected a 32-bit number, got a larger one')
    return unzigzag(low + high * TWO_28)
  }

  private more = false

  /** Up to `count` varint groups of 7 bits; leaves in `more` whether the number goes on. */
  private group(count: number): number {
    let value = 0
    for (let index = 0; index < count; index += 1) {
      const byte = this.bytes[this.position]
      if (byte === undefined) throw this.fail('ends inside a number')
      this.position += 1
      value |= (byte & 0x7f) << (7 * index)
      if (byte < 0x80) {
        this.more = false
        return value
      }
    }
    this.more = true
    return value
  }

  skipVarint(): void {
    this.long()
  }

  /** A length in bytes that fits into the rest of the block. */
  lengthBytes(): number {
    const length = this.long()
    if (length < 0n || length > BigInt(this.remainingBytes)) {
      throw this.fail(`expected at most ${this.remainingBytes} bytes, got a length of ${length}`)
    }
    return Number(length)
  }

  /**
   * The element count of the next part of a list or map, 0 at its end; `lengthBytes` is there when the writer gave
   * it. Elements take at least one byte each, so a count above the rest of the block is damage.
   */
  itemBlock(): { count: number; lengthBytes: number | undefined } {
    const count = this.long()
    const lengthBytes = count < 0n ? this.lengthBytes() : undefined
    const size = count < 0n ? -count : count
    if (size > BigInt(this.remainingBytes)) {
      throw this.fail(`expected at most ${this.remainingBytes} elements, got ${size}`)
    }
    return { count: Number(size), lengthBytes }
  }

  /** Takes elements that will be kept from the budget of the file. */
  takeItems(count: number): void {
    this.itemsLeft -= count
    if (this.itemsLeft < 0) throw this.fail('more list and map elements than can be kept in memory')
  }

  skipBytes(length: number): void {
    if (length > this.remainingBytes)
      throw this.fail(`ends ${length - this.remainingBytes} bytes early`)
    this.position += length
  }

  boolean(): boolean {
    const byte = this.bytes[this.position]
    if (byte === undefined || byte > 1) throw this.fail('expected a boolean')
    this.position += 1
    return byte === 1
  }

  float(): number {
    this.skipBytes(4)
    return this.view.getFloat32(this.position - 4, true)
  }

  double(): number {
    this.skipBytes(8)
    return this.view.getFloat64(this.position - 8, true)
  }

  fixed(lengthBytes: number): Uint8Array {
    this.skipBytes(lengthBytes)
    return this.bytes.subarray(this.position - lengthBytes, this.position)
  }

  byteString(): Uint8Array {
    return this.fixed(this.lengthBytes())
  }

  /** Text; refuses bytes that are no UTF-8, since a repaired path would name another file. */
  text(): string {
    const length = this.lengthBytes()
    const start = this.position
    this.position += length
    const text = this.text8.toString('utf8', start, this.position)
    if (
      text.includes(replacement) &&
      Buffer.compare(Buffer.from(text), this.text8.subarray(start, this.position)) !== 0
    ) {
      throw this.fail('text that is not UTF-8')
    }
    return text
  }
}

function unzigzag(unsigned: number): number {
  return unsigned % 2 === 0 ? unsigned / 2 : -(unsigned + 1) / 2
}

import { isUtf8 } from 'node:buffer'
import { CorruptFileError } from '../spec/errors.ts'
import { AVRO_ITEMS_MAX } from './avro-limits.ts'

const TWO_28 = 2 ** 28
const VARINT_BYTES_MAX = 10
/** What a decoder puts in the place of bytes that are no UTF-8. */
const REPLACEMENT = '\ufffd'

/**
 * Reads Avro primitives from one block. Every length is checked against what is left before it is used, so a
 * damaged block ends in CorruptFileError. `what` names the file in errors. The bytes that it hands out are views.
 */
export class AvroCursor {
  readonly what: string
  position = 0
  /** Elements of lists and maps that may still be kept; shared by the blocks of a file through the reader. */
  itemsLeft: number
  itemBlockBytes: number | undefined = undefined
  /** The whole block. */
  readonly bytes: Uint8Array
  private text8: Buffer | undefined = undefined
  private floats: DataView | undefined = undefined

  constructor(bytes: Uint8Array, what: string, itemsLeft: number = AVRO_ITEMS_MAX) {
    this.bytes = bytes
    this.what = what
    this.itemsLeft = itemsLeft
  }

  /** A cursor of its own over a part of this block. */
  fork(start: number, end: number): AvroCursor {
    return new AvroCursor(this.bytes.subarray(start, end), this.what)
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

  /** The same as a `number`; NaN, and nothing is read, when it may have digits that a number would lose. */
  safeLong(): number {
    const start = this.position
    const low = this.group(4)
    if (!this.more) return (low >>> 1) ^ -(low & 1)
    const middle = this.group(4)
    if (!this.more && middle < 2 ** 24) return unzigzag(low + middle * TWO_28)
    this.position = start
    return Number.NaN
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

  /** Passes over an int or long. */
  skipVarint(): void {
    for (let index = 0; index < VARINT_BYTES_MAX; index += 1) {
      const byte = this.bytes[this.position]
      if (byte === undefined) throw this.fail('ends inside a number')
      this.position += 1
      if (byte < 0x80 && (byte < 2 || index < VARINT_BYTES_MAX - 1)) return
    }
    throw this.fail('a number of more than 64 bits')
  }

  /** Passes over `count` pairs of an int and a long. */
  skipVarintPairs(count: number): void {
    const { bytes } = this
    const last = bytes.length - 2 * VARINT_BYTES_MAX
    for (let index = 0; index < count; index += 1) {
      let at = this.position
      // Most keys and counts take few bytes; everything else goes the careful way.
      if (at < last && isLast(bytes[at])) {
        at += 1
        if (isLast(bytes[at])) this.position = at + 1
        else if (isLast(bytes[at + 1])) this.position = at + 2
        else if (isLast(bytes[at + 2])) this.position = at + 3
        else this.skipTwoVarints()
      } else {
        this.skipTwoVarints()
      }
    }
  }

  /** Passes over `count` pairs of an int and a byte string. */
  skipIdAndBytesPairs(count: number): void {
    const { bytes } = this
    for (let index = 0; index < count; index += 1) {
      const at = this.position
      const length = bytes[at + 1] ?? 0
      const end = at + 2 + (length >>> 1)
      // Most keys take one byte, and most lengths, which are even: zig-zag.
      if (isLast(bytes[at]) && length < 0x80 && (length & 1) === 0 && end <= bytes.length) {
        this.position = end
      } else {
        this.skipVarint()
        this.skipBytes(this.lengthBytes())
      }
    }
  }

  private skipTwoVarints(): void {
    this.skipVarint()
    this.skipVarint()
  }

  /** A length in bytes that fits into the rest of the block. */
  lengthBytes(): number {
    const length = this.size()
    if (length < 0 || length > this.remainingBytes) {
      throw this.fail(`expected at most ${this.remainingBytes} bytes, got a length of ${length}`)
    }
    return length
  }

  /**
   * The element count of the next part of a list or map, 0 at its end; `itemBlockBytes` is then the part's length when
   * the writer gave it. Elements take at least one byte each, so a count above the rest of the block is damage.
   */
  itemBlock(): number {
    const signed = this.size()
    this.itemBlockBytes = signed < 0 ? this.lengthBytes() : undefined
    const count = Math.abs(signed)
    if (count > this.remainingBytes) {
      throw this.fail(`expected at most ${this.remainingBytes} elements, got ${count}`)
    }
    return count
  }

  /** A number that is compared with lengths, so it may lose the digits that no length has. */
  private size(): number {
    const start = this.position
    const low = this.group(4)
    if (!this.more) return (low >>> 1) ^ -(low & 1)
    this.position = start
    return Number(this.long())
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
    return this.view().getFloat32(this.position - 4, true)
  }

  double(): number {
    this.skipBytes(8)
    return this.view().getFloat64(this.position - 8, true)
  }

  private view(): DataView {
    const { buffer, byteOffset, byteLength } = this.bytes
    this.floats ??= new DataView(buffer, byteOffset, byteLength)
    return this.floats
  }

  fixed(lengthBytes: number): Uint8Array {
    this.skipBytes(lengthBytes)
    return this.bytes.subarray(this.position - lengthBytes, this.position)
  }

  byteString(): Uint8Array {
    return this.fixed(this.lengthBytes())
  }

  /** Passes over a text and answers its length; refuses what `text` refuses. */
  skipText(): number {
    const length = this.lengthBytes()
    const start = this.position
    this.position += length
    if (!isUtf8(this.bytes.subarray(start, this.position)))
      throw this.fail('text that is not UTF-8')
    return length
  }

  /** Text; refuses bytes that are no UTF-8, since a repaired path would name another file. */
  text(): string {
    const length = this.lengthBytes()
    const start = this.position
    this.position += length
    const { buffer, byteOffset, byteLength } = this.bytes
    this.text8 ??= Buffer.from(buffer, byteOffset, byteLength)
    const text = this.text8.toString('utf8', start, this.position)
    if (text.includes(REPLACEMENT) && !isSpelled(text, this.text8.subarray(start, this.position))) {
      throw this.fail('text that is not UTF-8')
    }
    return text
  }
}

function isSpelled(text: string, bytes: Uint8Array): boolean {
  return Buffer.compare(Buffer.from(text), bytes) === 0
}

/** Whether a byte ends a varint. */
function isLast(byte: number | undefined): boolean {
  return byte !== undefined && byte < 0x80
}

function unzigzag(unsigned: number): number {
  return unsigned % 2 === 0 ? unsigned / 2 : -(unsigned + 1) / 2
}

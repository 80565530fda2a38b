/** Names of files, packed. */
export interface PackedNames {
  /** Cheapest when rows are asked in their order. */
  at(row: number): string
  readonly sizeBytes: number
}

/** Every so many names one stands alone, so that none is far from one that does. */
const NAMES_PER_BLOCK = 16
const SHARED_MAX = 0xff
const BYTES_MIN = 1_024
const BLOCKS_MIN = 64
const NAME_BYTES_MIN = 256
const UUID_LENGTH = 36
const UUID_BYTES = 16
const NO_UUID = 0xff
/** Two shares, where the UUID is, and the length of the rest in up to five bytes. */
const HEAD_BYTES_MAX = 8
const DASH = 0x2d
const HEX = '0123456789abcdef'
const LETTERS = Uint8Array.from(HEX, (letter) => letter.charCodeAt(0))
/** The value of a digit as it is written in lower case; −1 for other bytes. */
const DIGITS = Int8Array.from({ length: 256 }, (_, byte) => HEX.indexOf(String.fromCharCode(byte)))

/**
 * Packs names: of each what the one before does not begin and end with, and sixteen bytes for a UUID in it. Names of writers
 * take about a third of their length so. A name is any bytes; all of them together take less than 4 GB.
 */
export class NamePool {
  private bytes = new Uint8Array(BYTES_MIN)
  private used = 0
  private blocks = new Uint32Array(BLOCKS_MIN)
  private count = 0
  /** Without its UUID. */
  private last = new Uint8Array(NAME_BYTES_MIN)
  private lastLength = 0
  private next = new Uint8Array(NAME_BYTES_MIN)
  private uuidAt = NO_UUID
  private isBlank = true

  /** Takes the bytes between `start` and `end`. */
  push(source: Uint8Array, start: number, end: number): void {
    const length = end - start
    if (this.isBlank) {
      if (length === 0) {
        this.count += 1
        return
      }
      this.writeBlanks()
    }
    if (length > this.next.length) this.next = new Uint8Array(length * 2)
    const needed = this.used + HEAD_BYTES_MAX + length
    if (needed > this.bytes.length) this.bytes = grown(this.bytes, needed)
    if (this.count % NAMES_PER_BLOCK === 0) this.beginBlock()
    const uuidAt = this.findUuid(source, start, end)
    this.writeName(uuidAt, this.withoutUuid(source, { start, end, uuidAt }))
    if (uuidAt !== NO_UUID) this.writeUuid(source, start + uuidAt)
    this.count += 1
  }

  finish(): PackedNames {
    if (this.isBlank) return { at: () => '', sizeBytes: 0 }
    const blockCount = Math.ceil(this.count / NAMES_PER_BLOCK)
    return new NameReader(this.bytes.slice(0, this.used), this.blocks.slice(0, blockCount))
  }

  /** Until a name comes that is none, nothing is kept of those that are. */
  private writeBlanks(): void {
    const { count } = this
    this.isBlank = false
    this.count = 0
    for (let row = 0; row < count; row += 1) this.push(this.next, 0, 0)
  }

  private beginBlock(): void {
    const block = this.count / NAMES_PER_BLOCK
    if (block >= this.blocks.length) {
      const blocks = new Uint32Array(this.blocks.length * 2)
      blocks.set(this.blocks)
      this.blocks = blocks
    }
    this.blocks[block] = this.used
    this.lastLength = 0
  }

  /** Where the first UUID begins; most names have it where the name before has it. */
  private findUuid(source: Uint8Array, start: number, end: number): number {
    const last = Math.min(end - start - UUID_LENGTH, NO_UUID - 1)
    if (this.uuidAt <= last && isUuid(source, start + this.uuidAt)) return this.uuidAt
    for (let at = 0; at <= last; at += 1) {
      if (isUuid(source, start + at)) return (this.uuidAt = at)
    }
    return NO_UUID
  }

  /** Puts the name without its UUID into `next`; answers its length. */
  private withoutUuid(
    source: Uint8Array,
    name: { readonly start: number; readonly end: number; readonly uuidAt: number },
  ): number {
    const { start, end, uuidAt } = name
    const { next } = this
    const cut = uuidAt === NO_UUID ? end : start + uuidAt
    let length = 0
    for (let at = start; at < cut; at += 1) next[length++] = source[at] ?? 0
    for (let at = cut + UUID_LENGTH; at < end; at += 1) next[length++] = source[at] ?? 0
    return length
  }

  private writeName(uuidAt: number, length: number): void {
    const { bytes, last, next } = this
    const sharedMax = Math.min(SHARED_MAX, length, this.lastLength)
    let head = 0
    while (head < sharedMax && last[head] === next[head]) head += 1
    const tailMax = Math.min(SHARED_MAX, length - head, this.lastLength - head)
    let tail = 0
    while (tail < tailMax && last[this.lastLength - 1 - tail] === next[length - 1 - tail]) tail += 1
    bytes[this.used++] = head
    bytes[this.used++] = tail
    bytes[this.used++] = uuidAt
    let rest = length - head - tail
    for (; rest > 0x7f; rest >>>= 7) bytes[this.used++] = (rest & 0x7f) | 0x80
    bytes[this.used++] = rest
    for (let at = head; at < length - tail; at += 1) bytes[this.used++] = next[at] ?? 0
    this.last = next
    this.lastLength = length
    this.next = last
  }

  private writeUuid(source: Uint8Array, start: number): void {
    let high = -1
    for (let at = start; at < start + UUID_LENGTH; at += 1) {
      const digit = DIGITS[source[at] ?? 0] ?? -1
      if (digit < 0) continue
      if (high < 0) high = digit
      else {
        this.bytes[this.used++] = (high << 4) | digit
        high = -1
      }
    }
  }
}

function isUuid(source: Uint8Array, start: number): boolean {
  // The dashes first: few places have them.
  if (source[start + 8] !== DASH || source[start + 13] !== DASH) return false
  for (let at = 0; at < UUID_LENGTH; at += 1) {
    const byte = source[start + at] ?? 0
    const isDash = at === 8 || at === 13 || at === 18 || at === 23
    if (isDash ? byte !== DASH : (DIGITS[byte] ?? -1) < 0) return false
  }
  return true
}

function grown(bytes: Uint8Array, neededBytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(neededBytes, bytes.length * 2))
  larger.set(bytes)
  return larger
}

/** Reads on from the name that was asked before, or from the beginning of a block. */
class NameReader implements PackedNames {
  private readonly bytes: Uint8Array
  private readonly blocks: Uint32Array
  /** Of the next name. */
  private row = 0
  private position = 0
  /** The name before it, without its UUID. */
  private name = Buffer.alloc(NAME_BYTES_MIN)
  private length = 0
  private uuidAt = NO_UUID
  private uuidStart = 0
  /** The name as it is asked. */
  private spelled = Buffer.alloc(NAME_BYTES_MIN)

  constructor(bytes: Uint8Array, blocks: Uint32Array) {
    this.bytes = bytes
    this.blocks = blocks
  }

  get sizeBytes(): number {
    return this.bytes.byteLength + this.blocks.byteLength
  }

  at(row: number): string {
    const block = Math.floor(row / NAMES_PER_BLOCK)
    const first = block * NAMES_PER_BLOCK
    if (row < this.row || this.row < first) {
      this.row = first
      this.position = this.blocks[block] ?? this.bytes.length
    }
    while (this.row <= row) this.read()
    return this.text()
  }

  private read(): void {
    const { bytes } = this
    if (this.row % NAMES_PER_BLOCK === 0) this.length = 0
    const head = bytes[this.position] ?? 0
    const tail = bytes[this.position + 1] ?? 0
    this.uuidAt = bytes[this.position + 2] ?? NO_UUID
    this.position += 3
    const rest = this.varint()
    const length = head + rest + tail
    if (length > this.name.length) this.name = Buffer.concat([this.name], length * 2)
    this.name.copyWithin(length - tail, this.length - tail, this.length)
    this.name.set(bytes.subarray(this.position, this.position + rest), head)
    this.position += rest
    this.length = length
    this.uuidStart = this.position
    if (this.uuidAt !== NO_UUID) this.position += UUID_BYTES
    this.row += 1
  }

  private varint(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.position++] ?? 0
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }

  private text(): string {
    const { name, length, uuidAt, spelled } = this
    if (uuidAt === NO_UUID) return name.toString('utf8', 0, length)
    const end = length + UUID_LENGTH
    if (end > spelled.length) this.spelled = Buffer.alloc(end * 2)
    name.copy(this.spelled, 0, 0, uuidAt)
    this.spell(uuidAt)
    name.copy(this.spelled, uuidAt + UUID_LENGTH, uuidAt, length)
    return this.spelled.toString('utf8', 0, end)
  }

  /** Writes the UUID in its digits and dashes. */
  private spell(start: number): void {
    const { spelled, bytes, uuidStart } = this
    let to = start
    for (let at = 0; at < UUID_BYTES; at += 1) {
      const byte = bytes[uuidStart + at] ?? 0
      if (at === 4 || at === 6 || at === 8 || at === 10) spelled[to++] = DASH
      spelled[to++] = LETTERS[byte >>> 4] ?? 0
      spelled[to++] = LETTERS[byte & 0xf] ?? 0
    }
  }
}

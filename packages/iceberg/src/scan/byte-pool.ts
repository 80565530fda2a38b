const POOL_BYTES_MIN = 1_024
const LENGTHS_MIN = 64

/** Byte strings of a table, one after the other in one buffer. */
export interface ByteStrings {
  readonly length: number
  /** A view. */
  readonly at: (index: number) => Uint8Array
  /** The length that all of them have. */
  readonly widthBytes: number | undefined
  readonly pool: Uint8Array
  readonly sizeBytes: number
}

/** Collects byte strings into one buffer. Together they take less than 4 GB: a manifest's blocks do. */
export class BytePool {
  private bytes = new Uint8Array(POOL_BYTES_MIN)
  private ends = new Uint32Array(LENGTHS_MIN)
  private used = 0
  private count = 0
  private isEven = true

  /** Copies the bytes between `start` and `end`. */
  push(source: Uint8Array, start: number, end: number): void {
    const length = end - start
    if (this.used + length > this.bytes.length) this.growBytes(this.used + length)
    for (let index = 0; index < length; index += 1) {
      this.bytes[this.used + index] = source[start + index] ?? 0
    }
    this.used += length
    if (this.count >= this.ends.length) this.growEnds()
    this.ends[this.count] = this.used
    this.count += 1
    if (this.used !== this.count * (this.ends[0] ?? 0)) this.isEven = false
  }

  /** Whether a string that is here has the bytes between `start` and `end`. */
  equals(
    index: number,
    bytes: { readonly source: Uint8Array; readonly start: number; readonly end: number },
  ): boolean {
    const { source, start } = bytes
    const from = index === 0 ? 0 : (this.ends[index - 1] ?? 0)
    const length = (this.ends[index] ?? 0) - from
    if (length !== bytes.end - start) return false
    for (let at = 0; at < length; at += 1) {
      if (this.bytes[from + at] !== source[start + at]) return false
    }
    return true
  }

  finish(): ByteStrings {
    const pool = this.bytes.slice(0, this.used)
    if (this.isEven) return evenStrings(pool, this.count)
    const ends = this.ends.slice(0, this.count)
    return {
      length: this.count,
      at: (index) => pool.subarray(index === 0 ? 0 : ends[index - 1], ends[index]),
      widthBytes: undefined,
      pool,
      sizeBytes: pool.byteLength + ends.byteLength,
    }
  }

  private growBytes(neededBytes: number): void {
    const bytes = new Uint8Array(Math.max(neededBytes, this.bytes.length * 2))
    bytes.set(this.bytes)
    this.bytes = bytes
  }

  private growEnds(): void {
    const ends = new Uint32Array(this.ends.length * 2)
    ends.set(this.ends)
    this.ends = ends
  }
}

function evenStrings(pool: Uint8Array, count: number): ByteStrings {
  const widthBytes = count === 0 ? 0 : pool.length / count
  return {
    length: count,
    at: (index) => pool.subarray(index * widthBytes, (index + 1) * widthBytes),
    widthBytes,
    pool,
    sizeBytes: pool.byteLength,
  }
}

/** The text of bytes that are UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

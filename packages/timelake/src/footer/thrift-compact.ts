import { CorruptFileError } from '@timelake/iceberg/spec/errors'

/** A Thrift struct by field id. */
export type ThriftStruct = ReadonlyMap<number, ThriftValue>
/** Integers of every width are bigint; binary and text are bytes. Thrift maps do not occur in Parquet. */
export type ThriftValue =
  boolean | bigint | number | Uint8Array | readonly ThriftValue[] | ThriftStruct

const THRIFT_DEPTH_MAX = 32

const TRUE = 1
const FALSE = 2
const BYTE = 3
const I16 = 4
const I32 = 5
const I64 = 6
const DOUBLE = 7
const BINARY = 8
const LIST = 9
const SET = 10
const STRUCT = 12

/**
 * The struct that a buffer holds in Thrift's compact protocol; bytes after it are ignored.
 * Throws CorruptFileError for anything malformed: it never reads past the end, and no count is believed
 * that the remaining bytes cannot hold.
 */
export function readThriftStruct(bytes: Uint8Array): ThriftStruct {
  return new ThriftReader(bytes).struct(0)
}

class ThriftReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  struct(depth: number): ThriftStruct {
    if (depth > THRIFT_DEPTH_MAX) throw new CorruptFileError('Thrift structs nest too deep')
    const fields = new Map<number, ThriftValue>()
    let id = 0
    for (;;) {
      const header = this.#byte()
      if (header === 0) return fields
      const delta = header >> 4
      id = delta === 0 ? Number(this.#zigzag()) : id + delta
      fields.set(id, this.#value(header & 15, depth, false))
    }
  }

  #value(type: number, depth: number, inList: boolean): ThriftValue {
    switch (type) {
      case TRUE:
      case FALSE:
        return inList ? this.#byte() === 1 : type === TRUE
      case BYTE:
        return BigInt.asIntN(8, BigInt(this.#byte()))
      case I16:
      case I32:
      case I64:
        return this.#zigzag()
      case DOUBLE:
        return this.#view.getFloat64(this.#take(8), true)
      case BINARY:
        return this.#binary()
      case LIST:
      case SET:
        return this.#list(depth + 1)
      case STRUCT:
        return this.struct(depth + 1)
      default:
        throw new CorruptFileError(`unknown Thrift type ${type} at byte ${this.#offset}`)
    }
  }

  #list(depth: number): readonly ThriftValue[] {
    if (depth > THRIFT_DEPTH_MAX) throw new CorruptFileError('Thrift lists nest too deep')
    const header = this.#byte()
    const count = header >> 4 === 15 ? Number(this.#varint()) : header >> 4
    if (count > this.#bytes.length - this.#offset) {
      throw new CorruptFileError(`a Thrift list claims ${count} elements, more than bytes remain`)
    }
    const values: ThriftValue[] = []
    for (let index = 0; index < count; index++) values.push(this.#value(header & 15, depth, true))
    return values
  }

  #binary(): Uint8Array {
    const lengthBytes = Number(this.#varint())
    const start = this.#take(lengthBytes)
    return this.#bytes.subarray(start, start + lengthBytes)
  }

  #zigzag(): bigint {
    const value = this.#varint()
    return (value >> 1n) ^ -(value & 1n)
  }

  #varint(): bigint {
    let low = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte()
      low |= (byte & 127) << shift
      if (byte < 128) return BigInt(low)
    }
    let value = BigInt(low)
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return BigInt.asUintN(64, value)
    }
    throw new CorruptFileError(`a Thrift integer is too long at byte ${this.#offset}`)
  }

  #byte(): number {
    return this.#view.getUint8(this.#take(1))
  }

  #take(lengthBytes: number): number {
    const start = this.#offset
    if (lengthBytes > this.#bytes.length - start) {
      throw new CorruptFileError(`Thrift bytes end early: ${lengthBytes} wanted at byte ${start}`)
    }
    this.#offset = start + lengthBytes
    return start
  }
}

/*
 * The messages that run a prepared statement, for a session in this process. Arrays go in their binary form, which the
 * database takes as it is; their text form must be escaped here and read byte by byte there, which costs more than
 * what most statements do.
 */
import { Buffer } from 'node:buffer'

/** A parameter in its text form; an array also as it is, when its type has a binary form here. */
export type BoundValue = string | null | BoundArray

export interface BoundArray {
  readonly typeOid: ArrayTypeOid
  readonly items: readonly ArrayItem[]
}

type ArrayItem = string | number | bigint | null

export type ArrayTypeOid = (typeof ARRAY_TYPE_OIDS)[number]

const INT4_ARRAY_OID = 1007
const TEXT_ARRAY_OID = 1009
const INT8_ARRAY_OID = 1016
const ARRAY_TYPE_OIDS = [INT4_ARRAY_OID, TEXT_ARRAY_OID, INT8_ARRAY_OID] as const

const ELEMENT_OIDS: Readonly<Record<ArrayTypeOid, number>> = {
  [INT4_ARRAY_OID]: 23,
  [TEXT_ARRAY_OID]: 25,
  [INT8_ARRAY_OID]: 20,
}

const START_BYTES = 64 * 1024
/** A buffer that one large statement has grown beyond this is given back. */
const KEPT_BYTES_MAX = 1024 * 1024
/** UTF-8 takes at most three bytes for each unit of a string. */
const UTF8_BYTES_PER_UNIT_MAX = 3
const NULL_LENGTH = -1
const TEXT_FORMAT = 0
const BINARY_FORMAT = 1
const INT4_MIN = -(2n ** 31n)
const INT4_MAX = 2n ** 31n - 1n
const INT8_MIN = -(2n ** 63n)
const INT8_MAX = 2n ** 63n - 1n

const EXECUTE_AND_SYNC = [0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]

/** The array as it goes to the database; undefined when only its text form says exactly what is meant. */
export function boundArray(value: unknown, typeOid: number): BoundArray | undefined {
  const known = ARRAY_TYPE_OIDS.find((oid) => oid === typeOid)
  if (known === undefined || !Array.isArray(value)) return undefined
  const holds = HOLDS[known]
  const items: readonly unknown[] = value
  return items.every((item): item is ArrayItem => item === null || holds(item))
    ? { typeOid: known, items }
    : undefined
}

const HOLDS: Readonly<Record<ArrayTypeOid, (item: unknown) => boolean>> = {
  [INT4_ARRAY_OID]: (item) => isIntegerBetween(item, INT4_MIN, INT4_MAX),
  [TEXT_ARRAY_OID]: (item) => typeof item === 'string',
  [INT8_ARRAY_OID]: (item) => isIntegerBetween(item, INT8_MIN, INT8_MAX),
}

function isIntegerBetween(item: unknown, min: bigint, max: bigint): boolean {
  const isWhole = typeof item === 'bigint' || (typeof item === 'number' && Number.isInteger(item))
  return isWhole && item >= min && item <= max
}

/** Writes bind, execute and sync into one buffer that it uses again and again. */
export class BindWriter {
  #bytes = Buffer.allocUnsafe(START_BYTES)
  #length = 0

  /** The messages for one run of the statement; its rows come as text. The bytes are good until the next call. */
  encode(statement: string, values: readonly BoundValue[]): Uint8Array {
    if (this.#bytes.length > KEPT_BYTES_MAX) this.#bytes = Buffer.allocUnsafe(START_BYTES)
    this.#length = 0
    this.#byte(0x42)
    const start = this.#length
    this.#int4(0)
    this.#byte(0)
    this.#text(statement)
    this.#byte(0)
    this.#int2(values.length)
    for (const value of values) this.#int2(isArray(value) ? BINARY_FORMAT : TEXT_FORMAT)
    this.#int2(values.length)
    for (const value of values) this.#value(value)
    this.#int2(0)
    this.#bytes.writeInt32BE(this.#length - start, start)
    for (const byte of EXECUTE_AND_SYNC) this.#byte(byte)
    return this.#bytes.subarray(0, this.#length)
  }

  #value(value: BoundValue): void {
    if (isArray(value)) this.#sized(() => this.#array(value))
    else this.#sizedText(value)
  }

  /** One dimension, counted from 1. */
  #array({ typeOid, items }: BoundArray): void {
    this.#int4(items.length === 0 ? 0 : 1)
    this.#int4(items.includes(null) ? 1 : 0)
    this.#int4(ELEMENT_OIDS[typeOid])
    if (items.length === 0) return
    this.#int4(items.length)
    this.#int4(1)
    for (const item of items) this.#item(item, typeOid)
  }

  #item(item: ArrayItem, typeOid: ArrayTypeOid): void {
    if (item === null) {
      this.#int4(NULL_LENGTH)
    } else if (typeof item === 'string') {
      this.#sizedText(item)
    } else if (typeOid === INT4_ARRAY_OID) {
      this.#int4(4)
      this.#int4(Number(item))
    } else {
      this.#int4(8)
      this.#int8(BigInt(item))
    }
  }

  #sizedText(text: string | null): void {
    if (text === null) this.#int4(NULL_LENGTH)
    else this.#sized(() => this.#text(text))
  }

  /** What `write` writes, behind its length. */
  #sized(write: () => void): void {
    const start = this.#length
    this.#int4(0)
    write()
    this.#bytes.writeInt32BE(this.#length - start - 4, start)
  }

  #text(text: string): void {
    this.#reserve(text.length * UTF8_BYTES_PER_UNIT_MAX)
    this.#length += this.#bytes.write(text, this.#length)
  }

  #byte(value: number): void {
    this.#reserve(1)
    this.#length = this.#bytes.writeUInt8(value, this.#length)
  }

  #int2(value: number): void {
    this.#reserve(2)
    this.#length = this.#bytes.writeUInt16BE(value, this.#length)
  }

  #int4(value: number): void {
    this.#reserve(4)
    this.#length = this.#bytes.writeInt32BE(value, this.#length)
  }

  #int8(value: bigint): void {
    this.#reserve(8)
    this.#length = this.#bytes.writeBigInt64BE(value, this.#length)
  }

  #reserve(sizeBytes: number): void {
    const needed = this.#length + sizeBytes
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}

function isArray(value: BoundValue): value is BoundArray {
  return value !== null && typeof value === 'object'
}

import { BackwardBits } from './zstd-bits.ts'
import type { FseLimits, FseTable, HuffmanTable } from './zstd-tables.ts'
import { buildFseTable, constantFseTable, readFseTable, readHuffmanTable } from './zstd-tables.ts'

/** No block gives more. RFC 8878, 3.1.1.2.4. */
export const ZSTD_BLOCK_BYTES_MAX = 128 * 1024

/** What the blocks of one frame hand on. */
export interface ZstdFrameState {
  /** The frame's output so far; matches reach back into it. */
  readonly output: Uint8Array
  length: number
  huffman: HuffmanTable | undefined
  literalLengths: FseTable | undefined
  offsets: FseTable | undefined
  matchLengths: FseTable | undefined
  readonly lastOffsets: [number, number, number]
}

/**
 * Decodes one compressed block to the end of the output, which must have room for ZSTD_BLOCK_BYTES_MAX more bytes or
 * all that the frame has declared. Its work is bounded by the output that it may give. Throws RangeError for damage.
 */
export function decodeZstdBlock(block: Uint8Array, state: ZstdFrameState): void {
  const { literals, end } = readLiterals(block, state)
  const { count, position } = sequenceCount(block, end)
  if (count === 0) {
    if (position !== block.length) throw new RangeError('bytes left in a block')
    return appendBytes(state, literals)
  }
  const bits = readSequenceTables(block, position, state)
  runSequences({ count, bits, literals, start: state.length }, state)
}

interface Literals {
  readonly literals: Uint8Array
  readonly end: number
}

function readLiterals(block: Uint8Array, state: ZstdFrameState): Literals {
  const head = byteAt(block, 0)
  const type = head & 3
  const format = (head >> 2) & 3
  if (type >= 2) return readCompressedLiterals(block, state, { isTreeless: type === 3, format })
  const headBytes = format === 1 ? 2 : format === 3 ? 3 : 1
  const whole =
    head |
    (byteAt(block, headBytes > 1 ? 1 : 0) << 8) |
    (byteAt(block, headBytes > 2 ? 2 : 0) << 16)
  const length = headBytes === 1 ? head >> 3 : headBytes === 2 ? (whole & 0xffff) >> 4 : whole >> 4
  checkLength(length)
  if (type === 1) {
    const literals = new Uint8Array(length).fill(byteAt(block, headBytes))
    return { literals, end: headBytes + 1 }
  }
  const end = headBytes + length
  if (end > block.length) throw new RangeError('literals that end early')
  return { literals: block.subarray(headBytes, end), end }
}

interface CompressedHead {
  readonly isTreeless: boolean
  readonly format: number
}

function readCompressedLiterals(
  block: Uint8Array,
  state: ZstdFrameState,
  head: CompressedHead,
): Literals {
  const sizeBits = head.format < 2 ? 10 : head.format === 2 ? 14 : 18
  const headBytes = head.format < 2 ? 3 : head.format === 2 ? 4 : 5
  let whole = 0
  for (let index = headBytes - 1; index >= 0; index -= 1) whole = whole * 256 + byteAt(block, index)
  const length = Math.floor(whole / 16) % 2 ** sizeBits
  const lengthStored = Math.floor(whole / 2 ** (4 + sizeBits)) % 2 ** sizeBits
  checkLength(length)
  const end = headBytes + lengthStored
  if (end > block.length) throw new RangeError('literals that end early')
  const stored = block.subarray(headBytes, end)
  let streamsStart = 0
  if (!head.isTreeless) {
    const tree = readHuffmanTable(stored, 0)
    state.huffman = tree.table
    streamsStart = tree.end
  }
  if (state.huffman === undefined) throw new RangeError('literals without a tree')
  const literals = new Uint8Array(length)
  const streams = stored.subarray(streamsStart)
  if (head.format === 0) readStream(streams, literals, state.huffman)
  else readFourStreams(streams, literals, state.huffman)
  return { literals, end }
}

function readFourStreams(streams: Uint8Array, literals: Uint8Array, table: HuffmanTable): void {
  const quarter = (literals.length + 3) >> 2
  let position = 6
  for (let index = 0; index < 4; index += 1) {
    const stored = byteAt(streams, 2 * index) | (byteAt(streams, 2 * index + 1) << 8)
    const end = index === 3 ? streams.length : position + stored
    if (end > streams.length || position > end) throw new RangeError('literals that end early')
    const part = literals.subarray(index * quarter, index === 3 ? undefined : (index + 1) * quarter)
    readStream(streams.subarray(position, end), part, table)
    position = end
  }
}

function readStream(stream: Uint8Array, target: Uint8Array, table: HuffmanTable): void {
  const bits = new BackwardBits(stream)
  for (let index = 0; index < target.length; index += 1) {
    const code = bits.peek(table.bitsMax)
    target[index] = table.symbols[code] ?? 0
    bits.skip(table.bitCounts[code] ?? 0)
  }
  if (bits.remainingBits !== 0) throw new RangeError('bits left in literals')
}

function sequenceCount(block: Uint8Array, start: number): { count: number; position: number } {
  const first = byteAt(block, start)
  if (first < 128) return { count: first, position: start + 1 }
  const second = byteAt(block, start + 1)
  if (first < 255) return { count: ((first - 128) << 8) + second, position: start + 2 }
  return { count: second + (byteAt(block, start + 2) << 8) + 0x7f00, position: start + 3 }
}

const LITERAL_LENGTH_LIMITS: FseLimits = { accuracyLogMax: 9, symbolMax: 35 }
const OFFSET_LIMITS: FseLimits = { accuracyLogMax: 8, symbolMax: 31 }
const MATCH_LENGTH_LIMITS: FseLimits = { accuracyLogMax: 9, symbolMax: 52 }

const DEFAULT_LITERAL_LENGTHS = buildFseTable(
  [
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
    -1, -1, -1, -1,
  ],
  6,
)
const DEFAULT_OFFSETS = buildFseTable(
  [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
  5,
)
const DEFAULT_MATCH_LENGTHS = buildFseTable(
  [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
  ],
  6,
)

interface TableChoice {
  readonly mode: number
  readonly known: FseTable
  readonly last: FseTable | undefined
  readonly limits: FseLimits
}

/** Sets the three tables of the block; what follows them is the bit stream of the sequences. */
function readSequenceTables(block: Uint8Array, start: number, state: ZstdFrameState): BackwardBits {
  const modes = byteAt(block, start)
  if ((modes & 3) !== 0) throw new RangeError('reserved bits in sequences')
  let position = start + 1
  const choose = (choice: TableChoice): FseTable => {
    const { table, end } = chooseTable(block, position, choice)
    position = end
    return table
  }
  state.literalLengths = choose({
    mode: modes >> 6,
    known: DEFAULT_LITERAL_LENGTHS,
    last: state.literalLengths,
    limits: LITERAL_LENGTH_LIMITS,
  })
  state.offsets = choose({
    mode: (modes >> 4) & 3,
    known: DEFAULT_OFFSETS,
    last: state.offsets,
    limits: OFFSET_LIMITS,
  })
  state.matchLengths = choose({
    mode: (modes >> 2) & 3,
    known: DEFAULT_MATCH_LENGTHS,
    last: state.matchLengths,
    limits: MATCH_LENGTH_LIMITS,
  })
  return new BackwardBits(block.subarray(position))
}

function chooseTable(
  block: Uint8Array,
  start: number,
  choice: TableChoice,
): { table: FseTable; end: number } {
  switch (choice.mode) {
    case 0:
      return { table: choice.known, end: start }
    case 1: {
      const symbol = byteAt(block, start)
      if (symbol > choice.limits.symbolMax) throw new RangeError('a code above its limit')
      return { table: constantFseTable(symbol), end: start + 1 }
    }
    case 2:
      return readFseTable(block, start, choice.limits)
    default:
      if (choice.last === undefined) throw new RangeError('a table to repeat that was never there')
      return { table: choice.last, end: start }
  }
}

const LITERAL_LENGTH_EXTRA = [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
const MATCH_LENGTH_EXTRA = [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
const LITERAL_LENGTHS = lengthCodes(16, 0, LITERAL_LENGTH_EXTRA)
const MATCH_LENGTHS = lengthCodes(32, 3, MATCH_LENGTH_EXTRA)

interface LengthCodes {
  readonly bases: readonly number[]
  readonly extraBits: readonly number[]
}

/** The first codes stand for one length each; every later one for a range that begins where the last ended. */
function lengthCodes(plainCount: number, first: number, extra: readonly number[]): LengthCodes {
  const bases: number[] = []
  const extraBits: number[] = []
  let base = first
  for (let code = 0; code < plainCount + extra.length; code += 1) {
    const bits = code < plainCount ? 0 : (extra[code - plainCount] ?? 0)
    bases.push(base)
    extraBits.push(bits)
    base += 1 << bits
  }
  return { bases, extraBits }
}

interface Sequences {
  readonly count: number
  readonly bits: BackwardBits
  readonly literals: Uint8Array
  /** Where the block's output begins. */
  readonly start: number
}

function runSequences(sequences: Sequences, state: ZstdFrameState): void {
  const { count, bits, literals, start } = sequences
  const { literalLengths, offsets, matchLengths } = state
  if (literalLengths === undefined || offsets === undefined || matchLengths === undefined) {
    throw new RangeError('sequences without tables')
  }
  let literalState = bits.take(literalLengths.accuracyLog)
  let offsetState = bits.take(offsets.accuracyLog)
  let matchState = bits.take(matchLengths.accuracyLog)
  let literalsUsed = 0
  for (let index = 0; index < count; index += 1) {
    const offsetCode = offsets.symbols[offsetState] ?? 0
    const offsetValue = 2 ** offsetCode + bits.take(offsetCode)
    const matchLength = takeLength(bits, MATCH_LENGTHS, matchLengths.symbols[matchState])
    const literalLength = takeLength(bits, LITERAL_LENGTHS, literalLengths.symbols[literalState])
    const offset = nextOffset(state.lastOffsets, offsetValue, literalLength)
    const literalsEnd = literalsUsed + literalLength
    if (literalsEnd > literals.length) throw new RangeError('more literals used than there are')
    checkLength(state.length - start + literalLength + matchLength)
    appendBytes(state, literals.subarray(literalsUsed, literalsEnd))
    appendMatch(state, offset, matchLength)
    literalsUsed = literalsEnd
    if (index === count - 1) break
    literalState = nextState(literalLengths, literalState, bits)
    matchState = nextState(matchLengths, matchState, bits)
    offsetState = nextState(offsets, offsetState, bits)
  }
  if (bits.remainingBits !== 0) throw new RangeError('bits left in sequences')
  checkLength(state.length - start + literals.length - literalsUsed)
  appendBytes(state, literals.subarray(literalsUsed))
}

function takeLength(bits: BackwardBits, codes: LengthCodes, code = 0): number {
  return (codes.bases[code] ?? 0) + bits.take(codes.extraBits[code] ?? 0)
}

function nextState(table: FseTable, state: number, bits: BackwardBits): number {
  return (table.bases[state] ?? 0) + bits.take(table.bitCounts[state] ?? 0)
}

/** Values up to 3 name one of the last three offsets, shifted by one when no literals came before. RFC 8878, 3.1.1.5. */
function nextOffset(last: [number, number, number], value: number, literalLength: number): number {
  const [first, second, third] = last
  const repeat = value > 3 ? 4 : value - 1 + (literalLength === 0 ? 1 : 0)
  switch (repeat) {
    case 0:
      return first
    case 1:
      last[0] = second
      last[1] = first
      return second
    default: {
      const offset = repeat === 2 ? third : repeat === 3 ? first - 1 : value - 3
      last[0] = offset
      last[1] = first
      last[2] = second
      return offset
    }
  }
}

function appendMatch(state: ZstdFrameState, offset: number, length: number): void {
  const { output } = state
  const from = state.length - offset
  if (offset <= 0 || from < 0) throw new RangeError('a match before the start')
  const end = state.length + length
  if (end > output.length) throw new RangeError('more bytes than the frame declared')
  if (offset >= length) output.copyWithin(state.length, from, from + length)
  else for (let to = state.length; to < end; to += 1) output[to] = output[to - offset] ?? 0
  state.length = end
}

/** Puts bytes at the end of the output. Throws RangeError when there is no room. */
export function appendBytes(state: ZstdFrameState, bytes: Uint8Array): void {
  if (state.length + bytes.length > state.output.length) {
    throw new RangeError('more bytes than the frame declared')
  }
  state.output.set(bytes, state.length)
  state.length += bytes.length
}

function checkLength(length: number): void {
  if (length > ZSTD_BLOCK_BYTES_MAX) throw new RangeError('a block above its limit')
}

function byteAt(bytes: Uint8Array, index: number): number {
  const byte = bytes[index]
  if (byte === undefined) throw new RangeError('a block that ends early')
  return byte
}

import { BackwardBits, ForwardBits } from './zstd-bits.ts'

/** A finite state decoder: in a state, its symbol, and the next state from a base and some bits. RFC 8878, 4.1. */
export interface FseTable {
  readonly accuracyLog: number
  readonly symbols: Uint8Array
  readonly bitCounts: Uint8Array
  readonly bases: Uint16Array
}

export interface FseLimits {
  readonly accuracyLogMax: number
  readonly symbolMax: number
}

/** Reads a table description; `end` is the byte after it. Throws RangeError when it is none. */
export function readFseTable(
  bytes: Uint8Array,
  start: number,
  limits: FseLimits,
): { table: FseTable; end: number } {
  const bits = new ForwardBits(bytes, start)
  const accuracyLog = bits.peek(4) + 5
  bits.skip(4)
  if (accuracyLog > limits.accuracyLogMax) throw new RangeError('a table above its accuracy')
  const probabilities = readProbabilities(bits, accuracyLog, limits.symbolMax)
  return { table: buildFseTable(probabilities, accuracyLog), end: bits.nextByte }
}

function readProbabilities(bits: ForwardBits, accuracyLog: number, symbolMax: number): number[] {
  const probabilities: number[] = []
  let remaining = 1 << accuracyLog
  while (remaining > 0) {
    const probability = readProbability(bits, remaining)
    remaining -= Math.abs(probability)
    probabilities.push(probability)
    if (probability === 0) skipZeros(bits, probabilities)
    if (remaining < 0 || probabilities.length > symbolMax + 1) {
      throw new RangeError('a table of other probabilities than its size')
    }
  }
  return probabilities
}

function readProbability(bits: ForwardBits, remaining: number): number {
  const count = 32 - Math.clz32(remaining + 1)
  const value = bits.peek(count)
  const mask = (1 << (count - 1)) - 1
  const threshold = (1 << count) - 1 - (remaining + 1)
  const isShort = (value & mask) < threshold
  bits.skip(isShort ? count - 1 : count)
  if (isShort) return (value & mask) - 1
  return (value > mask ? value - threshold : value) - 1
}

function skipZeros(bits: ForwardBits, probabilities: number[]): void {
  for (let repeat = 3; repeat === 3;) {
    repeat = bits.peek(2)
    bits.skip(2)
    for (let index = 0; index < repeat; index += 1) probabilities.push(0)
  }
}

/** The table of known probabilities; −1 stands for "less than one". */
export function buildFseTable(probabilities: readonly number[], accuracyLog: number): FseTable {
  const size = 1 << accuracyLog
  const symbols = spreadSymbols(probabilities, size)
  const next = probabilities.map((probability) => (probability === -1 ? 1 : probability))
  const bitCounts = new Uint8Array(size)
  const bases = new Uint16Array(size)
  for (let state = 0; state < size; state += 1) {
    const symbol = symbols[state] ?? 0
    const count = next[symbol] ?? 1
    next[symbol] = count + 1
    const bitCount = accuracyLog - (31 - Math.clz32(count))
    bitCounts[state] = bitCount
    bases[state] = (count << bitCount) - size
  }
  return { accuracyLog, symbols, bitCounts, bases }
}

function spreadSymbols(probabilities: readonly number[], size: number): Uint8Array {
  const symbols = new Uint8Array(size)
  let high = size
  probabilities.forEach((probability, symbol) => {
    if (probability === -1) symbols[--high] = symbol
  })
  const step = (size >> 1) + (size >> 3) + 3
  let position = 0
  probabilities.forEach((probability, symbol) => {
    for (let index = 0; index < probability; index += 1) {
      symbols[position] = symbol
      do position = (position + step) & (size - 1)
      while (position >= high)
    }
  })
  return symbols
}

/** The table that always gives one symbol and takes no bits. */
export function constantFseTable(symbol: number): FseTable {
  return {
    accuracyLog: 0,
    symbols: Uint8Array.of(symbol),
    bitCounts: new Uint8Array(1),
    bases: new Uint16Array(1),
  }
}

/** A prefix code looked up by its next `bitsMax` bits. RFC 8878, 4.2. */
export interface HuffmanTable {
  readonly bitsMax: number
  readonly symbols: Uint8Array
  readonly bitCounts: Uint8Array
}

const HUFFMAN_BITS_MAX = 11
const WEIGHT_LIMITS: FseLimits = { accuracyLogMax: 6, symbolMax: 12 }
const WEIGHTS_MAX = 255

/** Reads a tree description; `end` is the byte after it. Throws RangeError when it is none. */
export function readHuffmanTable(
  bytes: Uint8Array,
  start: number,
): { table: HuffmanTable; end: number } {
  const header = bytes[start] ?? 0
  const first = start + 1
  if (header >= 128) {
    const count = header - 127
    const end = first + ((count + 1) >> 1)
    if (end > bytes.length) throw new RangeError('a tree that ends early')
    return { table: buildHuffmanTable(plainWeights(bytes, first, count)), end }
  }
  const end = first + header
  if (end > bytes.length) throw new RangeError('a tree that ends early')
  return { table: buildHuffmanTable(compressedWeights(bytes.subarray(first, end))), end }
}

function plainWeights(bytes: Uint8Array, start: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    const pair = bytes[start + (index >> 1)] ?? 0
    return index % 2 === 0 ? pair >> 4 : pair & 15
  })
}

/** Two states take turns until the bits run out. */
function compressedWeights(bytes: Uint8Array): number[] {
  const { table, end } = readFseTable(bytes, 0, WEIGHT_LIMITS)
  const bits = new BackwardBits(bytes.subarray(end))
  const states = [bits.take(table.accuracyLog), bits.take(table.accuracyLog)]
  const weights: number[] = []
  for (let turn = 0; weights.length < WEIGHTS_MAX; turn ^= 1) {
    const state = states[turn] ?? 0
    weights.push(table.symbols[state] ?? 0)
    const bitCount = table.bitCounts[state] ?? 0
    if (bits.remainingBits < bitCount) {
      weights.push(table.symbols[states[turn ^ 1] ?? 0] ?? 0)
      return weights
    }
    states[turn] = (table.bases[state] ?? 0) + bits.take(bitCount)
  }
  throw new RangeError('a tree of too many weights')
}

/** The last weight is not written: it is what fills the code up to a power of two. */
function buildHuffmanTable(written: readonly number[]): HuffmanTable {
  const sum = written.reduce((total, weight) => total + (weight === 0 ? 0 : 1 << (weight - 1)), 0)
  if (sum === 0) throw new RangeError('a tree without weights')
  const bitsMax = 32 - Math.clz32(sum)
  const rest = (1 << bitsMax) - sum
  if (bitsMax > HUFFMAN_BITS_MAX || (rest & (rest - 1)) !== 0) {
    throw new RangeError('a tree of other weights than its size')
  }
  const weights = [...written, 32 - Math.clz32(rest)]
  const symbols = new Uint8Array(1 << bitsMax)
  const bitCounts = new Uint8Array(1 << bitsMax)
  let position = 0
  for (let weight = 1; weight <= bitsMax; weight += 1) {
    weights.forEach((own, symbol) => {
      if (own !== weight) return
      const end = position + (1 << (weight - 1))
      symbols.fill(symbol, position, end)
      bitCounts.fill(bitsMax + 1 - weight, position, end)
      position = end
    })
  }
  return { bitsMax, symbols, bitCounts }
}
